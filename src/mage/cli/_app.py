"""The application that commands register with, and how it fails."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from mage._version import __version__

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Which groups of nodes made a graph model say this, for and against, and how sure are we?",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mage {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say what is being done and why.")] = False,
) -> None:
    del version
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(message)s")


def show_warning(message: Warning | str, *_place: object, **_more: object) -> None:
    """Print a warning for people who use the command, not for those who wrote it."""
    typer.echo(f"mage: {message}", err=True)


class cli_errors:  # noqa: N801 (used as a statement)
    """Errors that the user can mend become one line and an exit code; others keep their traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, typer.Exit):
            return  # a command that ends by itself, although this is a RuntimeError
        if isinstance(error, ValueError | TypeError | OSError | ImportError | RuntimeError):
            typer.echo(f"mage: {error}", err=True)
            raise typer.Exit(2 if isinstance(error, ValueError | TypeError) else 1) from error
