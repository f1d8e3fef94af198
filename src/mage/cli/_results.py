"""Where an explanation goes: files, and the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import RenderableType
from rich.text import Text

from mage.cli._app import PARTIAL, print_json, say_written
from mage.cli._console import SafeConsole
from mage.cli._options import RESULTS, check_files, flag, option

if TYPE_CHECKING:
    from mage.explanation import Explanation

AsJson = Annotated[bool, flag(RESULTS, "Print JSON instead of text.", "--json")]
"""The option of all commands that makes their output readable by programs."""


class Results(NamedTuple):
    """Where an explanation goes: files, and the terminal.

    Attributes:
        save: File of the explanation.
        figure: File of a drawing.
        page: File of an interactive page.
        as_json: Whether JSON is printed instead of text.
    """

    save: Path | None
    figure: Path | None
    page: Path | None
    as_json: bool

    @property
    def files(self) -> dict[str, Path | None]:
        """The options that name files; None where they are not given."""
        return {"--save": self.save, "--figure": self.figure, "--page": self.page}

    def finish(self, explanation: Explanation, parts: Iterable[RenderableType], title: str = "", **more: Any) -> None:
        """Write the files, print the explanation, and end with an exit code where it is partial.

        Args:
            explanation: The explanation.
            parts: What is printed, one below the other.
            title: Heading of the page; by default it names the explained class.
            more: What only JSON has.
        """
        self._write(explanation, title)
        if self.as_json:
            print_json({**more, **explanation.to_dict()})
        else:
            console = SafeConsole()
            for part in parts:
                console.print(part, soft_wrap=isinstance(part, Text))
        say_written(*self.files.values(), as_json=self.as_json)
        if explanation.interactions.partial:
            queries = explanation.interactions.num_queries
            typer.echo(
                f"mage: interrupted; the scores are estimates from the {queries:,} queries before that", err=True
            )
            raise typer.Exit(PARTIAL)

    def _write(self, explanation: Explanation, title: str) -> None:
        if self.save is not None:
            explanation.save(self.save)
        if self.figure is not None:
            from mage.plots import save_figure

            save_figure(explanation.plot(), self.figure)
        if self.page is not None:
            explanation.save_html(self.page, title=title)


def result_options(
    save: Annotated[Path | None, option(RESULTS, "Save the explanation to this file; mage.load reads it.")] = None,
    figure: Annotated[
        Path | None, option(RESULTS, "Write a figure to this .svg, .png or .pdf file.", "--figure", "--picture")
    ] = None,
    page: Annotated[Path | None, option(RESULTS, "Write an interactive page to this .html file.")] = None,
    as_json: AsJson = False,
) -> Results:
    """Where the explanation goes."""
    check_files(save=save, figure=figure, page=page)
    return Results(save, figure, page, as_json)
