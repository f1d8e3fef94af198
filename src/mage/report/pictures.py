"""Pictures as plain text for pages: PNG as a data URI, regions as run lengths."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from mage._core.typing import AnyArray


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
