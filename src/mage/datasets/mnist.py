"""MNIST: the published digits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mage.datasets.dataset_info import DataRoot
from mage.datasets.pickles import DamagedFileError
from mage.datasets.published_files import PublishedFiles, files_at, read_bytes

_DIGESTS = {
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
}
SOURCE = PublishedFiles(
    "mnist",
    files_at("https://ossci-datasets.s3.amazonaws.com/mnist", _DIGESTS, ".gz"),
    home="http://yann.lecun.com/exdb/mnist/",
    licence="none stated",
)

Digits = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Images [k, 28, 28] and their classes [k]."""


def load_digits(root: str | Path | None = None, *, download: bool = True) -> Digits:
    """All 70,000 digits and their classes; the 10,000 test images come first, as in the paper."""
    return read_digits(DataRoot(root, download).files(SOURCE))


def read_digits(files: Mapping[str, Path]) -> Digits:
    """The digits in MNIST's files, test images first."""
    parts = ("t10k", "train")
    images = np.concatenate([read_idx(files[f"{part}-images-idx3-ubyte"]) for part in parts])
    labels = np.concatenate([read_idx(files[f"{part}-labels-idx1-ubyte"]) for part in parts])
    return images, labels.astype(np.int64)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An array of bytes in MNIST's own format."""
    content = read_bytes(path)
    dimensions = content[3] if len(content) > 3 else 0
    header = 4 + 4 * dimensions
    shape = tuple(np.frombuffer(content[4:header], dtype=">u4").tolist())
    if content[:3] != b"\x00\x00\x08" or len(content) != header + int(np.prod(shape, dtype=np.int64)):
        raise DamagedFileError(f"{path} is not an MNIST file")
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)
