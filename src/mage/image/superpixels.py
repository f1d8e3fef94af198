"""Super-pixel graphs of grey-scale images: MNIST75SP as in the paper, built with scikit-image's SLIC."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mage._core.optional import require
from mage._core.progress import progress_bar
from mage._core.ragged import RaggedGraphs, concatenate, mapped, pointers
from mage._core.typing import AnyArray

MAX_SUPERPIXELS = 75
FIRST_REQUEST = 95
COMPACTNESS = 0.25
KERNEL_WIDTH = (0.1 * np.pi) ** 2
LEAST_ADJACENCY = 0.1
# Fixed, so that the work is cut the same way whatever the number of processes; large enough to hide their traffic.
CHUNK_SIZE = 250


def superpixel_graphs(images: AnyArray, workers: int = 1, progress: bool | None = None) -> RaggedGraphs:
    """Graphs of at most 75 super-pixels, one per image, after Knyazev et al. (2019), "Understanding attention".

    Nodes are SLIC super-pixels with their mean intensity in [0, 1], three times, and their centre of mass (row, column)
    divided by the image side: five float32 columns. Two super-pixels at a distance d are joined where
    exp(−d / (0.1π)²) > 0.1. The result is the same, byte for byte, for any number of workers.

    Args:
        images: Grey-scale images, uint8 [k, side, side].
        workers: Processes to use. More than one needs the ``if __name__ == "__main__"`` guard in a script.
        progress: True or False to force a progress bar; None shows it on a terminal only.
    """
    images = _checked(images, 3)
    segments = np.empty(images.shape, dtype=np.uint8)
    for positions, part in segment_images(images, workers, progress):
        segments[positions] = part
    return graphs_of_segments(images, segments)


def segment_images(
    images: AnyArray, workers: int = 1, progress: bool | None = None
) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
    """Label maps of images, several at a time: which images they are of, and their label maps; see :func:`segments`.

    Args:
        images: Grey-scale images, uint8 [k, side, side].
        workers: Processes to use.
        progress: True or False to force a progress bar; None shows it on a terminal, for more than a chunk of images.
    """
    images = _checked(images, 3)
    require("skimage.segmentation", "mnist")
    bar = progress if progress is not None or len(images) > CHUNK_SIZE else False
    chunks = [slice(start, start + CHUNK_SIZE) for start in range(0, len(images), CHUNK_SIZE)]
    with progress_bar("super-pixels", len(images), bar) as advance:
        maps = mapped(_chunk_segments, [images[chunk] for chunk in chunks], workers)
        for chunk, part in zip(chunks, maps, strict=True):
            yield chunk, part
            advance(len(part))


def segments(image: AnyArray) -> AnyArray:
    """Label map of one image: for each pixel the number of its super-pixel, which is its node in the graph."""
    image = _checked(image, 2)
    segmentation = require("skimage.segmentation", "mnist")
    labels: AnyArray = np.zeros(image.shape, dtype=np.int64)
    scaled = image / 255.0
    for request in _requests(image.shape):
        labels = segmentation.slic(
            scaled, n_segments=request, compactness=COMPACTNESS, channel_axis=None, start_label=0
        )
        if labels.max() < MAX_SUPERPIXELS:
            break
    return labels


def graphs_of_segments(images: AnyArray, segments: AnyArray) -> RaggedGraphs:
    """Graphs of images whose label maps are known; see :func:`superpixel_graphs`.

    Args:
        images: Grey-scale images, uint8 [k, side, side].
        segments: For each pixel the number of its super-pixel [k, side, side].
    """
    # An empty chunk still gives arrays of the right width and type.
    starts = range(0, max(len(images), 1), CHUNK_SIZE)
    chunks = [slice(start, start + CHUNK_SIZE) for start in starts]
    return concatenate(_chunk_graphs(images[chunk], segments[chunk].astype(np.int64)) for chunk in chunks)


@lru_cache(maxsize=8)
def _requests(shape: tuple[int, int]) -> tuple[int, ...]:
    """Numbers of segments worth asking for: 95, 94, … without those that must give the same labels as the one before.

    SLIC uses the number only to lay its first grid of centres, and many numbers share a grid: on 28 × 28 pixels
    95 to 65 do, so that the second request is 64. Skipping the repetitions gives the same labels six times faster.
    """
    regular_grid: Any = require("skimage.util", "mnist").regular_grid
    requests, last = [], None
    for request in range(FIRST_REQUEST, 0, -1):
        grid = [(part.start, part.step) for part in regular_grid((1, *shape), request)]
        if grid != last:
            requests.append(request)
        last = grid
    return tuple(requests)


def _chunk_segments(images: AnyArray) -> NDArray[np.uint8]:
    """Label maps of some images."""
    return np.array([segments(image) for image in images], dtype=np.uint8)


def _chunk_graphs(images: AnyArray, labels: AnyArray) -> RaggedGraphs:
    """Graphs of some images, everything after the segmentation for all of them at once."""
    count, side, _ = images.shape
    sizes = labels.reshape(count, side * side).max(axis=1, initial=-1) + 1
    node_ptr = pointers(sizes)

    nodes = (labels + node_ptr[:-1, None, None]).ravel()
    rows, columns = np.broadcast_to(np.indices((side, side))[:, None], (2, *images.shape))
    # Whole numbers until the one division: no rounding that could depend on the order of summation.
    sums = [np.bincount(nodes, values.ravel(), node_ptr[-1]) for values in (images, rows, columns)]
    intensity, row, column = np.array(sums) / np.bincount(nodes, minlength=node_ptr[-1])
    centres = np.stack([row, column], axis=1) / side
    x = np.column_stack([np.repeat(intensity[:, None] / 255.0, 3, axis=1), centres]).astype(np.float32)

    # Places that no super-pixel fills hold NaN, which is joined to nothing.
    places = np.arange(sizes.max(initial=0))
    padded = np.full((2, count, len(places)), np.nan)
    padded[:, places < sizes[:, None]] = centres.T
    down, across = padded[:, :, :, None] - padded[:, :, None]
    adjacency = np.exp(-np.sqrt(down**2 + across**2) / KERNEL_WIDTH)
    adjacency[:, places, places] = 0.0  # no self-loops
    graph, source, target = np.nonzero(adjacency > LEAST_ADJACENCY)
    edge_ptr = pointers(np.bincount(graph, minlength=count))
    return RaggedGraphs(x, node_ptr, np.stack([source, target]).astype(np.int32), edge_ptr)


def _checked(images: AnyArray, dimensions: int) -> AnyArray:
    images = np.asarray(images)
    shape = "[k, side, side]" if dimensions == 3 else "[side, side]"
    if images.ndim != dimensions or images.shape[-1] != images.shape[-2] or images.dtype != np.uint8:
        raise ValueError(f"images must be uint8 {shape} (0 to 255), got {images.dtype} {list(images.shape)}")
    return images
