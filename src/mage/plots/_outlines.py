"""Outlines of regions of pixels, as polygons that stay sharp at any size."""

from __future__ import annotations

import numpy as np

from mage._core.typing import Integers, Masks

# The four sides of a pixel, each with the region on its right: which neighbour must be outside, and the two corners.
_SIDES = (
    ((-1, 0), (0, 0), (0, 1)),
    ((0, 1), (0, 1), (1, 1)),
    ((1, 0), (1, 1), (1, 0)),
    ((0, -1), (1, 0), (0, 0)),
)


def outlines(mask: Masks) -> list[Integers]:
    """Closed polygons [k, 2] of (x, y) corners around a region, holes the other way round.

    Args:
        mask: Pixels of the region [h, w].
    """
    following = _sides(mask)
    loops = []
    while following:
        start = min(following)
        loop, direction = [start], (0, 1)
        while True:
            here = loop[-1]
            ends = following[here]
            # Where two corners of the region touch, the sharper turn keeps them two loops.
            turn = (direction[1], -direction[0])
            sharp = (here[0] + turn[0], here[1] + turn[1])
            step = ends.pop(ends.index(sharp) if sharp in ends else 0)
            if not ends:
                del following[here]
            direction = (step[0] - here[0], step[1] - here[1])
            if step == start:
                break
            loop.append(step)
        loops.append(_without_straight(np.array(loop)))
    return loops


def _sides(mask: Masks) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each corner on the boundary the corners that follow it."""
    padded = np.pad(np.asarray(mask, dtype=bool), 1)
    inside = padded[1:-1, 1:-1]
    following: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for (down, right), first, last in _SIDES:
        beyond = padded[1 + down : padded.shape[0] - 1 + down, 1 + right : padded.shape[1] - 1 + right]
        for row, column in np.argwhere(inside & ~beyond).tolist():
            start, end = (row + first[0], column + first[1]), (row + last[0], column + last[1])
            following.setdefault(start, []).append(end)
    return following


def _without_straight(corners: Integers) -> Integers:
    """Only the corners where the outline turns, as (x, y)."""
    before = corners - np.roll(corners, 1, axis=0)
    after = np.roll(corners, -1, axis=0) - corners
    turning = (np.sign(before) != np.sign(after)).any(axis=1)
    return np.asarray(corners[turning][:, ::-1], dtype=np.int64)
