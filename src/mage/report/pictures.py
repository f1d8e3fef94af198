"""Images inside explanations: the picture that super-pixels or patches were cut from, kept as plain values."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mage._core.typing import AnyArray

if TYPE_CHECKING:
    from mage.explanation import Explanation

_LONGEST_SIDE = 512  # pixels; larger images are reduced, or the page would grow by megabytes


def attach_image(explanation: Explanation, image: Any, segments: Any) -> Explanation:
    """The explanation together with the image its nodes are regions of; its page then shows the motifs on the image.

    Adds ``extra["image"]``, a PNG as a data URI, and ``extra["segments"]``, ``{"shape": [height, width], "labels":
    runs}``: the runs are value, length, value, length, … over the pixels row by row; −1 stands for no region. Both
    are saved with the explanation.

    Args:
        explanation: Its nodes are the regions (super-pixels, patches) of the image.
        image: [height, width] (grey) or [height, width, 3 or 4]: whole numbers 0 … 255 or floats in [0, 1]; an array,
            a tensor, or a Pillow image.
        segments: For each pixel the number of its node [height, width]; −1 for none.

    Returns:
        A new explanation; the given one stays as it is.
    """
    pixels = _as_bytes(image)
    labels = np.asarray(segments.detach().cpu() if hasattr(segments, "detach") else segments)
    if labels.shape != pixels.shape[:2]:
        raise ValueError(f"segments must have the image's shape {list(pixels.shape[:2])}, got {list(labels.shape)}")
    if not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"segments must be whole numbers, got {labels.dtype}")
    if labels.min(initial=-1) < -1 or labels.max(initial=-1) >= explanation.num_nodes:
        raise ValueError(
            f"segments must hold nodes 0 … {explanation.num_nodes - 1}, or −1 for none; "
            f"got {labels.min()} … {labels.max()}"
        )
    step = -(-max(labels.shape) // _LONGEST_SIDE)
    pixels, labels = _reduced(pixels, step), labels[step // 2 :: step, step // 2 :: step]
    runs = {"shape": list(labels.shape), "labels": encode_runs(labels)}
    return replace(explanation, extra={**explanation.extra, "image": png_uri(pixels), "segments": runs})


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


def _as_bytes(image: Any) -> NDArray[np.uint8]:
    array = np.asarray(image.detach().cpu() if hasattr(image, "detach") else image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or array.size == 0:
        raise ValueError(f"image must have shape [h, w], [h, w, 3] or [h, w, 4], got {list(array.shape)}")
    if array.dtype == np.bool_:
        array = array.astype(np.float64)
    if np.issubdtype(array.dtype, np.floating):
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise ValueError(f"image: floats must lie in [0, 1], got {array.min():g} … {array.max():g}")
        return np.round(255 * array).astype(np.uint8)
    if array.min() < 0 or array.max() > 255:
        raise ValueError(f"image: whole numbers must lie in 0 … 255, got {array.min()} … {array.max()}")
    return array.astype(np.uint8)


def _reduced(pixels: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """The image at one pixel for each square of ``step`` pixels, their mean; odd margins are cut with the labels."""
    if step == 1:
        return pixels
    # Squares whose middle pixel exists; squares over the edge take the mean of what there is of them.
    rows = range(0, pixels.shape[0] - step // 2, step)
    columns = range(0, pixels.shape[1] - step // 2, step)
    sums = np.add.reduceat(np.add.reduceat(pixels.astype(np.float64), list(rows), axis=0), list(columns), axis=1)
    counts = np.add.reduceat(np.add.reduceat(np.ones(pixels.shape[:2]), list(rows), axis=0), list(columns), axis=1)
    return np.round(sums / (counts if pixels.ndim == 2 else counts[:, :, None])).astype(np.uint8)
