"""Images cut into regions: a grid of patches or super-pixels, which of them touch, and what hides them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mage._core.checks import checked_whole
from mage._core.typing import AnyArray, Integers

FILLS = ("mean", "blur")
_BLUR = 0.1
"""Standard deviation of the blur as a share of the longer side: nothing smaller than a patch survives it."""


def grid_segments(height: int, width: int, patches: Any) -> tuple[Integers, list[str]]:
    """Label map [h, w] of a grid of patches, numbered row by row, and their names, counted from 1."""
    try:
        rows, columns = (checked_whole("patches", count) for count in patches)
    except (TypeError, ValueError):
        raise ValueError(f"patches must be two whole numbers, rows and columns, got {patches!r}") from None
    if rows > height or columns > width:
        raise ValueError(f"patches: {rows} × {columns} are more than the {height} × {width} pixels of the image")
    # Where the sides do not divide, patches differ by a pixel at most.
    row = np.arange(height) * rows // height
    column = np.arange(width) * columns // width
    names = [f"row {i + 1}, column {j + 1}" for i in range(rows) for j in range(columns)]
    return row[:, None] * columns + column[None, :], names


def checked_segments(segments: Any, height: int, width: int) -> tuple[Integers, list[str]]:
    """A user's label map with labels 0, 1, …, and names that keep the user's own labels; negative ones stay −1."""
    labels = np.asarray(segments.detach().cpu() if hasattr(segments, "detach") else segments)
    if labels.shape != (height, width):
        raise ValueError(f"segments must have the image's shape [{height}, {width}], got {list(labels.shape)}")
    if not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"segments must be whole numbers, one region's number per pixel, got {labels.dtype}")
    numbers, place = np.unique(labels, return_inverse=True)
    outside = int((numbers < 0).sum())
    if outside == len(numbers):
        raise ValueError("segments: no pixel belongs to a region; numbers below 0 are pixels that stay as they are")
    return np.maximum(place.reshape(labels.shape) - outside, -1), [f"segment {label}" for label in numbers[outside:]]


def adjacent_regions(segments: AnyArray) -> Integers:
    """Pairs [e, 2] of regions that share a side of a pixel, the smaller number first."""
    down = np.stack([segments[:-1].ravel(), segments[1:].ravel()], axis=1)
    across = np.stack([segments[:, :-1].ravel(), segments[:, 1:].ravel()], axis=1)
    pairs = np.sort(np.concatenate([down, across]), axis=1)
    return np.unique(pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs[:, 0] >= 0)], axis=0).astype(np.int64)


def background(image: Tensor, fill: Any) -> Tensor:
    """What stands where regions are hidden, [c, h, w].

    Args:
        image: The image [c, h, w].
        fill: ``"mean"`` (the image's mean colour), ``"blur"`` (the image blurred until patches are gone), one number or
            c numbers in the image's own units, or a whole image [c, h, w].
    """
    if isinstance(fill, str):
        if fill == "mean":
            return image.mean(dim=(1, 2), keepdim=True).expand_as(image)
        if fill == "blur":
            return _blurred(image)
        raise ValueError(f"fill must be one of {', '.join(FILLS)}, a colour or an image; got {fill!r}")
    channels = len(image)
    try:
        colour = torch.as_tensor(fill, dtype=image.dtype, device=image.device)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"fill must be one of {', '.join(FILLS)}, a colour or an image; got {fill!r}") from None
    if colour.dim() == 0 or colour.shape == (channels,):
        colour = colour.reshape(-1, 1, 1).expand_as(image)
    if colour.shape != image.shape or not bool(colour.isfinite().all()):
        raise ValueError(
            f"fill must be {channels} finite numbers, a colour, or an image {list(image.shape)}; "
            f"got shape {list(colour.shape)}"
        )
    return colour


def _blurred(image: Tensor) -> Tensor:
    """A Gaussian blur, one side after the other; beyond the edge the image goes on as a mirror."""
    blurred = image
    deviation = _BLUR * max(image.shape[1:])
    for axis in (1, 2):
        length = image.shape[axis]
        places = torch.arange(length, dtype=image.dtype, device=image.device)
        # All mirror images of a pixel within four deviations; a matrix handles short sides as well as long ones.
        weights = torch.zeros(length, length, dtype=image.dtype, device=image.device)
        for turn in range(-int(4 * deviation / length) - 1, int(4 * deviation / length) + 2):
            mirrored = places if turn % 2 == 0 else length - 1 - places
            distance = places[:, None] - (mirrored + turn * length)[None, :]
            weights = weights + torch.exp(-((distance / deviation) ** 2) / 2)
        weights = weights / weights.sum(dim=1, keepdim=True)
        blurred = torch.tensordot(weights, blurred, dims=([1], [axis])).movedim(0, axis)
    return blurred


def described(fill: Any) -> str:
    """A fill in a few words, for explanations."""
    if isinstance(fill, str):
        return fill
    shape: Sequence[int] = np.shape(fill.detach().cpu() if hasattr(fill, "detach") else fill)
    return "image" if len(shape) == 3 else "colour"
