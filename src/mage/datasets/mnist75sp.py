"""MNIST75SP: digits as graphs of at most 75 super-pixels, each made when it is first needed."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mage._core.optional import require
from mage.datasets.cache import CachedRows
from mage.datasets.columns import Columns, Indices, LazyColumns
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, PaperFigures, published
from mage.datasets.ground_truth import motif_numbers
from mage.datasets.mnist import SOURCE, read_digits
from mage.datasets.training_plans import NetworkPlans, TrainingPlan
from mage.explanation.subject import ImageSubject

_BRIGHTEST = 15
_NUM_FEATURES = 5


def build(root: DataRoot, *, workers: int = 1, limit: int | None = None) -> Content:
    """All digits as graphs that are not made yet.

    Args:
        root: Where MNIST's files are looked for.
        workers: Processes that make the graphs.
        limit: Take the first so many digits only.
    """
    files = root.files(SOURCE)
    images, labels = read_digits(files)
    return published(superpixel_columns(images, labels[:limit], workers), files)


def superpixel_columns(images: NDArray[np.uint8], labels: Indices, workers: int = 1) -> LazyColumns:
    """Graphs of super-pixels of the first images, as many as there are labels.

    What takes time is the segmentation of an image, about 4 ms. It is done when the graph is first needed, and kept on
    disk for the next time.
    """
    skimage = require("skimage", "mnist")
    digest = hashlib.sha256(images.tobytes()).hexdigest()
    determined_by = {"images": digest, "scikit-image": skimage.__version__, "version": 2}
    cache = CachedRows("mnist75sp", determined_by, (len(images), images[0].size))
    make = _SuperpixelGraphs(images, labels, cache, workers)
    identity = f"mnist75sp {sorted(determined_by.items())} {len(labels)}"
    return LazyColumns(labels, _NUM_FEATURES, make, identity, make.subject)


class _SuperpixelGraphs:
    """Makes graphs of images; a class and no closure, so that a dataset can be sent to other processes."""

    def __init__(self, images: NDArray[np.uint8], labels: Indices, cache: CachedRows, workers: int) -> None:
        self.images = images
        self.labels = labels
        self.cache = cache
        self.workers = workers

    def __call__(self, positions: Indices) -> Columns:
        """The graphs at some positions."""
        from mage.image.superpixels import graphs_of_segments

        images = self.images[positions]
        graphs = graphs_of_segments(images, self.segments(positions).reshape(images.shape))
        edge_index = graphs.edge_index.astype(np.int16)
        inside = _bright_edges(graphs.x[:, 0], graphs.node_ptr, graphs.edge_ptr, edge_index)
        node_motif, edge_motif = motif_numbers(graphs.node_ptr, graphs.edge_ptr, edge_index, inside)
        return Columns.of_arrays(
            graphs.node_ptr,
            graphs.edge_ptr,
            edge_index,
            {"x": graphs.x, "node_motif": node_motif.astype(np.int8)},
            {"edge_motif": edge_motif.astype(np.int8)},
            {"y": self.labels[positions]},
        )

    def subject(self, position: int) -> ImageSubject:
        """The digit of a graph, with its super-pixels."""
        image = self.images[position]
        return ImageSubject.of(image, self.segments(np.array([position])).reshape(image.shape).astype(np.int32))

    def segments(self, positions: Indices) -> NDArray[Any]:
        """For each pixel of some images the number of its super-pixel; one row per image."""
        from mage.image.superpixels import segment_images

        content, is_there = self.cache.read(positions)
        is_there &= _is_whole(content)
        missing = np.flatnonzero(~is_there)
        for order, segments in segment_images(self.images[positions[missing]], self.workers):
            rows = missing[order]
            content[rows] = segments.reshape(len(segments), -1) + 1  # zeros say that a row is not there
            self.cache.write(positions[rows], content[rows])
        return content - 1


def _is_whole(content: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which rows hold the numbers 1, 2, … without a gap; others are damaged."""
    occurs = np.zeros((len(content), 256), dtype=bool)
    occurs[np.arange(len(content))[:, None], content] = True
    return np.asarray(occurs[:, 1:].sum(axis=1) == content.max(axis=1, initial=0))


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
    num_lit = np.bincount(owner, intensity > 0, minlength=num_graphs).astype(np.int64)
    last = np.clip(np.minimum(_BRIGHTEST, num_lit) - 1, 0, None)
    threshold = intensity[order][rank == last[owner]]
    is_bright = (intensity >= threshold[owner]) & (intensity > 0)
    edge_owner = np.repeat(np.arange(num_graphs), np.diff(edge_start))
    ends = edge_index + node_start[edge_owner]
    between_bright: NDArray[np.bool_] = is_bright[ends[0]] & is_bright[ends[1]]
    return between_bright


INFO = DatasetInfo(
    name="mnist75sp",
    title="MNIST75SP",
    class_names=tuple(str(digit) for digit in range(10)),
    truth="the 15 brightest super-pixels",
    settings=ExplanationSettings("zero", "logit", limit=200),
    build=build,
    options=("workers", "limit"),
    source=SOURCE,
    paper=PaperFigures(graphs=70_000, nodes=70.57, edges=295.25, gcn=82.44, gin=89.43, gat=94.64),
    networks=NetworkPlans(
        TrainingPlan(epochs=12, learning_rate=5e-3),
        {"gcn": {"epochs": 25, "learning_rate": 1e-2}, "gat": {"epochs": 11}},
    ),
    extra="mnist",
    remark="SLIC changed with scikit-image 0.17: fewer super-pixels than in the paper, hence fewer edges",
)
