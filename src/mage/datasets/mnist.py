"""MNIST75SP: digits as graphs of at most 75 super-pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from mage._core.optional import require
from mage.datasets._cache import cached
from mage.datasets._sources import Source, SourceFile, read_bytes
from mage.datasets._truth import motif_numbers
from mage.datasets._unpickle import DamagedFileError
from mage.datasets.dataset import Columns

_BRIGHTEST = 15
_ADDRESS = "https://ossci-datasets.s3.amazonaws.com/mnist"
_DIGESTS = {
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
}
SOURCE = Source(
    "mnist",
    tuple(SourceFile(name, f"sha256:{digest}", f"{_ADDRESS}/{name}.gz") for name, digest in _DIGESTS.items()),
    home="http://yann.lecun.com/exdb/mnist/",
    licence="none stated",
)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An array of bytes in MNIST's own format."""
    content = read_bytes(path)
    dimensions = content[3] if len(content) > 3 else 0
    header = 4 + 4 * dimensions
    shape = tuple(np.frombuffer(content[4:header], dtype=">u4").tolist())
    if content[:3] != b"\x00\x00\x08" or len(content) != header + int(np.prod(shape, dtype=np.int64)):
        raise DamagedFileError(f"{path} is not an MNIST file")
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)


def images(files: dict[str, Path]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All 70,000 digits and their classes; the 10,000 test images come first, as in the paper."""
    parts = ("t10k", "train")
    pictures = np.concatenate([read_idx(files[f"{part}-images-idx3-ubyte"]) for part in parts])
    labels = np.concatenate([read_idx(files[f"{part}-labels-idx1-ubyte"]) for part in parts])
    return pictures, labels.astype(np.int64)


def superpixels(files: dict[str, Path], workers: int = 1, limit: int | None = None) -> Columns:
    """MNIST75SP; ``limit`` takes the first images only."""
    skimage = require("skimage", "mnist")
    pictures, labels = images(files)
    pictures, labels = pictures[:limit], labels[:limit]

    def make() -> dict[str, NDArray[np.generic]]:
        from mage.image.superpixels import superpixel_graphs

        graphs = superpixel_graphs(pictures, workers)
        return {
            "x": graphs.x,
            "node_start": graphs.node_ptr,
            "edge_start": graphs.edge_ptr,
            "edge_index": graphs.edge_index.astype(np.uint8),
        }

    arrays = cached("mnist75sp", {"images": len(labels), "scikit-image": skimage.__version__, "version": 1}, make)
    edge_index = arrays["edge_index"].astype(np.int16)
    node_start, edge_start = arrays["node_start"], arrays["edge_start"]
    inside = _bright_edges(arrays["x"][:, 0], node_start, edge_start, edge_index)
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, inside)
    return Columns(
        node_start,
        edge_start,
        torch.from_numpy(edge_index),
        {"x": torch.from_numpy(arrays["x"]), "node_motif": torch.from_numpy(node_motif.astype(np.int8))},
        {"edge_motif": torch.from_numpy(edge_motif.astype(np.int8))},
        {"y": torch.from_numpy(labels)},
    )


def _bright_edges(
    intensity: NDArray[np.float32],
    node_start: NDArray[np.int64],
    edge_start: NDArray[np.int64],
    edge_index: NDArray[np.int16],
) -> NDArray[np.bool_]:
    """Edges among the 15 brightest super-pixels of a graph, or among all that are not black if those are fewer.

    Super-pixels as bright as the last one count too.
    """
    num_graphs = len(node_start) - 1
    owner = np.repeat(np.arange(num_graphs), np.diff(node_start))
    order = np.lexsort((-intensity, owner))
    rank = np.arange(len(owner)) - node_start[owner]
    lit = np.bincount(owner, intensity > 0, minlength=num_graphs).astype(np.int64)
    last = np.clip(np.minimum(_BRIGHTEST, lit) - 1, 0, None)
    threshold = intensity[order][rank == last[owner]]
    bright = (intensity >= threshold[owner]) & (intensity > 0)
    edge_owner = np.repeat(np.arange(num_graphs), np.diff(edge_start))
    ends = edge_index + node_start[edge_owner]
    both: NDArray[np.bool_] = bright[ends[0]] & bright[ends[1]]
    return both
