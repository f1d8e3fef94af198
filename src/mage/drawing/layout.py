"""Where the nodes of a graph are drawn: the same graph gives the same places in every figure and page."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from mage._core.typing import Floats, Integers

MOST_STARTS = 6
_ROUNDS = 100
_FEW_NODES = 80  # no start improves the looks of a larger graph much
_MANY_NODES = 1000  # stress takes memory with the square and time with the cube of the nodes
_PIVOTS = 50
_DIRECTIONS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
_GAP = 1.5  # between parts of a graph that are not joined, more than the longest distance within one
_GOLDEN_ANGLE = 2.399963


def stress_layout(edges: Integers, num_nodes: int, starts: int = MOST_STARTS) -> Floats:
    """Positions [n, 2] whose distances are like those in the graph, as well as a plane allows.

    Stress majorisation with weights 1 / distance² from classical scaling: each round is one Guttman transform (de Leeuw
    1977; Gansner, Koren and North, "Graph drawing by stress majorization", 2004), O(n²) after O(n³) once. Graphs of
    more than 1,000 nodes are placed by their distances from a few nodes (Brandes and Pich, "Eigensolver methods for
    progressive multidimensional scaling", 2006), O(n). No random numbers.

    Args:
        edges: Pairs of nodes [m, 2].
        num_nodes: Number of nodes.
        starts: Starts of which the best result is taken; more give better drawings and take longer.
    """
    if num_nodes < 2:
        return np.zeros((num_nodes, 2))
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    adjacency = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(num_nodes, num_nodes)).tocsr()
    if num_nodes > _MANY_NODES:
        return _pivot_layout(adjacency, num_nodes)
    distance = _joined(shortest_path(adjacency, directed=False, unweighted=True))
    weight = 1 / np.where(distance == 0, 1, distance) ** 2
    np.fill_diagonal(weight, 0)
    inverse = np.asarray(np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight), dtype=np.float64)
    most = min(starts, 2) if num_nodes > _FEW_NODES else starts
    layouts = [_majorised(place, distance, weight, inverse) for place in _starts(distance)[:most]]
    stresses = [float((weight * (_apart(place) - distance) ** 2).sum()) for place in layouts]
    return layouts[int(np.argmin(stresses))]


def across(place: Floats) -> Floats:
    """The same positions around the origin, turned so that the longer direction of the drawing is the first."""
    centred = np.asarray(place, dtype=np.float64) - np.mean(place, axis=0)
    directions = np.linalg.svd(centred, full_matrices=True)[2]
    return np.asarray(centred @ directions.T)


def _joined(distance: Floats) -> Floats:
    """Distances in which parts of a graph that are not joined stand side by side."""
    finite = np.isfinite(distance)
    return np.where(finite, distance, distance[finite].max() + _GAP)


def _starts(distance: Floats) -> list[Floats]:
    """Several beginnings, for majorisation ends in the nearest minimum: pairs of the first directions of scaling."""
    count = len(distance)
    centring = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ distance**2 @ centring)
    scaled = _with_fixed_signs((vectors * np.sqrt(np.maximum(values, 1e-9)))[:, ::-1])
    pairs = [pair for pair in _DIRECTIONS if max(pair) < count] or [(0, count - 1)]
    return [scaled[:, list(pair)] + _spiral(count) for pair in pairs]


def _with_fixed_signs(vectors: Floats) -> Floats:
    """Columns whose largest entry is positive: the signs of eigenvectors are arbitrary and differ between libraries."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1))


def _spiral(count: int) -> Floats:
    """Small shifts that set nodes apart which scaling puts in one place, such as those with the same neighbours."""
    turn = np.arange(count) * _GOLDEN_ANGLE
    return 0.05 * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _majorised(place: Floats, distance: Floats, weight: Floats, inverse: Floats) -> Floats:
    for _ in range(_ROUNDS):
        ratio = -weight * distance / np.maximum(_apart(place), 1e-9)
        np.fill_diagonal(ratio, 0)
        np.fill_diagonal(ratio, -ratio.sum(axis=1))
        place = inverse @ (ratio @ place)
    return place


def _apart(place: Floats) -> Floats:
    return np.asarray(np.hypot(*(place[:, None, axis] - place[None, :, axis] for axis in (0, 1))))


def _pivot_layout(adjacency: coo_array, num_nodes: int) -> Floats:
    """Positions by distances from nodes that are far from each other."""
    pivots = [0]
    rows = [shortest_path(adjacency, directed=False, unweighted=True, indices=0)]
    while len(pivots) < _PIVOTS:
        nearest = np.min(rows, axis=0)
        pivots.append(int(np.argmax(nearest)))  # nodes that no pivot reaches are infinitely far, and come first
        rows.append(shortest_path(adjacency, directed=False, unweighted=True, indices=pivots[-1]))
    squares = _joined(np.stack(rows, axis=1)) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    vectors = np.linalg.svd(centred, full_matrices=False)[2][:2].T
    place = _with_fixed_signs(centred @ vectors)
    # Distances like those in the graph: the longest of them is right.
    length = float(np.max(_apart(place[pivots])))
    return np.asarray(place * (np.sqrt(squares.max()) / length if length > 0 else 1.0) + _spiral(num_nodes))
