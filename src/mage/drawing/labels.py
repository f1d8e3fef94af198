"""Names beside nodes, put where they cover least: other names, nodes, edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mage._core.typing import Floats, Integers
from mage.drawing.scene import LABEL_SIZE, Label
from mage.drawing.type_widths import clipped, text_width

_LONGEST = 14  # letters
_SHORTEST_OUTSIDE = 4  # names of fewer letters stand in the node
_HEIGHT = LABEL_SIZE + 2.5
_STEPS = (0.25, 0.4, 0.5, 0.6, 0.75)  # points of an edge that a name may cover
_ON_NAME, _ON_NODE, _ON_EDGE = 100.0, 30.0, 1.0
_ROUNDS = 3


def place_labels(
    names: Sequence[str], places: Floats, edges: Integers, radius: float, written: Sequence[int] | None = None
) -> tuple[tuple[Label, ...], int]:
    """Names of nodes, and how many of those that are written cover another one or a node.

    Args:
        names: A name per node.
        places: Positions of the nodes [n, 2], y downwards.
        edges: Pairs of nodes [m, 2].
        radius: Of a node.
        written: Nodes whose names are written; by default all. Other names are placed too, but not counted.
    """
    texts = [clipped(name, _LONGEST) for name in names]
    if radius > 9 and all(len(text) < _SHORTEST_OUTSIDE for text in texts):
        return tuple(Label(text, 0.0, 0.0, inside=True) for text in texts), 0
    widths = np.array([text_width(text, LABEL_SIZE) for text in texts])
    half = np.stack([widths / 2, np.full(len(texts), _HEIGHT / 2)], axis=1)
    spots = np.stack([_spots(width, radius) for width in widths]) if texts else np.zeros((0, 1, 2))
    points = _points(places, edges)
    costs = np.zeros((len(texts), spots.shape[1]))
    for node in range(len(texts)):
        middles = places[node] + spots[node]
        others = np.delete(places, node, axis=0)
        covered = np.abs(others[None] - middles[:, None]) < half[node] + radius
        costs[node] = _ON_NODE * covered.all(axis=2).sum(axis=1)
        costs[node] += _ON_EDGE * (np.abs(points[None] - middles[:, None]) < half[node] + 1).all(axis=2).sum(axis=1)
        costs[node] += 0.01 * np.arange(len(middles))  # the first place is the usual one
    counted = np.isin(np.arange(len(texts)), np.arange(len(texts)) if written is None else np.array(written, dtype=int))
    best = costs.argmin(axis=1) if texts else np.zeros(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        for node in range(len(texts)):
            middles = places[node] + spots[node]
            at = places + spots[np.arange(len(texts)), best]
            overlap = (np.abs(at[None] - middles[:, None]) < half[node] + half[None]).all(axis=2)
            overlap[:, node] = False
            overlap &= counted
            best[node] = int(np.argmin(costs[node] + _ON_NAME * overlap.sum(axis=1)))
    picked = np.arange(len(texts)), best
    at = places + spots[picked]
    overlap = (np.abs(at[None] - at[:, None]) < half[:, None] + half[None]).all(axis=2) & counted
    num_hidden = int((counted & (overlap.sum(axis=1) > 1)).sum() + (counted & (costs[picked] >= _ON_NODE)).sum())
    moves = spots[picked].tolist()
    return tuple(Label(text, x, y, inside=False) for text, (x, y) in zip(texts, moves, strict=True)), num_hidden


def _spots(width: float, radius: float) -> Floats:
    """Where the middle of a name may stand, as seen from its node: below, above, beside, and between."""
    down, side = radius + 2 + _HEIGHT / 2, radius + 4 + width / 2
    slant = 0.6 * radius + width / 2
    beside = [(slant, down - 3), (-slant, down - 3), (slant, 3 - down), (-slant, 3 - down)]
    return np.array([(0, down), (0, -down), (side, 0), (-side, 0), *beside])


def _points(places: Floats, edges: Integers) -> Floats:
    """Points on the edges."""
    if not len(edges):
        return np.zeros((0, 2))
    start, end = places[edges[:, 0]], places[edges[:, 1]]
    return np.concatenate([start + share * (end - start) for share in _STEPS])
