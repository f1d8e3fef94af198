import gzip
import sys

import numpy as np
import pytest

from mage._core.ragged import RaggedGraphs, concatenate
from mage.image import superpixels as superpixels_module
from mage.image.superpixels import segments, superpixel_graphs
from tests.helpers.data import data_path
from tests.helpers.precision import rounding


@pytest.fixture
def skimage():
    return pytest.importorskip("skimage.segmentation")


def strokes(count, seed=0):
    """Images with a blurred line or two, as digits have."""
    rng = np.random.default_rng(seed)
    images = np.zeros((count, 28, 28))
    rows, columns = np.indices((28, 28))
    for index in range(count):
        for _ in range(rng.integers(1, 4)):
            centre, angle = rng.uniform(8, 20, 2), rng.uniform(0, np.pi)
            across = (rows - centre[0]) * np.cos(angle) + (columns - centre[1]) * np.sin(angle)
            along = (columns - centre[1]) * np.cos(angle) - (rows - centre[0]) * np.sin(angle)
            images[index] += np.exp(-((across / 1.5) ** 2)) * (np.abs(along) < rng.uniform(4, 10))
    return (255 * np.minimum(images, 1)).astype(np.uint8)


def plain_segments(slic, image):
    """The definition: ask for 95, 94, … segments until at most 75 come back."""
    for request in range(95, 0, -1):
        labels = slic(image / 255.0, n_segments=request, compactness=0.25, channel_axis=None, start_label=0)
        if len(np.unique(labels)) <= 75:
            return labels, request
    raise AssertionError


def plain_graph(image, labels):
    """Features and edges, one node and one pair at a time."""
    features = []
    for label in range(labels.max() + 1):
        places = np.argwhere(labels == label)
        features.append([image[labels == label].mean() / 255.0] * 3 + list(places.mean(axis=0) / 28))
    edges = []
    for i, a in enumerate(features):
        for j, b in enumerate(features):
            distance = np.hypot(a[3] - b[3], a[4] - b[4])
            if i != j and np.exp(-distance / (0.1 * np.pi) ** 2) > 0.1:
                edges.append((i, j))
    return np.array(features), np.array(edges).T


def same_bytes(one, other):
    return all(
        getattr(one, name).dtype == getattr(other, name).dtype
        and getattr(one, name).shape == getattr(other, name).shape
        and getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in ("x", "node_ptr", "edge_index", "edge_ptr")
    )


def test_graphs_follow_the_definition(skimage):
    images = np.concatenate([strokes(8), np.zeros((1, 28, 28), np.uint8)])
    graphs = superpixel_graphs(images)
    assert len(graphs) == len(images)
    assert graphs.x.dtype == np.float32
    assert graphs.edge_index.dtype == np.int32
    assert graphs.node_ptr.dtype == graphs.edge_ptr.dtype == np.int64
    requests = set()
    for index, image in enumerate(images):
        labels, request = plain_segments(skimage.slic, image)
        np.testing.assert_array_equal(segments(image), labels)
        features, edges = plain_graph(image, labels)
        x, edge_index = graphs.graph(index)
        np.testing.assert_allclose(x, features, atol=rounding())
        np.testing.assert_array_equal(edge_index, edges)
        assert len(x) <= 75
        requests.add(request)
    assert len(requests) > 1, "the images must need more than the first request"


def test_one_and_two_workers_give_the_same_bytes(skimage):
    images = strokes(superpixels_module.CHUNK_SIZE + 20)
    alone = superpixel_graphs(images)
    assert same_bytes(alone, superpixel_graphs(images, workers=2))
    first, second = superpixel_graphs(images[:100]), superpixel_graphs(images[100:])
    assert same_bytes(alone, concatenate([first, second]))


def test_real_digits(skimage):
    raw = gzip.decompress(data_path("mnist", "train-images-idx3-ubyte.gz").read_bytes())
    images = np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 28, 28)[:300]
    graphs = superpixel_graphs(images)
    assert 65 < len(graphs.x) / 300 < 70
    assert 260 < graphs.edge_index.shape[1] / 600 < 300
    for image in images[:15]:
        np.testing.assert_array_equal(segments(image), plain_segments(skimage.slic, image)[0])


def test_no_images_give_no_graphs(skimage):
    graphs = superpixel_graphs(np.empty((0, 28, 28), np.uint8))
    assert len(graphs) == 0
    assert graphs.x.shape == (0, 5)
    assert graphs.edge_index.shape == (2, 0)


@pytest.mark.parametrize("images", [np.zeros((2, 28, 28)), np.zeros((28, 28), np.uint8), np.zeros((1, 4, 5), np.uint8)])
def test_other_arrays_are_refused(images):
    with pytest.raises(ValueError, match=r"uint8 \[k, side, side\]"):
        superpixel_graphs(images)


def test_wrong_workers_and_index_are_named(skimage):
    with pytest.raises(ValueError, match="workers"):
        superpixel_graphs(strokes(1), workers=0)
    with pytest.raises(IndexError, match="1 graphs"):
        superpixel_graphs(strokes(1)).graph(1)


def test_concatenation_needs_a_part():
    with pytest.raises(ValueError, match="at least one"):
        concatenate([])
    empty = np.zeros(1, np.int64)
    part = RaggedGraphs(np.empty((0, 5)), empty, np.empty((2, 0), np.int32), empty)
    assert len(concatenate([part, part])) == 0


def test_without_scikit_image_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with pytest.raises(ImportError, match=r"mage-explain\[mnist\]"):
        superpixel_graphs(strokes(1))
