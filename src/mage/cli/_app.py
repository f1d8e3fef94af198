"""The application that commands register with, how it fails, and its exit codes."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mage._core.importing import allow_user_code
from mage._core.printing import printable
from mage._version import __version__

EXIT_CODES: Mapping[int, str] = {
    0: "the command was successful",
    1: "a failure: a library, a file or a download is missing, or the model raised an error",
    2: "wrong arguments; the message names the option",
    3: "some graphs or images failed, the others are finished; `--retry-failed` tries the failed ones again",
    4: "a partial result: Ctrl-C stopped the sampling, and the result is an estimate from what was sampled before",
    130: "interrupted by Ctrl-C; there is no result",
}
"""Exit codes of all commands, with their meaning."""
FAILURE, USAGE, SOME_FAILED, PARTIAL, INTERRUPTED = (code for code in EXIT_CODES if code)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Explain graph neural networks: which groups of nodes led to a prediction, for and against, and how certain "
    "is that?",
    epilog="Start with: mage demo. Exit codes: "
    + ", ".join(f"{code} {meaning.partition(':')[0].partition(';')[0]}" for code, meaning in EXIT_CODES.items())
    + ".",
)


def _print_version(show: bool) -> None:
    if show:
        typer.echo(f"mage {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.", metavar="")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print the steps and the reasons for them to standard error.", metavar="")
    ] = False,
    checkpoints_only: Annotated[
        bool,
        typer.Option(
            "--checkpoints-only",
            envvar="MAGE_CHECKPOINTS_ONLY",
            metavar="",
            help="Run no code of third parties: refuse module:name and TorchScript files; read only checkpoints.",
        ),
    ] = False,
) -> None:
    del version
    allow_user_code(not checkpoints_only)
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(message)s")


def tell(message: str) -> None:
    """Print a message beside the output; what it quotes cannot steer the terminal."""
    typer.echo(f"mage: {printable(message)}", err=True)


def show_warning(message: Warning | str, *_place: object, **_more: object) -> None:
    """Print a warning in one line, without the place in the code."""
    tell(str(message))


def announce(step: str) -> None:
    """Print which step begins, on a terminal only: the first ones take seconds and have no progress bar."""
    if sys.stderr.isatty():
        typer.echo(f"{step} …", err=True)


def say_written(*files: Path | None, as_json: bool = False) -> None:
    """Print a line for each file that was written; to standard error where standard output is JSON."""
    for file in files:
        if file is not None:
            typer.echo(f"wrote {printable(str(file))}", err=as_json)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2))


class cli_errors:  # noqa: N801 (used as a statement)
    """Errors that the user can correct become one line and an exit code; others keep their traceback.

    Args:
        interrupted: What to say when Ctrl-C ended the command without a result.
    """

    def __init__(self, interrupted: str = "interrupted; nothing was written") -> None:
        self._interrupted = interrupted

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, typer.Exit):
            return  # a command that ends by itself, although this is a RuntimeError
        if isinstance(error, KeyboardInterrupt):
            tell(self._interrupted)
            raise typer.Exit(INTERRUPTED) from error
        if isinstance(error, ValueError | TypeError | OSError | ImportError | RuntimeError):
            tell(str(error))
            raise typer.Exit(USAGE if isinstance(error, ValueError | TypeError) else FAILURE) from error
