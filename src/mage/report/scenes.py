"""Small drawings as plain numbers, which the page draws: where nodes lie, their names, the edges that join them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from mage._core.typing import Floats
from mage.explanation.subject import SentenceSubject
from mage.report.molecules import AROMATIC, Molecule
from mage.report.motif_classes import LabelledGraph

if TYPE_CHECKING:
    from mage.explanation import Explanation

MOST_NODES = 150
"""Nodes of a drawing; of a larger graph those around its motifs are drawn."""
_UNIT = 40  # whole numbers for the length of an edge: fine enough for a screen, short in the file
_ROUNDS = 60
_AROMATIC_ORDER = 4


def graph_scene(explanation: Explanation, molecule: Molecule | None, graph: LabelledGraph) -> dict[str, Any]:
    """The drawing of an explained graph.

    Returns:
        ``names``; ``sentence`` (true if they are to be read in order), or ``x``, ``y`` and ``edges`` (first, second,
        order) and ``chemical`` (whether nodes are atoms); ``nodes``, the nodes drawn, if these are not all.
    """
    if isinstance(explanation.subject, SentenceSubject):
        return {"names": list(explanation.subject.words), "sentence": True}
    nodes = _shown_nodes(explanation, graph)
    part = graph if len(nodes) == len(graph) else graph.induced(nodes)
    if molecule is not None:
        names: Sequence[str] = [molecule.elements[v] for v in nodes]
        orders = {(i, j): order for i, j, order in molecule.bonds}
        edges = [[i, j, orders[nodes[i], nodes[j]]] for i, j, _ in part.edges]
    else:
        names, edges = [explanation.names[v] for v in nodes], [[i, j, 1] for i, j, _ in part.edges]
    drawn = molecule.positions if molecule is not None else None
    scene: dict[str, Any] = _placed(drawn[nodes] if drawn is not None else stress_layout(part))
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
    placed = _placed(stress_layout(pattern) if places is None else places)
    return {**placed, "names": names, "edges": edges, "chemical": chemical}


def stress_layout(graph: LabelledGraph) -> Floats:
    """Places [n, 2] whose distances are those in the graph as well as a plane allows; the same in each run.

    Classical scaling, then stress majorisation with weights 1 / distance². O(rounds · n²) after O(n³) once.

    Reference: Gansner, Koren & North, "Graph drawing by stress majorization", 2004.
    """
    count = len(graph)
    if count < 2:
        return np.zeros((count, 2))
    distance = _distances(graph)
    centring = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ distance**2 @ centring)
    # The sign of an eigenvector is arbitrary: fixed, so that drawings do not depend on the library.
    vectors = vectors[:, ::-1][:, :2]
    vectors *= np.where(vectors[np.abs(vectors).argmax(axis=0), range(vectors.shape[1])] < 0, -1, 1)
    places = vectors * np.sqrt(np.maximum(values[::-1][:2], 1e-3))
    # Nodes that classical scaling puts on one spot need a nudge to come apart.
    angles = 2.399963 * np.arange(count)
    places = places + 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    with np.errstate(divide="ignore"):
        weights = np.where(distance > 0, distance**-2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(gaps > 1e-9, weights * distance / gaps, 0.0)
        places = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ places
    return np.asarray(places)


def _distances(graph: LabelledGraph) -> Floats:
    """Steps between nodes; parts that are not joined lie a little further apart than the largest of them is wide."""
    count = len(graph)
    ends = np.array([(i, j) for i, j, _ in graph.edges], dtype=np.int64).reshape(-1, 2)
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    found = np.asarray(shortest_path(matrix.tocsr(), directed=False, unweighted=True), dtype=np.float64)
    apart = np.isinf(found)
    found[apart] = float(found[~apart].max()) + 1.5 if apart.any() else 0.0
    return found


def _placed(places: Floats) -> dict[str, list[int]]:
    scaled = np.round(_UNIT * (places - places.min(axis=0, initial=np.inf) if len(places) else places)).astype(int)
    # Pages count downwards, mathematics upwards.
    return {"x": scaled[:, 0].tolist(), "y": (scaled[:, 1].max(initial=0) - scaled[:, 1]).tolist()}


def _shown_nodes(explanation: Explanation, graph: LabelledGraph) -> list[int]:
    """All nodes, or those of the motifs and around them if there are too many."""
    if len(graph) <= MOST_NODES:
        return list(range(len(graph)))
    shown = dict.fromkeys(v for motif in explanation.motifs for v in motif.nodes)
    edge_of_view = list(shown)
    while edge_of_view and len(shown) < MOST_NODES:
        ring = dict.fromkeys(w for v in edge_of_view for w in graph.neighbours[v] if w not in shown)
        edge_of_view = list(ring)[: MOST_NODES - len(shown)]
        shown |= dict.fromkeys(edge_of_view)
    return sorted(shown)
