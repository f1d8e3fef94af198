"""Interactions as arrays: what the search reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mage._core.checks import checked_numbers, shortened
from mage._core.typing import Floats, Integers
from mage.graph import PlayerGraph
from mage.indices import Interactions

LARGEST_ORDER = 3
_MOST_FOR_TRIPLES = 400  # players; there are 10 million triples of them


@dataclass(frozen=True)
class TermArrays:
    """The terms of an index by size.

    Attributes:
        values: Of nodes [n]; of pairs [n, n], symmetric, zero on the diagonal; of triples [t].
        triples: Members of the triples [t, 3].
    """

    values: tuple[Floats, ...]
    triples: Integers

    def total(self, nodes: Sequence[int]) -> float:
        """Sum of all terms inside a set, as they are: what the index says the set contributes."""
        inside = np.zeros(len(self.values[0]), dtype=np.bool_)
        inside[list(nodes)] = True
        total = float(self.values[0][inside].sum())
        if len(self.values) > 1:
            total += float(self.values[1][np.ix_(inside, inside)].sum()) / 2
        if len(self.values) == LARGEST_ORDER:
            total += float(self.values[2][inside[self.triples].all(axis=1)].sum())
        return total


_NO_TRIPLES: Integers = np.zeros((0, 3), dtype=np.int64)


def terms_of(source: Any, edges: Any) -> tuple[TermArrays, PlayerGraph, tuple[str, ...]]:
    """The terms of :class:`Interactions` or of a plain matrix, the graph, and the names of its nodes."""
    if isinstance(source, Interactions):
        return _of_interactions(source, edges)
    try:
        matrix = checked_numbers("interactions", source)
    except ValueError:
        raise TypeError(
            f"interactions must be Interactions or a matrix of real numbers, got {shortened(source)}"
        ) from None
    return _of_matrix(matrix, edges)


def _of_interactions(source: Interactions, edges: Any) -> tuple[TermArrays, PlayerGraph, tuple[str, ...]]:
    if source.order > LARGEST_ORDER:
        raise ValueError(f"interactions: motifs are searched for order 1, 2 and 3, got order {source.order}")
    n = source.num_players
    if source.order == LARGEST_ORDER and n > _MOST_FOR_TRIPLES:
        raise ValueError(f"interactions: order 3 is searched for up to {_MOST_FOR_TRIPLES} nodes, got {n}; use order 2")
    graph = source.graph if edges is None else PlayerGraph.of(edges, n)
    if np.isnan(source.values).any():
        raise ValueError("interactions: contains NaN")
    values = _node_and_pair_terms(source.matrix)[: source.order]
    if source.order < LARGEST_ORDER:
        return TermArrays(values, _NO_TRIPLES), graph, source.names
    triples, thirds, _ = source.of_size(LARGEST_ORDER)
    return TermArrays((*values, thirds), triples), graph, source.names


def _of_matrix(matrix: Floats, edges: Any) -> tuple[TermArrays, PlayerGraph, tuple[str, ...]]:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"interactions: a plain matrix must have shape [n, n], got {list(matrix.shape)}")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise ValueError(f"interactions: entry ({row}, {column}) is {matrix[row, column]}; all must be finite")
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12 * np.abs(matrix).max()):
        raise ValueError("interactions: a plain matrix must be symmetric; average it with its transpose")
    if edges is None:
        raise ValueError("edges: needed with a plain matrix, to know which nodes are connected")
    graph = PlayerGraph.of(edges, len(matrix))
    names = tuple(str(i) for i in range(len(matrix)))
    return TermArrays(_node_and_pair_terms(matrix), _NO_TRIPLES), graph, names


def _node_and_pair_terms(matrix: Floats) -> tuple[Floats, Floats]:
    pair = (matrix + matrix.T) / 2
    np.fill_diagonal(pair, 0.0)
    return np.diag(matrix).copy(), pair
