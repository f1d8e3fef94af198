"""MNIST and its super-pixel graphs, which are made one by one when they are needed."""

import gzip
import pickle
import struct

import numpy as np
import pytest
import torch

from mage.datasets import DamagedFileError, GraphDataset, Split, load
from mage.datasets.mnist import read_digits, read_idx
from mage.datasets.mnist75sp import INFO, _bright_edges, superpixel_columns
from mage.image import superpixels as superpixels_module
from mage.image.superpixels import superpixel_graphs
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


@pytest.fixture
def segmented(monkeypatch):
    """Counts of images that were segmented, one entry per request."""
    counts = []
    plain = superpixels_module._chunk_segments

    def counted(images):
        counts.append(len(images))
        return plain(images)

    monkeypatch.setattr(superpixels_module, "_chunk_segments", counted)
    return counts


def rows_file(tmp_path):
    (path,) = (tmp_path / "cache" / "graphs").glob("mnist75sp-*.rows")
    return path


def test_test_images_come_first(small_files):
    pictures, labels = read_digits(small_files)
    assert pictures.shape == (6, 28, 28)
    assert labels.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("content", [b"", b"\x00\x00\x08\x01", b"\x00\x00\x09\x01" + bytes(8), idx(np.arange(5))[:-1]])
def test_files_of_another_form_are_refused(tmp_path, content):
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(DamagedFileError, match="is not an MNIST file"):
        read_idx(tmp_path / "labels")


def test_graphs_are_those_of_all_images_at_once(small_files):
    pictures, labels = read_digits(small_files)
    columns = superpixel_columns(pictures, labels).take(np.arange(6))
    graphs = superpixel_graphs(pictures)
    assert (columns.nodes["x"].numpy() == graphs.x).all()
    assert (columns.edge_index.numpy() == graphs.edge_index).all()
    assert (columns.node_start == graphs.node_ptr).all()


def test_only_what_is_needed_is_made_and_only_once(small_files, segmented, tmp_path):
    pictures, labels = read_digits(small_files)
    columns = superpixel_columns(pictures, labels)
    parts = Split(np.array([0, 1, 2]), np.array([3]), np.array([4, 5]))
    dataset = GraphDataset(INFO, columns, parts)
    assert len(dataset) == 6
    assert dataset.labels.tolist() == list(range(6))
    assert dataset.num_node_features == 5
    assert dataset.candidates().tolist() == [4, 5]
    assert segmented == []
    first = dataset[4]
    settings = dataset.settings(4)
    assert segmented == [1]

    class Constant(torch.nn.Module):
        def forward(self, x, edge_index, batch):
            return torch.nn.functional.one_hot(torch.full((int(batch.max()) + 1,), 5), 10)

    assert dataset.explained(Constant()).tolist() == [5]
    assert segmented == [1, 1]
    # A new process finds them on disk; others are still missing.
    again = GraphDataset(INFO, superpixel_columns(pictures, labels), parts)
    assert torch.equal(again[4].x, first.x)
    assert again.settings(4) == settings
    assert segmented == [1, 1]
    again.prepare()
    assert segmented == [1, 1, 4]
    assert rows_file(tmp_path).stat().st_size == 6 * 28 * 28


@pytest.mark.parametrize("damage", [0, 200])
def test_damaged_rows_are_made_again(small_files, segmented, tmp_path, damage):
    pictures, labels = read_digits(small_files)
    whole = superpixel_columns(pictures, labels).take([2, 3])
    content = bytearray(rows_file(tmp_path).read_bytes())
    content[2 * 784 + 100] = damage
    rows_file(tmp_path).write_bytes(content)
    again = superpixel_columns(pictures, labels).take([2, 3])
    assert segmented == [2, 1]
    assert torch.equal(again.nodes["x"], whole.nodes["x"])


def test_without_a_cache_graphs_are_made_all_the_same(small_files, tmp_path, monkeypatch, caplog):
    pictures, labels = read_digits(small_files)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "file"))
    columns = superpixel_columns(pictures, labels)
    assert len(columns.take([1])) == len(columns.take([2])) == 1
    assert caplog.text.count("set MAGE_CACHE to a folder that can be written") == 1


def test_other_images_are_not_taken_from_the_cache(small_files, segmented):
    pictures, labels = read_digits(small_files)
    superpixel_columns(pictures, labels).take([0])
    superpixel_columns(pictures[::-1].copy(), labels).take([0])
    assert segmented == [1, 1]


def test_the_dataset_can_be_sent_to_other_processes(small_files):
    pictures, labels = read_digits(small_files)
    columns = superpixel_columns(pictures, labels)
    copy = pickle.loads(pickle.dumps(columns))  # noqa: S301 (made here)
    assert torch.equal(copy.take([3]).nodes["x"], columns.take([3]).nodes["x"])


def test_the_brightest_superpixels_are_the_ground_truth(small_files):
    columns = superpixel_columns(*read_digits(small_files)).take(np.arange(6))
    motif, intensity = columns.nodes["node_motif"].numpy(), columns.nodes["x"][:, 0].numpy()
    for i in range(6):
        nodes = slice(columns.node_start[i], columns.node_start[i + 1])
        inside = motif[nodes] >= 0
        assert 0 < inside.sum() <= 15 + 3  # ties at the threshold count too
        assert intensity[nodes][inside].min() >= np.sort(intensity[nodes])[-15]


def test_bright_edges_by_hand():
    intensity = np.array([0.9, 0.5, 0.0, 0.0, 0.0, 0.7], dtype=np.float32)
    edges = np.array([[0, 1, 1, 0, 1], [1, 0, 2, 2, 0]], dtype=np.int16)
    # Graph 0 has two super-pixels that are not black; graph 1 has one, which has no partner.
    inside = _bright_edges(intensity, np.array([0, 4, 6]), np.array([0, 4, 5]), edges)
    assert inside.tolist() == [True, True, False, False, False]


@pytest.mark.long
def test_real_digits(segmented, tmp_path, monkeypatch):
    data_path("mnist")
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path))
    dataset = load("mnist75sp")
    assert len(dataset) == 70_000
    assert dataset.labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert len(dataset.split.test) == 7000
    assert len(dataset.candidates()) == 200
    assert segmented == []
    batch = dataset.batch(np.arange(300))
    assert segmented == [250, 50]
    sizes = batch.ptr.diff()
    assert sizes.max() <= 75
    # scikit-image ≥ 0.17 yields fewer super-pixels than the 70.6 of the paper.
    assert 62 < sizes.double().mean() < 70
    settings = dataset.settings(0)
    assert settings["masking"] == "zero"
    assert 3 < settings["max_nodes"] <= 16
    limited = load("mnist75sp", limit=300)
    assert limited.num_nodes_each.tolist() == sizes.tolist()
    assert segmented == [250, 50]
