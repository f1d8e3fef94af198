"""The command that shows a whole run: ``mage report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mage.cli._app import app, cli_errors
from mage.cli._options import check_files


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Folder of mage explain --all, or store of mage benchmark.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Heading; the dataset and the model by default.")] = "",
) -> None:
    """Make one page of a run that opens offline: what recurs in motifs, all graphs, benchmark tables."""
    with cli_errors():
        from mage._core.files import atomic_path
        from mage.experiments.pages import run_page

        check_files(output=output)
        page = run_page(run, title)
        with atomic_path(output) as unfinished:
            unfinished.write_text(page.text, encoding="utf-8")
    for name, reason in page.skipped:
        typer.echo(f"mage: left out {name}: {reason}", err=True)
    counts = [
        f"{count:,} {what}{'s' if count != 1 else ''}"
        for count, what in ((page.explanations, "explanation"), (page.results, "benchmark result"))
        if count
    ]
    typer.echo(f"wrote {output}: {' and '.join(counts)}")
