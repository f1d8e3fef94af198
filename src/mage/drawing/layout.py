"""Where the nodes of a graph are drawn: the same graph gives the same places in every figure and page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from mage._core.typing import Floats, Integers
from mage.drawing.untangling import planar_start, tangles, untangled

MOST_STARTS = 6
_ROUNDS = 100
_FEW_NODES = 80  # no start improves the looks of a larger graph much
_COUNTED_NODES = 300  # crossings are counted in graphs up to this size
_MANY_NODES = 1000  # stress takes memory with the square and time with the cube of the nodes
_PIVOTS = 50
_DIRECTIONS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
_GAP = 1.5  # between parts of a graph that are not joined
_ASPECT = 1.45  # of the room that a drawing has to fill
_GOLDEN_ANGLE = 2.399963
_MOST_STRETCH = 8.0  # of the longest edge, for the sake of a drawing without crossings


def stress_layout(edges: Integers, num_nodes: int, starts: int = MOST_STARTS) -> Floats:
    """Positions [n, 2] whose distances are like those in the graph, with as few crossings as can be found.

    Stress majorisation with weights 1 / distance² from classical scaling: each round is one Guttman transform (de Leeuw
    1977; Gansner, Koren and North, "Graph drawing by stress majorization", 2004), O(n²) after O(n³) once. Of several
    layouts the one with the fewest crossings of edges is kept, of equal ones that of the least stress, and nodes of
    graphs of up to 80 nodes are moved where they cause crossings: cycles look like cycles, and planar graphs have no
    crossing, unless that takes edges of more than eight times the usual length. Parts of a graph that are not joined
    stand side by side. Graphs of more than 1,000 nodes are placed by their distances from a few nodes (Brandes and
    Pich, "Eigensolver methods for progressive multidimensional scaling", 2006), O(n). No random numbers.

    Args:
        edges: Pairs of nodes [m, 2].
        num_nodes: Number of nodes.
        starts: Starts of which the best result is taken; more give better drawings and take longer.
    """
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    adjacency = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(num_nodes, num_nodes)).tocsr()
    count, part_of = connected_components(adjacency, directed=False)
    if count <= 1:
        return _connected_layout(adjacency, starts)
    members = [np.flatnonzero(part_of == part) for part in range(count)]
    members.sort(key=lambda nodes: (-len(nodes), nodes[0]))
    layouts = [across(_connected_layout(adjacency[nodes][:, nodes], starts)) for nodes in members]
    place = np.zeros((num_nodes, 2))
    for nodes, layout, corner in zip(members, layouts, _shelves([np.ptp(one, axis=0) for one in layouts]), strict=True):
        place[nodes] = layout - layout.min(axis=0) + corner
    return place


def _connected_layout(adjacency: csr_array, starts: int) -> Floats:
    """Positions of a graph of one part."""
    num_nodes = adjacency.shape[0]
    if num_nodes < 2:
        return np.zeros((num_nodes, 2))
    if num_nodes > _MANY_NODES:
        return _pivot_layout(adjacency, num_nodes)
    distance = shortest_path(adjacency, directed=False, unweighted=True)
    weight = 1 / np.where(distance == 0, 1, distance) ** 2
    np.fill_diagonal(weight, 0)
    inverse = np.asarray(np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight), dtype=np.float64)
    most = min(starts, 2) if num_nodes > _FEW_NODES else starts
    layouts = [_majorised(place, distance, weight, inverse) for place in _starts(distance)[:most]]
    ends = np.stack(adjacency.nonzero(), axis=1)
    pairs = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)

    def cost(place: Floats) -> tuple[int, float]:
        count = tangles(place, pairs) if num_nodes <= _COUNTED_NODES else 0
        # Rounded, so that layouts that differ by rounding only are the same on every machine: the first is kept.
        return count, float(f"{(weight * (_apart(place) - distance) ** 2).sum():.6g}")

    best = min(layouts, key=cost)
    if num_nodes > _FEW_NODES or cost(best)[0] == 0:
        return best
    planar = planar_start(pairs, num_nodes)
    layouts = [untangled(best, pairs, distance, weight, strict=planar is not None)]
    if planar is not None and cost(layouts[0])[0]:
        straight = untangled(planar, pairs, distance, weight)
        # Two crossings are easier to read than edges across the whole drawing.
        layouts += [straight] if _stretch(straight, pairs) <= _MOST_STRETCH else []
    return min(layouts, key=cost)


def _stretch(place: Floats, pairs: Integers) -> float:
    """The longest edge as a multiple of the middle one."""
    lengths = np.linalg.norm(place[pairs[:, 0]] - place[pairs[:, 1]], axis=1)
    return float(lengths.max() / max(float(np.median(lengths)), 1e-9))


def _shelves(sizes: Sequence[Floats]) -> list[Floats]:
    """Corners of boxes that stand side by side on shelves, as wide together as a page is."""
    area = sum((width + _GAP) * (height + _GAP) for width, height in sizes)
    widest = max(float(np.sqrt(_ASPECT * area)), *(float(width) for width, _ in sizes))
    corners: list[Floats] = []
    x = y = tallest = 0.0
    for width, height in sizes:
        if x and x + width > widest:
            x, y, tallest = 0.0, y + tallest + _GAP, 0.0
        corners.append(np.array([x, y]))
        x, tallest = x + float(width) + _GAP, max(tallest, float(height))
    return corners


def turned(place: Floats, aspect: float = _ASPECT) -> Floats:
    """The same positions, turned so that they fill a page of this aspect best."""
    angles = np.arange(36) * np.pi / 36
    turns = [np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) for a in angles]
    layouts = [np.asarray(place) @ turn for turn in turns]
    need = [round(float((np.ptp(layout, axis=0) / (aspect, 1.0)).max()), 6) for layout in layouts]
    return np.asarray(layouts[int(np.argmin(need))])


def across(place: Floats) -> Floats:
    """The same positions around the origin, turned so that the longer direction of the drawing is the first."""
    centred = np.asarray(place, dtype=np.float64) - np.mean(place, axis=0)
    directions = np.linalg.svd(centred, full_matrices=True)[2]
    return np.asarray(centred @ directions.T)


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


def _pivot_layout(adjacency: csr_array, num_nodes: int) -> Floats:
    """Positions by distances from nodes that are far from each other."""
    pivots = [0]
    rows = [shortest_path(adjacency, directed=False, unweighted=True, indices=0)]
    while len(pivots) < _PIVOTS:
        nearest = np.min(rows, axis=0)
        pivots.append(int(np.argmax(nearest)))
        rows.append(shortest_path(adjacency, directed=False, unweighted=True, indices=pivots[-1]))
    squares = np.stack(rows, axis=1) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    vectors = np.linalg.svd(centred, full_matrices=False)[2][:2].T
    place = _with_fixed_signs(centred @ vectors)
    # Distances like those in the graph: the longest of them is right.
    length = float(np.max(_apart(place[pivots])))
    return np.asarray(place * (np.sqrt(squares.max()) / length if length > 0 else 1.0) + _spiral(num_nodes))
