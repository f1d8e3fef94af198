"""Explainers side by side on one graph, with how well each did and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from canvas import Panel
from drawings import HEIGHT, WIDTH, Group, groups_of, truth_groups

import mage
from mage import explainers
from mage.metrics import ami, node_f1

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "MAGE": ("mage", {}),
    "MAGE, Shapley-Taylor": ("mage", {"index": "shapley-taylor"}),
    "SubgraphX": ("subgraphx", {}),
    "GStarX": ("gstarx", {}),
    "SAME": ("same", {}),
    "GradCAM": ("gradcam", {}),
    "GNNExplainer": ("gnnexplainer", {}),
}
"""Title, name and parameters; those that learn from a whole dataset first take too long for a picture."""

Draw = Callable[[Sequence[Group]], str]


class Skipped(Exception):  # noqa: N818 (not an error)
    """A figure cannot be made here; the message says why and what would help."""


def load(name: str, **options: Any) -> Any:
    """A dataset that is here; nothing is downloaded for a picture."""
    try:
        return mage.datasets.load(name, download=False, **options)
    except (mage.datasets.MissingDataError, ImportError) as error:
        raise Skipped(f"{name}: {error}") from error


def compared(
    model: Any,
    data: Any,
    truth: Sequence[Sequence[int]],
    settings: dict[str, Any],
    draw: Draw,
    *,
    methods: Sequence[str] | None = None,
    dataset: Any = None,
    parameters: dict[str, dict[str, Any]] | None = None,
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> list[Panel]:
    """A panel of the ground truth and one of each method.

    Args:
        model: The model.
        data: The graph.
        truth: Nodes of the ground-truth motifs.
        settings: The paper's settings for this graph.
        draw: Draws the graph with some groups of nodes.
        methods: Titles of the methods; by default all of :data:`METHODS`.
        dataset: What methods that need class priors measure them on.
        parameters: More parameters for some of the methods, by title.
        size: Width and height of a panel.
    """
    is_multiple = len(truth) > 1
    unit = "atoms" if "bond" in data or "smiles" in data else "nodes"
    count = f"{len(truth)} motifs" if is_multiple else "1 motif"
    panels = [Panel("Ground truth", f"{count}, {sum(map(len, truth))} {unit}", draw(truth_groups(truth)), *size)]
    for title in METHODS if methods is None else methods:
        name, usual = METHODS[title]
        explainer = explainers.get(name, **usual, **(parameters or {}).get(title, {}))
        if dataset is not None and explainer.needs_training:
            explainer.fit(model, dataset)
        try:
            explanation = explainer.explain(model, data, **settings)
        except explainers.UnsupportedError as error:
            panels.append(Panel(title, f"refuses: {error}"[:60], draw([]), *size))
            continue
        score = (
            ami(explanation, truth, int(data.num_nodes)) if is_multiple else node_f1(explanation, list(chain(*truth)))
        )
        inside = ", looks inside" if explainer.white_box else ""
        note = f"{'AMI' if is_multiple else 'F1'} {score:.2f}, {explanation.num_queries:,} queries{inside}"
        panels.append(
            Panel(title, note, draw(groups_of(explanation, signed=name == "mage")), *size, framed=title == "MAGE")
        )
    return panels


def written(folder: Path, name: str, svg: str) -> Path:
    """Write a figure."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.svg"
    path.write_text(svg, encoding="utf-8")
    return path


def says(model: Any, data: Any, class_names: Sequence[str]) -> str:
    """The model's answer with its probability."""
    import torch

    with torch.no_grad():
        shares = model(data.x, data.edge_index, torch.zeros(int(data.num_nodes), dtype=torch.long)).softmax(dim=1)[0]
    best = int(shares.argmax())
    return f"{class_names[best]} (probability {float(shares[best]):.2f})"
