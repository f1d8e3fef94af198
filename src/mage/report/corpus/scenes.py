"""Small drawings as plain numbers, which the page draws: where nodes lie, their names, the edges that join them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.typing import Floats
from mage.drawing import Molecule, stress_layout
from mage.drawing.labelled_graphs import LabelledGraph
from mage.drawing.molecules import AROMATIC
from mage.explanation.crop import nodes_in_view
from mage.explanation.subject import SentenceSubject

if TYPE_CHECKING:
    from mage.explanation import Explanation

MOST_NODES = 150
"""Nodes of a drawing; of a larger graph those around its motifs are drawn."""
_UNIT = 40  # whole numbers for the length of an edge: fine enough for a screen, short in the file
_AROMATIC_ORDER = 4


def graph_scene(explanation: Explanation, molecule: Molecule | None, graph: LabelledGraph) -> dict[str, Any]:
    """The drawing of an explained graph.

    Returns:
        ``names``; ``sentence`` (true if they are to be read in order), or ``x``, ``y`` and ``edges`` (first, second,
        order) and ``chemical`` (whether nodes are atoms); ``nodes``, the nodes drawn, if these are not all.
    """
    if isinstance(explanation.subject, SentenceSubject):
        return {"names": list(explanation.subject.words), "sentence": True}
    nodes = nodes_in_view(explanation, MOST_NODES, keep_players=False).tolist()
    part = graph if len(nodes) == len(graph) else graph.induced(nodes)
    if molecule is not None:
        names: Sequence[str] = [molecule.elements[v] for v in nodes]
        orders = {(i, j): order for i, j, order in molecule.bonds}
        edges = [[i, j, orders[nodes[i], nodes[j]]] for i, j, _ in part.edges]
    else:
        names, edges = [explanation.names[v] for v in nodes], [[i, j, 1] for i, j, _ in part.edges]
    drawn = molecule.positions if molecule is not None else None
    scene: dict[str, Any] = _placed(drawn[nodes] if drawn is not None else graph_places(part))
    scene |= {"names": list(names), "edges": edges, "chemical": molecule is not None}
    if len(nodes) < len(graph):
        scene["nodes"] = nodes
    return scene


def pattern_scene(pattern: LabelledGraph, chemical: bool, places: Floats | None = None) -> dict[str, Any]:
    """The drawing of a pattern by itself.

    Args:
        pattern: The pattern.
        chemical: Whether its nodes are atoms.
        places: Where its nodes lie in a graph that has it [n, 2]; a layout of its own by default.
    """
    names = list(pattern.labels)
    if not chemical and any(names):
        # Words say more in a row than as points.
        return {"names": names, "sentence": True}
    orders = {AROMATIC: _AROMATIC_ORDER, "": 1}
    edges = [[i, j, orders.get(kind) or int(kind)] for i, j, kind in pattern.edges]
    placed = _placed(graph_places(pattern) if places is None else places)
    return {**placed, "names": names, "edges": edges, "chemical": chemical}


def graph_places(graph: LabelledGraph) -> Floats:
    """Where the nodes of a graph lie; one start is enough for a small drawing, and there are many of them."""
    pairs = np.array([(i, j) for i, j, _ in graph.edges], dtype=np.int64)
    return stress_layout(pairs, len(graph), starts=1)


def _placed(places: Floats) -> dict[str, list[int]]:
    scaled = np.round(_UNIT * (places - places.min(axis=0, initial=np.inf) if len(places) else places)).astype(int)
    # Pages count downwards, mathematics upwards.
    return {"x": scaled[:, 0].tolist(), "y": (scaled[:, 1].max(initial=0) - scaled[:, 1]).tolist()}
