"""Fewer crossings in drawings of small graphs: nodes are moved one by one to places that are less in the way."""

from __future__ import annotations

import importlib

import numpy as np

from mage._core.typing import Floats, Integers, Masks

_PASSES = 40
_LAST_PASSES = 12  # once there is no tangle left
_NEAR = 0.3  # of an edge's length: nodes that lie nearer to an edge of others seem to be on it
_TOUCHING = 0.42  # of an edge's length: circles of nodes that lie nearer to each other touch or cover each other
_WORSE = 1000  # a covered node is worse than any crossings, which covering would hide
_SHARES = (1.0, 0.5, 0.2)
_ANGLES = 16
_RADII = (0.8, 1.3, 2.0)
_MOST_WORK = 10_000_000  # comparisons of edges and places: about half a second, whatever the graph


def num_crossings(place: Floats, pairs: Integers) -> int:
    """Pairs of edges that cross; edges that share an end do not.

    Args:
        place: Positions of the nodes [n, 2].
        pairs: Edges [m, 2], each once, without self-loops.
    """
    if len(pairs) < 2:
        return 0
    start, end = place[pairs[:, 0]], place[pairs[:, 1]]
    crossing = _cross(start[:, None], end[:, None], start[None], end[None])
    shared = (pairs[:, None, :, None] == pairs[None, :, None, :]).any(axis=(2, 3))
    return int((crossing & ~shared).sum()) // 2


def tangles(place: Floats, pairs: Integers) -> int:
    """Crossings of edges, nodes that lie on an edge of others, and nodes that cover each other."""
    nodes = np.arange(len(place))
    on_edges, on_nodes = _on_edges(place, nodes, place, pairs).sum(), _on_nodes(place, nodes, place).sum() // 2
    return num_crossings(place, pairs) + int(on_edges + _WORSE * on_nodes)


def untangled(place: Floats, pairs: Integers, distance: Floats, weight: Floats, strict: bool = True) -> Floats:
    """Positions with fewer tangles, and of those with as many with less stress; O(n m) per pass.

    Args:
        place: Positions to begin with [n, 2].
        pairs: Edges [m, 2], each once, without self-loops.
        distance: Wanted distances [n, n].
        weight: How much each counts [n, n]; 0 on the diagonal.
        strict: Whether one tangle less is worth any stress, as in planar graphs; else it is worth a little.
    """
    work = 0
    place = np.array(place, dtype=np.float64)
    turn = 2 * np.pi * np.arange(_ANGLES) / _ANGLES
    ring = np.concatenate([r * np.stack([np.cos(turn), np.sin(turn)], axis=1) for r in _RADII])
    clean = 0
    for _ in range(_PASSES):
        before = place.copy()
        tangled = False
        for node in range(len(place)):
            position = place[node]
            spots = position + np.array((0.0, *_SHARES))[:, None] * (_wanted(node, place, distance, weight) - position)
            counts = _tangles_at(node, spots, place, pairs)
            tangled |= bool(counts[0])
            if counts[0] and work < _MOST_WORK:
                beside = pairs[(pairs == node).any(axis=1)].sum(axis=1) - node
                around = np.concatenate([place[v] + ring for v in (*beside[:3].tolist(), node)])
                work += len(around) * len(beside) * (len(pairs) + len(place))
                spots = np.concatenate([spots, around])
                counts = np.concatenate([counts, _tangles_at(node, around, place, pairs)])
            stress = (weight[node] * (np.linalg.norm(spots[:, None] - place, axis=2) - distance[node]) ** 2).sum(axis=1)
            stress = np.round(stress, 9)  # places that are as good as others do not depend on the machine
            place[node] = spots[np.lexsort((stress, counts if strict else counts + stress))[0]]
        clean += not tangled
        if clean == _LAST_PASSES or np.abs(place - before).max() < 1e-3:
            break
    return place


def planar_start(pairs: Integers, num_nodes: int) -> Floats | None:
    """Positions of a connected planar graph without crossings; None for other graphs, and without networkx.

    The drawing of Chrobak and Payne ("A linear-time algorithm for drawing a planar graph on a grid", 1995).
    """
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        return None
    graph = networkx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(pairs.tolist())
    is_planar, embedding = networkx.check_planarity(graph)
    if not is_planar:
        return None
    spots = networkx.combinatorial_embedding_to_pos(embedding)
    place = np.array([spots[node] for node in range(num_nodes)], dtype=np.float64)
    length = np.linalg.norm(place[pairs[:, 0]] - place[pairs[:, 1]], axis=1)
    return np.asarray(place / max(float(np.median(length)), 1.0))


def _wanted(node: int, place: Floats, distance: Floats, weight: Floats) -> Floats:
    """Where a node has less stress, the others staying where they are."""
    away = place[node] - place
    apart = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
    goal = place + away * (distance[node] / apart)[:, None]
    return np.asarray((weight[node][:, None] * goal).sum(axis=0) / weight[node].sum())


def _tangles_at(node: int, spots: Floats, place: Floats, pairs: Integers) -> Integers:
    """Tangles that a node takes part in at each of several places [k]."""
    incident = (pairs == node).any(axis=1)
    others = pairs[~incident]
    ends = pairs[incident].sum(axis=1) - node
    nodes = np.full(len(spots), node)
    count = _on_edges(spots, nodes, place, pairs).sum(axis=1) + _WORSE * _on_nodes(spots, nodes, place).sum(axis=1)
    if len(ends) and len(others):
        crossing = _cross(
            spots[:, None, None],
            place[ends][None, :, None],
            place[others[:, 0]][None, None],
            place[others[:, 1]][None, None],
        )
        shared = (others[None, :, :] == ends[:, None, None]).any(axis=2)
        count = count + (crossing & ~shared[None]).sum(axis=(1, 2))
    if len(ends):
        # Other nodes on its edges.
        start, end = spots[:, None, None], place[ends][None, :, None]
        near = _near(place[None, None], start, end)
        near[:, :, node] = False
        near[:, np.arange(len(ends)), ends] = False
        count = count + near.sum(axis=(1, 2))
    return np.asarray(count, dtype=np.int64)


def _on_edges(spots: Floats, nodes: Integers, place: Floats, pairs: Integers) -> Masks:
    """Whether each of some nodes, put at a place of its own, lies on each edge [k, m]; never on its own edges."""
    near = _near(spots[:, None], place[pairs[:, 0]][None], place[pairs[:, 1]][None])
    return np.asarray(near & ~(pairs[None] == nodes[:, None, None]).any(axis=2))


def _on_nodes(spots: Floats, nodes: Integers, place: Floats) -> Masks:
    """Whether each of some nodes, put at a place of its own, covers each node [k, n]; never itself."""
    apart = np.linalg.norm(spots[:, None] - place[None], axis=2)
    return np.asarray((apart < _TOUCHING) & (nodes[:, None] != np.arange(len(place))))


def _near(spot: Floats, start: Floats, end: Floats) -> Masks:
    """Whether points lie near segments."""
    along = end - start
    square = np.maximum((along**2).sum(axis=-1), 1e-18)
    share = np.clip(((spot - start) * along).sum(axis=-1) / square, 0, 1)
    away = spot - start - share[..., None] * along
    return np.asarray((away**2).sum(axis=-1) < _NEAR**2)


def _cross(a: Floats, b: Floats, c: Floats, d: Floats) -> Masks:
    """Whether segments ab and cd cross."""

    def side(p: Floats, q: Floats, r: Floats) -> Floats:
        return np.asarray(
            (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
        )

    return np.asarray((side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0))
