"""Options that several commands share, checked before anything is computed, and how commands report failures."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from mage._core.optional import require
from mage._torch.conventions import OUTPUTS
from mage.cli._app import cli_errors
from mage.indices import ESTIMATORS
from mage.motifs import MotifRequest

if TYPE_CHECKING:
    from mage.explanation import Explanation

Command = Callable[..., None]
_USUAL = MotifRequest()
_METHODS = ("auto", *ESTIMATORS)
_EXIT_CODES = "Exit codes: 0 for an explanation, 1 for a failure, 2 for wrong arguments."

_SIZE = f"a count ≥ 1 or a share below 1; {_USUAL.max_nodes:g} by default"


def _listed(choices: Sequence[str]) -> str:
    """Choices for a line of help; the first is the default."""
    return f"{', '.join(choices)}; {choices[0]} by default"


def sharing(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """A decorator that adds the options of groups to those of a command, whose errors become one line each.

    A group is a function of options. The command gets what the function returns, under the name of the group.
    """

    def decorate(command: Command) -> Command:
        options = {name: inspect.signature(make, eval_str=True).parameters for name, make in groups.items()}
        given = inspect.signature(command, eval_str=True).parameters
        alone = [parameter for name, parameter in given.items() if name not in groups]
        shared = [parameter for parameters in options.values() for parameter in parameters.values()]

        def run(**values: Any) -> None:
            with cli_errors():
                values_of_groups = {
                    name: make(**{option: values.pop(option) for option in options[name]})
                    for name, make in groups.items()
                }
                command(**values, **values_of_groups)

        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*alone, *shared)]
        run.__name__, run.__doc__ = command.__name__, f"{inspect.getdoc(command)}\n\n{_EXIT_CODES}"
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by typer
        return run

    return decorate


def request_options(
    num_motifs: Annotated[int | None, typer.Option(help=f"m, most motifs; {_USUAL.num_motifs} by default.")] = None,
    max_nodes: Annotated[float | None, typer.Option(help=f"M, most nodes in all: {_SIZE}.")] = None,
    tau: Annotated[
        float | None, typer.Option(help=f"1: for; 0: against; between: both; {_USUAL.tau:g} usually.")
    ] = None,
    output: Annotated[str | None, typer.Option(help=f"What of the class: {_listed(OUTPUTS)}.")] = None,
    order: Annotated[int | None, typer.Option(help="Order of the index, 1 to 3; 2 by default.")] = None,
    method: Annotated[str | None, typer.Option(help=f"How interactions are found: {_listed(_METHODS)}.")] = None,
    budget: Annotated[int | None, typer.Option(help="Most coalitions to ask the model for.")] = None,
    permutations: Annotated[int | None, typer.Option(help="Orderings to sample.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the sampling; 0 by default.")] = None,
    like: Annotated[Path | None, typer.Option(help="Ask as for this saved explanation, but for what is given.")] = None,
) -> dict[str, Any]:
    """Fields of the requests that are given, by name."""
    fields = {
        "num_motifs": num_motifs,
        "max_nodes": None if max_nodes is None else _checked_max_nodes(max_nodes),
        "tau": tau,
        "output": output,
        "order": order,
        "method": method,
        "budget": budget,
        "permutations": permutations,
        "seed": seed,
        "like": None if like is None else _loaded(like),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _checked_max_nodes(max_nodes: float) -> int | float:
    try:
        # The command line knows no difference between 5 and 5.0; the rest is the rule of the request.
        return MotifRequest(max_nodes=int(max_nodes) if max_nodes.is_integer() else max_nodes).max_nodes
    except ValueError as error:
        raise ValueError(f"--max-nodes: {error}") from None


def _loaded(path: Path) -> Explanation:
    from mage.explanation import Explanation

    if not path.is_file():
        raise ValueError(f"--like: {path} does not exist")
    return Explanation.load(path)


class Results(NamedTuple):
    """Where an explanation goes: files, and the terminal.

    Attributes:
        save: File of the explanation.
        picture: File of a drawing.
        page: File of an interactive page.
        as_json: Whether JSON is printed instead of text.
    """

    save: Path | None
    picture: Path | None
    page: Path | None
    as_json: bool

    @property
    def given(self) -> dict[str, Any]:
        """The options by name; None where they are not given."""
        return {"--save": self.save, "--picture": self.picture, "--page": self.page, "--json": self.as_json or None}

    def write(self, explanation: Explanation, title: str = "Why?") -> None:
        """Write the files."""
        if self.save is not None:
            explanation.save(self.save)
        if self.picture is not None:
            from mage.plots import save_figure

            save_figure(explanation.plot(), self.picture)
        if self.page is not None:
            explanation.save_html(self.page, title=title)

    def show(self, explanation: Explanation, parts: Iterable[RenderableType], **more: Any) -> None:
        """Print parts one below the other; or JSON, with what only it says."""
        if self.as_json:
            typer.echo(json.dumps({**more, **explanation.to_dict()}, indent=2))
            return
        console = Console()
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, Text))
        for file in (self.save, self.picture, self.page):
            if file is not None:
                console.print(f"wrote {file}", soft_wrap=True, markup=False, highlight=False)


def result_options(
    save: Annotated[Path | None, typer.Option(help="Keep the explanation in this file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw it to this .svg, .png or .pdf.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write an interactive page to this .html file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> Results:
    """Where the explanation goes."""
    check_files(save=save, picture=picture, page=page)
    return Results(save, picture, page, as_json)


def checked_seeds(text: str | None) -> list[int] | None:
    """Seeds of ``--seeds``, with commas between."""
    if not text:
        return None
    seeds = [seed.strip() for seed in text.split(",")]
    if not all(seed.isdecimal() for seed in seeds):
        raise ValueError(f"--seeds must be whole numbers ≥ 0 with commas between, such as 0,1,2; got {text!r}")
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
        if name == "picture":
            _check_picture(path)


def report_failures(failed: Sequence[str], shown: int = 10) -> None:
    """Say which graphs failed and how to try them again, and end with exit code 3; return where none did."""
    if not failed:
        return
    for line in failed[:shown]:
        typer.echo(f"mage: {line}", err=True)
    if len(failed) > shown:
        typer.echo(f"mage: and {len(failed) - shown} more", err=True)
    typer.echo(f"mage: {len(failed)} failed; run again with --retry-failed to try them again", err=True)
    raise typer.Exit(3)


def _check_picture(path: Path) -> None:
    known = require("matplotlib.backend_bases", "plot").FigureCanvasBase.get_supported_filetypes()
    if path.suffix and path.suffix.lower().lstrip(".") not in known:
        raise ValueError(f"--picture: {path.name} must end in .svg, .png or .pdf")
