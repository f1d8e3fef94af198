"""The command line: ``mage demo`` and what is to come."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

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
) -> None:
    del version


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the figure and the page.")] = Path("demo-output"),
) -> None:
    """Compute the four indices of a small built-in game and draw them side by side."""
    from mage import demo as module
    from mage import find_motifs

    results, files = module.run(output)
    console = Console()
    table = Table(title="The strongest terms of each index (para-nitroaniline alarm, exact)")
    for heading in ("index", "order", "queries", "strongest terms"):
        table.add_column(heading)
    for result in results:
        terms = "  ".join(f"{{{', '.join(result.names[p] for p in t.players)}}} {t.value:+.3f}" for t in result.top(3))
        table.add_row(result.index, str(result.order), str(result.num_queries), terms)
    console.print(table)
    console.print("The structure-aware indices ask for connected coalitions only.")
    console.print(find_motifs(results[-1], num_motifs=3, max_nodes=6, tau=0.5), soft_wrap=True)
    for file in files:
        console.print(f"wrote {file}", soft_wrap=True)


def main() -> None:
    """Entry point of the ``mage`` command."""
    app()
