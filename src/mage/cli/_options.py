"""How commands share options, the panels of their help, and the checks of files and numbers."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from mage._core.optional import require
from mage.cli._app import SOME_FAILED, cli_errors, tell

Command = Callable[..., None]

MODEL, EXPLAINED, MOTIFS = "Model and data", "What is explained", "Motifs"
INTERACTIONS, LARGE, CORPUS = "Interactions", "Large graphs", "Whole datasets (with --all)"
RESULTS, RUN, CHOICE = "Results", "How it runs", "What is computed"
"""Panels of options in the help."""
_ORDER = (MODEL, EXPLAINED, MOTIFS, INTERACTIONS, RESULTS, LARGE, CORPUS)
_NO_ESTIMATE = "interrupted before the first estimate; there is no result, and nothing was written"


def option(panel: str, text: str, *flags: str) -> Any:
    """An option of a command.

    Args:
        panel: Panel of the help that it is in.
        text: What the help says about it.
        flags: How it is written, where that is not its name.
    """
    return typer.Option(*flags, help=text, rich_help_panel=panel)


def flag(panel: str, text: str, *flags: str) -> Any:
    """An option without a value; the help of typer would show a type, as if there were one.

    Args:
        panel: Panel of the help that it is in.
        text: What the help says about it.
        flags: How it is written, where that is not its name.
    """
    return typer.Option(*flags, help=text, rich_help_panel=panel, metavar="")


def sharing(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """A decorator that adds the options of groups to those of a command, and prints its errors in one line each.

    A group is a function of options. The command gets what the function returns, under the name of the group.
    """

    def decorate(command: Command) -> Command:
        options = {name: inspect.signature(make, eval_str=True).parameters for name, make in groups.items()}
        own_parameters = inspect.signature(command, eval_str=True).parameters
        alone = [parameter for name, parameter in own_parameters.items() if name not in groups]
        shared = [parameter for parameters in options.values() for parameter in parameters.values()]

        def run(**values: Any) -> None:
            with cli_errors(_NO_ESTIMATE):
                values_of_groups = {
                    name: make(**{key: values.pop(key) for key in options[name]}) for name, make in groups.items()
                }
                command(**values, **values_of_groups)

        everything = sorted((*alone, *shared), key=_place_in_help)
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in everything]
        run.__name__, run.__doc__ = command.__name__, inspect.getdoc(command)
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by typer
        return run

    return decorate


def _place_in_help(parameter: inspect.Parameter) -> int:
    """Arguments first, then options by their panels."""
    panel = getattr(parameter.annotation.__metadata__[0], "rich_help_panel", None)
    return _ORDER.index(panel) + 1 if panel in _ORDER else 0


def checked_seeds(text: str | None) -> list[int] | None:
    """Seeds of ``--seeds``, with commas between."""
    if not text:
        return None
    seeds = [seed.strip() for seed in text.split(",")]
    if not all(seed.isdecimal() for seed in seeds):
        raise ValueError(f"--seeds must be whole numbers ≥ 0 separated by commas, such as 0,1,2; got {text!r}")
    return [int(seed) for seed in seeds]


def check_files(**files: Path | None) -> None:
    """Refuse files that could not be written at the end, by the names of their options."""
    for name, path in files.items():
        if path is None:
            continue
        if path.is_dir():
            raise ValueError(f"--{name}: {path} is a folder; name a file in it")
        if not path.parent.is_dir():
            raise ValueError(f"--{name}: the folder {path.parent} does not exist; create it first")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"--{name}: the folder {path.parent} cannot be written to; choose another")
        if name == "figure":
            _check_figure(path)


def report_failures(failed: Sequence[str], most: int = 10) -> None:
    """Print which graphs failed and how to try them again, and end with an exit code; return where none did."""
    if not failed:
        return
    for line in failed[:most]:
        tell(line)
    if len(failed) > most:
        tell(f"and {len(failed) - most} more")
    tell(f"{len(failed)} failed; run again with --retry-failed to try them again")
    raise typer.Exit(SOME_FAILED)


def _check_figure(path: Path) -> None:
    file_types = require("matplotlib.backend_bases", "plot").FigureCanvasBase.get_supported_filetypes()
    if path.suffix and path.suffix.lower().lstrip(".") not in file_types:
        raise ValueError(f"--figure: {path.name} must end in .svg, .png or .pdf")
