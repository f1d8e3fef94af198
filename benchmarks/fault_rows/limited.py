"""Attempts in a process of its own, whose memory and time are watched."""

from __future__ import annotations

import importlib
import multiprocessing
import resource
from typing import Any

CAP = 1_500_000_000
"""Bytes that an attempt may add to what the process had before."""

_SECONDS = 300


def attempt(function: str, *arguments: Any) -> str:
    """Run ``module:name`` in a process of its own; what went wrong, in words, or nothing.

    Args:
        function: It returns what went wrong, in words, or nothing.
        arguments: Its arguments.
    """
    context = multiprocessing.get_context("fork")  # everything is imported
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(send, function, arguments))
    process.start()
    send.close()
    try:
        if not receive.poll(_SECONDS):
            return f"nothing after {_SECONDS} seconds"
        text, memory = receive.recv()
        return text or ("" if memory <= CAP else f"{memory / 1e9:.1f} GB of memory")
    except EOFError:
        process.join()
        return f"the process died ({process.exitcode})"
    finally:
        process.kill()
        process.join()


def _run(send: Any, function: str, arguments: tuple[Any, ...]) -> None:
    module, _, name = function.partition(":")
    before = _memory()
    try:
        text = getattr(importlib.import_module(module), name)(*arguments)
    except BaseException as error:  # whatever it is, it was not caught
        text = f"uncaught {type(error).__name__}: {error!r:.200}"
    send.send((text.encode(errors="backslashreplace").decode(), _memory() - before))
    send.close()


def _memory() -> int:
    """The most bytes that this process ever had at once."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
