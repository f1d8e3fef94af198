"""Pictures for figures and pages: PNG as a data URI, regions as run lengths and as outlines that stay sharp."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from mage._core.typing import AnyArray, Integers, Masks

# The four sides of a pixel, each with the region on its right: which neighbour must be outside, and the two corners.
_SIDES = (
    ((-1, 0), (0, 0), (0, 1)),
    ((0, 1), (0, 1), (1, 1)),
    ((1, 0), (1, 1), (1, 0)),
    ((0, -1), (1, 0), (0, 0)),
)


def encode_runs(labels: AnyArray) -> list[int]:
    """Run-length code of whole numbers: value, length, value, length and so on."""
    flat = np.asarray(labels).ravel()
    if not len(flat):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(flat)) + 1])
    lengths = np.diff(np.concatenate([starts, [len(flat)]]))
    return [int(number) for number in np.stack([flat[starts], lengths], axis=1).ravel()]


def decode_runs(runs: list[int], shape: tuple[int, int]) -> NDArray[np.int64]:
    """What :func:`encode_runs` coded, in the given shape."""
    pairs = np.asarray(runs, dtype=np.int64).reshape(-1, 2)
    return np.repeat(pairs[:, 0], pairs[:, 1]).reshape(shape)


def png_uri(pixels: NDArray[np.uint8]) -> str:
    """A PNG as a data URI, of bytes [height, width], [height, width, 3] or [height, width, 4]."""
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    colour = {1: 0, 3: 2, 4: 6}[channels]
    rows = np.ascontiguousarray(pixels).reshape(height, width * channels)
    # Each row begins with the number of its filter: 0, none.
    body = np.concatenate([np.zeros((height, 1), dtype=np.uint8), rows], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    blocks = _block(b"IHDR", header) + _block(b"IDAT", zlib.compress(body, 9)) + _block(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + blocks).decode()


def _block(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


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
            corner = loop[-1]
            ends = following[corner]
            # Where two corners of the region touch, the sharper turn keeps them two loops.
            turn = (direction[1], -direction[0])
            sharp = (corner[0] + turn[0], corner[1] + turn[1])
            step = ends.pop(ends.index(sharp) if sharp in ends else 0)
            if not ends:
                del following[corner]
            direction = (step[0] - corner[0], step[1] - corner[1])
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
