"""Objects that are named as ``module:name``: of this package, and of a user's own modules."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mage._core.printing import printable

_user_code = True


def load_name(name: str) -> Any:
    """What ``module:name`` stands for; the module is imported when it is needed."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def allow_user_code(allowed: bool) -> None:
    """Whether modules that a user names may be imported in this process, which runs their code; yes by default."""
    global _user_code  # noqa: PLW0603 (a decision for the process)
    _user_code = allowed


def check_user_code(argument: str, name: str) -> None:
    """Refuse a name or a file of the user's whose code would be run, where that is not allowed."""
    if not _user_code:
        raise ValueError(
            f"{argument}: {name!r} would run code of third parties, and --checkpoints-only forbids it; name a network "
            "of mage, or a checkpoint (.safetensors)"
        )


def user_module(argument: str, name: str) -> str:
    """The module of a user's ``module:name``; from now on the current folder is searched first.

    Args:
        argument: Name of the option or argument that holds the name, for messages.
        name: Module and attribute with a colon between them.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ValueError(f"{argument} must be module:name, got {name!r}")
    check_user_code(argument, name)
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return module


def load_user_name(argument: str, name: str) -> Any:
    """What a user's ``module:name`` stands for; the current folder is searched first.

    Args:
        argument: Name of the option or argument that holds the name, for messages.
        name: Module and attribute with a colon between them.

    Raises:
        ValueError: The name is malformed, or the module cannot be imported, for whatever reason.
    """
    module = user_module(argument, name)
    try:
        return load_name(name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{argument}: {name!r} cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:  # the user's file may raise anything
        raise ValueError(
            f"{argument}: {name!r} cannot be imported: {error_line(error)}\n"
            f"To see where, run: python -c 'import {module}'"
        ) from error


def load_user_object(argument: str, name: str, kind: str, is_ready: Callable[[Any], bool]) -> Any:
    """The object that a user's ``module:name`` stands for, or that the class or function of this name makes.

    Args:
        argument: Name of the option or argument that holds the name, for messages.
        name: Module and attribute with a colon between them.
        kind: What the object should be, for messages.
        is_ready: Whether the named thing is the object itself; one that is not is called without arguments to make it.

    Raises:
        ValueError: There is no such object; the message says why in a line or two.
    """
    target = load_user_name(argument, name)
    if is_ready(target):
        return target
    if not callable(target):
        raise ValueError(
            f"{argument}: {name!r} is of type {type(target).__name__}; "
            f"name a {kind}, or a class or function that makes one"
        )
    try:
        return target()
    except (Exception, SystemExit) as error:  # the user's function may raise anything
        raise ValueError(
            f"{argument}: {name!r} raised {error_line(error)}\n"
            f"It is called without arguments; name a function that makes the {kind} that way."
        ) from error


def error_line(error: BaseException) -> str:
    """An error in one line that fits into a message, without characters that could steer a terminal."""
    line = textwrap.shorten(f"{type(error).__name__}: {error}", width=300, placeholder=" …")
    return printable(line)
