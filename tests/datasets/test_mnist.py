import gzip
import struct

import numpy as np
import pytest

from mage.datasets import DamagedFileError, load
from mage.datasets.mnist import _bright_edges, images, read_idx, superpixels
from tests.helpers.data import data_path

pytest.importorskip("skimage")


def idx(array):
    header = b"\x00\x00\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


@pytest.fixture
def small_files(tmp_path, monkeypatch):
    """Six images in MNIST's format: a bright square on black, somewhere else in each."""
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))
    pictures = np.zeros((6, 28, 28), dtype=np.uint8)
    for i, picture in enumerate(pictures):
        picture[4 + 2 * i : 12 + 2 * i, 8:20] = 255 - 10 * np.arange(12)
    files = {}
    for part, rows in (("t10k", slice(0, 2)), ("train", slice(2, 6))):
        for kind, array in (("images-idx3", pictures), ("labels-idx1", np.arange(6))):
            path = tmp_path / f"{part}-{kind}-ubyte.gz"
            path.write_bytes(gzip.compress(idx(array[rows])))
            files[path.stem] = path
    return files


def test_test_images_come_first(small_files):
    pictures, labels = images(small_files)
    assert pictures.shape == (6, 28, 28)
    assert labels.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("content", [b"", b"\x00\x00\x08\x01", b"\x00\x00\x09\x01" + bytes(8), idx(np.arange(5))[:-1]])
def test_files_of_another_form_are_refused(tmp_path, content):
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(DamagedFileError, match="is not an MNIST file"):
        read_idx(tmp_path / "labels")


def test_graphs_are_made_once_and_kept(small_files, monkeypatch):
    first = superpixels(small_files)
    from mage.image import superpixels as superpixels_module

    monkeypatch.setattr(superpixels_module, "superpixel_graphs", None)
    again = superpixels(small_files)
    assert (first.nodes["x"] == again.nodes["x"]).all()
    assert (first.edge_index == again.edge_index).all()
    assert len(first) == 6


def test_the_brightest_superpixels_are_the_ground_truth(small_files):
    columns = superpixels(small_files)
    motif, intensity = columns.nodes["node_motif"].numpy(), columns.nodes["x"][:, 0].numpy()
    for i in range(6):
        own = slice(columns.node_start[i], columns.node_start[i + 1])
        inside = motif[own] >= 0
        assert 0 < inside.sum() <= 15 + 3  # ties at the threshold count too
        assert intensity[own][inside].min() >= np.sort(intensity[own])[-15]


def test_bright_edges_by_hand():
    intensity = np.array([0.9, 0.5, 0.0, 0.0, 0.0, 0.7], dtype=np.float32)
    edges = np.array([[0, 1, 1, 0, 1], [1, 0, 2, 2, 0]], dtype=np.int16)
    # Graph 0 has two super-pixels that are not black; graph 1 has one, which has no partner.
    inside = _bright_edges(intensity, np.array([0, 4, 6]), np.array([0, 4, 5]), edges)
    assert inside.tolist() == [True, True, False, False, False]


def test_real_digits():
    data_path("mnist")
    dataset = load("mnist75sp", limit=300)
    assert len(dataset) == 300
    assert dataset.labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert dataset.num_nodes_each.max() <= 75
    # scikit-image ≥ 0.17 yields fewer super-pixels than the 70.6 of the paper.
    assert 62 < dataset.num_nodes_each.mean() < 70
    settings = dataset.settings(0)
    assert settings["masking"] == "zero"
    assert 3 < settings["max_nodes"] <= 16
