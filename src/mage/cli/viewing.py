"""``mage view`` and ``mage compare``: pages of explanations that were saved before."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mage.cli._app import announce, app, cli_errors, print_json, say_written
from mage.cli._options import check_files
from mage.cli._results import AsJson

if TYPE_CHECKING:
    from mage.explanation import Explanation

Saved = Annotated[list[Path], typer.Argument(help="Files that explanation.save or mage explain --save wrote.")]


@app.command()
def view(
    files: Saved,
    page: Annotated[
        Path | None, typer.Option(help="The page to write; by default the name of the first file with .html.")
    ] = None,
    title: Annotated[str, typer.Option(help="Heading; the explained class by default.")] = "",
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.", metavar="")] = True,
    as_json: AsJson = False,
) -> None:
    """Write a page of saved explanations and open it; several files give one page with a switch between them."""
    with cli_errors():
        target = page if page is not None else files[0].with_suffix(".html")
        _check_saved(files)
        check_files(page=target)
        announce("reading the explanations")
        from mage.report import save_html

        explanations = [_load(file) for file in files]
        save_html(explanations, target, title)
    if as_json:
        print_json({"page": str(target), "explanations": len(explanations)})
    say_written(target, as_json=as_json)
    if browser and not as_json:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A saved explanation.")],
    second: Annotated[Path, typer.Argument(help="A second one of the same graph, of another model, class or method.")],
    page: Annotated[Path | None, typer.Option(help="Write a page with both side by side.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two saved explanations of the same graph: shared nodes, sides, scores; as text or side by side."""
    with cli_errors():
        _check_saved([first, second])
        check_files(page=page)
        announce("reading the explanations")
        from mage.drawing import shown_names
        from mage.report import agreement, save_html
        from mage.report.agreement import agreement_lines

        explanations = [_load(first), _load(second)]
        labels = [first.stem, second.stem] if first.stem != second.stem else [str(first), str(second)]
        if page is not None:
            save_html(explanations, page, labels=labels, side_by_side=True)
        result = agreement(*explanations)
    if as_json:
        has_correlation = result.correlation == result.correlation
        print_json(asdict(result) | {"correlation": result.correlation if has_correlation else None})
    else:
        for label, explanation in zip(labels, explanations, strict=True):
            typer.echo(f"{label}: {explanation.verdict}")
        for aspect, sentence in agreement_lines(result, shown_names(explanations[0]), labels):
            typer.echo(_indented(f"{aspect}: {sentence}"))
    say_written(page, as_json=as_json)


def _indented(line: str) -> str:
    """A line that fits the terminal: what does not fit goes to the next line, further to the right."""
    width = max(shutil.get_terminal_size().columns, 40)
    return textwrap.fill(line, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _check_saved(files: list[Path]) -> None:
    for file in files:
        if not file.is_file():
            raise ValueError(f"{file} does not exist; explanation.save and mage explain --save write such files")


def _load(file: Path) -> Explanation:
    from mage.explanation import Explanation

    return Explanation.load(file)
