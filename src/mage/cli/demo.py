"""``mage demo``: why a small network that comes with the library says "grid" of a graph with a grid and a cycle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mage._core.checks import checked_whole
from mage.cli._app import announce, app, cli_errors, print_json, say_written
from mage.cli._console import SafeConsole
from mage.cli._results import AsJson
from mage.explainers import explain
from mage.explanation import Explanation

TITLE = "Why grid?"
"""Heading of the page."""
TEXT = (
    "A small graph network was trained to tell houses (class 0) from grids (class 1). This graph has a grid, and a "
    "five-cycle that was added to it. A house has a five-cycle; a grid has none."
)
"""Paragraph below it."""


def demo_explanation(seed: int = 0) -> Explanation:
    """Why the bundled GIN (house or grid?) says "grid" of a graph that has a grid and an injected five-cycle.

    A house has a five-cycle and a grid has none, so it is against the prediction (Figure 3c of the paper).
    """
    from mage._core.optional import require

    require("torch_geometric", "pyg")
    from mage.models import demo_graph, load_demo_model

    return explain(load_demo_model(), demo_graph(seed), class_names=("house", "grid"))


def run(folder: Path, seed: int = 0) -> tuple[Explanation, list[Path]]:
    """Explain the demo graph and write a picture, a page and the explanation itself.

    Returns:
        The explanation and the files written.
    """
    from mage.plots import save_figure

    folder.mkdir(parents=True, exist_ok=True)
    explanation = demo_explanation(seed)
    picture, page, archive = folder / "explanation.svg", folder / "index.html", folder / "explanation.mage"
    save_figure(explanation.plot(), picture)
    explanation.save(archive)
    explanation.save_html(page, TITLE, TEXT)
    return explanation, [picture, archive, page]


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the figure, the page and the explanation.")
    ] = Path("demo-output"),
    seed: Annotated[int, typer.Option(help="Which demo graph.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Explain a small graph network that comes with the library, on a graph with a grid and a five-cycle."""
    with cli_errors():
        checked_whole("--seed", seed, least=0)
        announce("loading PyTorch and the network")
        explanation, files = run(output, seed)
    if as_json:
        print_json(explanation.to_dict())
    else:
        SafeConsole().print(explanation)
    say_written(*files, as_json=as_json)
