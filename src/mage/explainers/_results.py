"""From scores of nodes or edges, or from a set of nodes, to an explanation of at most M nodes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mage._core.typing import Floats
from mage.explanation import Explanation

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.games import ModelGame


def budget_of(max_nodes: int | float, num_nodes: int) -> int:
    """M as a count: a count is itself, a share below 1 is of the nodes; at least 1, at most all."""
    if isinstance(max_nodes, bool) or max_nodes <= 0:
        raise ValueError(f"max_nodes must be a count of at least 1 or a share between 0 and 1, got {max_nodes}")
    # The same rounding as in the motif search: 0.29 of 100 nodes are 29, whatever floating point makes of it.
    count = int(max_nodes) if max_nodes >= 1 else int(max_nodes * num_nodes + 1e-9)
    return max(1, min(count, num_nodes))


def nodes_of_best_edges(edge_index: NDArray[np.integer], scores: Floats, max_nodes: int) -> list[int]:
    """The nodes of the best edges, as many as the budget holds.

    Edges are taken by falling score, of equal ones the earlier first; loops and edges that score 0 are left out.
    An edge whose new nodes do not fit any more is passed over, so there are never more than ``max_nodes``. (The paper's
    released pipeline takes such an edge when one place is left, and may end with M + 1 nodes.)
    """
    chosen: dict[int, None] = {}
    for column in np.argsort(-scores, kind="stable"):
        first, second = (int(node) for node in edge_index[:, column])
        if first == second or scores[column] == 0:
            continue
        new = [node for node in (first, second) if node not in chosen]
        if len(chosen) + len(new) <= max_nodes:
            chosen.update(dict.fromkeys(new))
    return sorted(chosen)


def best_nodes(scores: Floats, max_nodes: int) -> list[int]:
    """The nodes with the highest scores, of equal ones the earlier first; nodes that score exactly 0 are left out."""
    order = np.argsort(-scores, kind="stable")[:max_nodes]
    return sorted(int(node) for node in order if scores[node] != 0)


def edges_between(edge_index: NDArray[np.integer], nodes: Iterable[int], num_nodes: int) -> Floats:
    """1 for edges with both ends among the nodes, else 0."""
    inside = np.zeros(num_nodes, dtype=bool)
    inside[list(nodes)] = True
    return np.asarray(inside[edge_index[0]] & inside[edge_index[1]], dtype=np.float64)


def explanation_of(
    title: str,
    game: ModelGame,
    data: Data,
    nodes: Iterable[int],
    *,
    started: float,
    max_nodes: int,
    masking: str = "",
    node_scores: Floats | None = None,
    edge_scores: Floats | None = None,
    num_queries: int | None = None,
    diagnostics: Mapping[str, float] | None = None,
) -> Explanation:
    """An explanation by a set of nodes, and the time it took; see :meth:`mage.Explanation.from_nodes`."""
    explanation = Explanation.from_nodes(
        nodes,
        game,
        data,
        method=title,
        max_nodes=max_nodes,
        node_scores=node_scores,
        edge_scores=edge_scores,
        masking=masking,
        num_queries=num_queries,
        seconds=time.perf_counter() - started,
    )
    return replace(explanation, diagnostics=diagnostics or {})
