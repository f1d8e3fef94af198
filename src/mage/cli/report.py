"""``mage report``: one page of a whole run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mage._core.printing import printable
from mage.cli._app import announce, app, cli_errors, print_json, tell
from mage.cli._options import check_files
from mage.cli._results import AsJson


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Folder of mage explain --all, or store of mage benchmark.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Heading; the dataset and the model by default.")] = "",
    markdown: Annotated[
        Path | None,
        typer.Option(help="For a store: write all tables, with the paper's, to this .md file, pictures to images/."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one offline page of a whole run: recurring motifs, all graphs, benchmark tables."""
    with cli_errors():
        check_files(output=output, markdown=markdown)
        if not run.is_dir():
            raise ValueError(f"run: the folder {run} does not exist")
        announce("reading the run")
        from mage._core.files import atomic_path
        from mage.experiments.pages import run_page

        page = run_page(run, title)
        if markdown is not None:
            _write_markdown(run, markdown)
        with atomic_path(output) as unfinished:
            unfinished.write_text(page.text, encoding="utf-8")
    for name, reason in page.skipped:
        tell(f"left out {name}: {reason}")
    contents = [
        f"{count:,} {noun}{'s' if count != 1 else ''}"
        for count, noun in ((page.explanations, "explanation"), (page.results, "benchmark result"))
        if count
    ]
    if as_json:
        print_json(
            {
                "page": str(output),
                "explanations": page.explanations,
                "results": page.results,
                "left_out": [{"file": name, "reason": reason} for name, reason in page.skipped],
            }
        )
    typer.echo(f"wrote {printable(str(output))}: {' and '.join(contents)}", err=as_json)


def _write_markdown(run: Path, path: Path) -> None:
    """The tables of a store as a page of the documentation, with its pictures in a folder beside it."""
    from mage._core.files import atomic_path
    from mage.experiments.pages.blocks import Illustration
    from mage.experiments.pages.blocks import markdown as marked_down
    from mage.experiments.pages.reproduction import TITLE, reproduction
    from mage.experiments.pages.stored_cells import read_parts, result_files

    records, _ = read_parts(result_files(run))
    if not records:
        raise ValueError(f"--markdown: {run} has no results of mage benchmark")
    blocks = reproduction(records)
    folder = path.parent / "images" / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    for block in blocks:
        if isinstance(block, Illustration):
            (folder / f"{block.name}.svg").write_text(block.svg, encoding="utf-8")
    with atomic_path(path) as unfinished:
        unfinished.write_text(marked_down(TITLE, blocks, f"images/{path.stem}"), encoding="utf-8")
