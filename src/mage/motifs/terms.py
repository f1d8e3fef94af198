"""Interactions as arrays: what the search reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from mage._core.typing import Floats
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.motifs.objective import Terms

_LARGEST_ORDER = 3
_MOST_DENSE_TRIPLES = 400  # players; the search holds an n × n × n array of them


def terms_of(source: Any, edges: Any) -> tuple[Terms, PlayerGraph, tuple[str, ...]]:
    """Terms of :class:`Interactions` or of a plain matrix, the graph, and the names of its nodes."""
    if isinstance(source, Interactions):
        return _of_interactions(source, edges)
    if hasattr(source, "detach"):
        source = source.detach().cpu().numpy()
    try:
        matrix = np.asarray(source, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"interactions must be Interactions or a matrix, got {type(source).__name__}") from error
    return _of_matrix(matrix, edges)


def _of_interactions(source: Interactions, edges: Any) -> tuple[Terms, PlayerGraph, tuple[str, ...]]:
    if source.order > _LARGEST_ORDER:
        raise ValueError(f"interactions: motifs are searched for order 1, 2 and 3, got order {source.order}")
    graph = source.graph if edges is None else PlayerGraph.of(edges, source.num_players)
    if np.isnan(source.values).any():
        raise ValueError("interactions: contains NaN")
    terms: Terms = _node_and_pair_terms(source.matrix)[: source.order]
    if source.order == _LARGEST_ORDER:
        terms = (*terms, _dense_triples(source))
    return terms, graph, source.names


def _of_matrix(matrix: Floats, edges: Any) -> tuple[Terms, PlayerGraph, tuple[str, ...]]:
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
    return _node_and_pair_terms(matrix), graph, tuple(str(i) for i in range(len(matrix)))


def _node_and_pair_terms(matrix: Floats) -> Terms:
    pair = (matrix + matrix.T) / 2
    np.fill_diagonal(pair, 0.0)
    return np.diag(matrix).copy(), pair


def _dense_triples(interactions: Interactions) -> Floats:
    n = interactions.num_players
    if n > _MOST_DENSE_TRIPLES:
        raise ValueError(
            f"interactions: order 3 is searched for up to {_MOST_DENSE_TRIPLES} nodes, got {n}; use order 2"
        )
    dense = np.zeros((n, n, n))
    if n >= _LARGEST_ORDER:
        subsets, values, _ = interactions.of_size(_LARGEST_ORDER)
        for axes in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            dense[tuple(subsets[:, axis] for axis in axes)] = values
    return dense
