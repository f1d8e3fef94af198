"""From a picture to the numbers that an image classifier was trained on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mage._core.optional import require

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEVIATION = (0.229, 0.224, 0.225)
_BICUBIC = 3
_MOST_PIXELS = 100_000_000
# Processors of Hugging Face that do more than resize, crop, scale and normalise, or do it by rules of their own.
_STRANGE_KEYS = ("rescale_offset", "include_top", "do_pad", "do_flip_channel_order")
_STRANGE_KINDS = ("EfficientNet", "Levit", "Perceiver")
# Those for which one number is both sides; for others it is the shorter one if a crop follows.
_SQUARE_KINDS = ("Beit", "DeiT", "ViT")


@dataclass(frozen=True)
class Preparation:
    """How images are prepared for a classifier: resized, cropped, scaled and normalised.

    Args:
        size: Height and width of what the model takes.
        resize: Height and width before the crop; one number is the shorter side, and None leaves the image as it is.
        mean: Subtracted from each channel, after scaling; three numbers for colour, one for grey.
        deviation: Divides each channel.
        scale: Multiplies bytes 0 … 255.
        resample: Pillow's number of the interpolation.
    """

    size: tuple[int, int]
    resize: tuple[int, int] | int | None = None
    mean: tuple[float, ...] = IMAGENET_MEAN
    deviation: tuple[float, ...] = IMAGENET_DEVIATION
    scale: float = 1 / 255
    resample: int = _BICUBIC

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> Preparation:
        """What a ``preprocessor_config.json`` of Hugging Face says."""
        kind = str(config.get("image_processor_type") or config.get("feature_extractor_type") or "")
        strange = [key for key in _STRANGE_KEYS if config.get(key)] + [kind] * kind.startswith(_STRANGE_KINDS)
        if strange:
            raise ValueError(
                f"preprocessor_config.json: {strange[0]} is not supported; prepare the image and pass a tensor"
            )
        size, crop = config.get("size", 224), config.get("crop_size")
        share = config.get("crop_pct")
        if isinstance(size, int):
            square = kind.startswith(_SQUARE_KINDS) or (share is None and not config.get("do_center_crop"))
            size = {"height": size, "width": size} if square else {"shortest_edge": size}
        whole = size.get("shortest_edge")
        resize: tuple[int, int] | int | None = (size["height"], size["width"]) if whole is None else int(whole)
        final = (crop, crop) if isinstance(crop, int) else (crop["height"], crop["width"]) if crop else None
        if share is not None and whole is not None:
            # ConvNeXt's rule, which ResNet follows: small images keep a margin that is cut off, large ones none.
            final, resize = (whole, whole), int(whole / share) if whole < 384 else (whole, whole)
        elif not config.get("do_center_crop") or final is None:
            final = (resize, resize) if isinstance(resize, int) else resize
        if final is None or not config.get("do_resize", True):
            resize = None
        # A model without normalisation or scaling takes what it gets.
        normal = config.get("do_normalize", True)
        mean = tuple(config.get("image_mean", IMAGENET_MEAN)) if normal else (0.0, 0.0, 0.0)
        deviation = tuple(config.get("image_std", IMAGENET_DEVIATION)) if normal else (1.0, 1.0, 1.0)
        scale = float(config.get("rescale_factor", 1 / 255)) if config.get("do_rescale", True) else 1.0
        assert final is not None  # noqa: S101 (for the type checker: a size was found above)
        return cls(final, resize, mean, deviation, scale, int(config.get("resample", 2)))

    def picture(self, image: Any) -> NDArray[np.uint8]:
        """The part of an image that the model sees, as bytes [h, w, 3] or [h, w]."""
        return np.asarray(self._cut(image))

    def __call__(self, image: Any) -> Tensor:
        """The numbers [c, h, w] that the model takes, of a file, a Pillow image or an array of bytes."""
        pixels = torch.from_numpy(self.picture(image).copy()).float()
        channels = pixels.unsqueeze(0) if pixels.dim() == 2 else pixels.movedim(2, 0)
        mean, deviation = (torch.tensor(numbers).view(-1, 1, 1) for numbers in (self.mean, self.deviation))
        return (channels * self.scale - mean) / deviation

    def colour(self, name: str) -> list[float]:
        """A colour by name or as ``#rrggbb``, in the units of prepared images."""
        try:
            colour = require("PIL.ImageColor", "image").getcolor(name, "L" if len(self.mean) == 1 else "RGB")
        except ValueError as error:
            raise ValueError(f"fill: {name!r} is no colour; try black, white, grey or #rrggbb") from error
        parts = (colour,) if isinstance(colour, int) else colour
        numbers = zip(parts, self.mean, self.deviation, strict=True)
        return [(part * self.scale - mean) / deviation for part, mean, deviation in numbers]

    def _cut(self, image: Any) -> Any:
        opened = read_image(image).convert("L" if len(self.mean) == 1 else "RGB")
        height, width = self.size
        if self.resize is not None:
            opened = opened.resize(self._resized(*opened.size), self.resample)
        if opened.width < width or opened.height < height:
            raise ValueError(f"image: {opened.width} × {opened.height} pixels, but the model takes {width} × {height}")
        left, top = (opened.width - width) // 2, (opened.height - height) // 2
        return opened.crop((left, top, left + width, top + height))

    def _resized(self, width: int, height: int) -> tuple[int, int]:
        if not isinstance(self.resize, int):
            assert self.resize is not None  # noqa: S101 (for the type checker: the caller has checked)
            return self.resize[1], self.resize[0]
        share = self.resize / min(width, height)
        return max(self.resize, math.floor(width * share)), max(self.resize, math.floor(height * share))


def read_image(image: Any) -> Any:
    """A Pillow image, of a file, of an array of bytes [h, w] or [h, w, 3], or of itself; turned upright."""
    pillow = require("PIL.Image", "image")
    if isinstance(image, str | Path):
        path = Path(image)
        if not path.is_file():
            raise FileNotFoundError(f"image: the file {path} does not exist")
        try:
            with pillow.open(path) as opened:
                if opened.width * opened.height > _MOST_PIXELS:
                    raise ValueError(f"image: {path.name} has {opened.width} × {opened.height} pixels; make it smaller")
                return require("PIL.ImageOps", "image").exif_transpose(opened).copy()
        except (OSError, SyntaxError, pillow.DecompressionBombError) as error:
            raise ValueError(f"image: {path} cannot be read as a picture: {error}") from error
    if isinstance(image, pillow.Image):
        return image
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise ValueError(
            f"image must be a file, a Pillow image or bytes [h, w] or [h, w, 3]; got {array.dtype} {list(array.shape)}"
        )
    return pillow.fromarray(array)
