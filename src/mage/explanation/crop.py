"""A part of a large explanation that fits on a page: the motifs, the players, and what lies around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array, csr_array

from mage._core.checks import checked_whole
from mage._core.typing import Floats, Integers
from mage.explanation.arguments import checked_explanation
from mage.explanation.explanation import Explanation
from mage.motifs import Motif, MotifSet

MOST_NODES = 300


def crop(explanation: Explanation, most_nodes: int = MOST_NODES) -> Explanation:
    """The same explanation on a part of its graph, renumbered; nodes keep their names. Small graphs stay whole.

    The part has all nodes of motifs, a node of every player, and the nodes nearest to these, players before others, as
    many as there is room for. Drawing a graph takes time and memory with the square of its nodes; this does not.

    Args:
        explanation: Of a graph of any size.
        most_nodes: Nodes to keep, unless motifs and players alone are more.
    """
    checked_explanation(explanation)
    checked_whole("most_nodes", most_nodes)
    if explanation.num_nodes <= most_nodes:
        return explanation
    view = nodes_in_view(explanation, most_nodes)
    number = np.full(explanation.num_nodes, -1, dtype=np.int64)
    number[view] = np.arange(len(view))
    names = tuple(explanation.names[v] for v in view.tolist())
    edges = number[explanation.edge_index]
    columns = np.flatnonzero((edges >= 0).all(axis=0))
    return replace(
        explanation,
        motifs=_renumbered(explanation.motifs, number, len(view)),
        players=tuple(tuple(v for v in number[list(nodes)].tolist() if v >= 0) for nodes in explanation.players),
        edge_index=edges[:, columns],
        num_nodes=len(view),
        names=names,
        node_notes=tuple(explanation.node_notes[v] for v in view.tolist()) if explanation.node_notes else (),
        subject=explanation.subject.part(view, columns),
        target_nodes=tuple(v for v in number[list(explanation.target_nodes)].tolist() if v >= 0),
        method_edge_scores=_of_columns(explanation.method_edge_scores, columns),
        edge_std_error=_of_columns(explanation.edge_std_error, columns),
        stages=(),  # their groups are lists of nodes of the whole graph
        motif_features=(),  # so are these
        origin=None if explanation.origin is None else replace(explanation.origin, truth=_truth(explanation, number)),
        part_of=explanation.part_of or explanation.num_nodes,
    )


def _renumbered(motifs: MotifSet, number: Integers, num_nodes: int) -> MotifSet:
    """Motifs by the numbers that their nodes and edges have in a part of the graph, which holds them all."""
    parts = [
        Motif(
            tuple(number[list(motif.nodes)].tolist()),
            motif.score,
            motif.names,
            tuple((int(number[first]), int(number[second])) for first, second in motif.edges),
        )
        for motif in motifs
    ]
    against = None if motifs.against is None else _renumbered(motifs.against, number, num_nodes)
    return replace(motifs, motifs=tuple(parts), num_nodes=num_nodes, against=against)


def _of_columns(scores: Floats | None, columns: Integers) -> Floats | None:
    return None if scores is None else scores[columns]


def _truth(explanation: Explanation, number: Integers) -> tuple[tuple[int, ...], ...]:
    """The ground truth in the new numbers."""
    truth = explanation.origin.truth if explanation.origin is not None else ()
    parts = (tuple(v for v in number[list(nodes)].tolist() if v >= 0) for nodes in truth)
    return tuple(part for part in parts if part)


def nodes_in_view(explanation: Explanation, most_nodes: int, keep_players: bool = True) -> Integers:
    """Nodes of a graph that are worth drawing, ascending: those that have to stay, then by distance to them.

    Args:
        explanation: Of a graph of any size.
        most_nodes: Nodes to keep, unless those that have to stay are more.
        keep_players: Whether a node of every player has to stay, besides the nodes of motifs and the explained ones.
    """
    count = explanation.num_nodes
    if count <= most_nodes:
        return np.arange(count)
    must = np.zeros(count, dtype=np.bool_)
    must[[node for motif in explanation.all_motifs for node in motif.nodes]] = True
    must[list(explanation.target_nodes)] = True
    plays = np.zeros(count, dtype=np.bool_)
    for nodes in explanation.players:
        plays[list(nodes)] = True
        if keep_players and not must[list(nodes)].any():
            must[nodes[0]] = True
    source, target = explanation.edge_index
    ends = (np.concatenate([source, target]), np.concatenate([target, source]))
    matrix = csr_array(coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(count, count)))
    view, ring = must, must
    while view.sum() < most_nodes:
        ring = (matrix @ ring.astype(np.float32) > 0) & ~view
        near = np.flatnonzero(ring)
        if len(near) == 0:
            break
        order = near[np.argsort(~plays[near], kind="stable")]
        view = view.copy()
        view[order[: most_nodes - int(view.sum())]] = True
    return np.flatnonzero(view)
