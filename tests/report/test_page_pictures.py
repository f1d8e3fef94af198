import base64
import io

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

import mage
from mage.report import attach_image
from mage.report.drawing import drawing
from mage.report.pictures import decode_runs, encode_runs, png_uri
from tests.helpers.explanations import made_up
from tests.helpers.graph_models import OneLayerNet, molecule


@given(arrays.arrays(np.int64, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(-1, 3)))
def test_runs_keep_all_labels(labels):
    runs = encode_runs(labels)
    assert len(runs) % 2 == 0
    np.testing.assert_array_equal(decode_runs(runs, labels.shape), labels)


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (5, 7, 4), (1, 1)])
def test_pictures_are_read_by_others_as_they_were_written(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    kind, _, code = png_uri(pixels).partition(",")
    assert kind == "data:image/png;base64"
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(code)))), pixels)


def read(explanation):
    code = explanation.extra["image"].partition(",")[2]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(code))))


def test_images_of_any_form_are_kept(tmp_path):
    explanation = made_up(nx.path_graph(2), max_nodes=1)
    segments = np.array([[0, 0, 1], [-1, 1, 1]])
    grey = np.array([[0, 0.5, 1], [0.25, 0.75, 1]])
    for image in (grey, torch.tensor(grey), np.round(255 * grey).astype(np.int32), grey[:, :, None]):
        kept = attach_image(explanation, image, torch.tensor(segments))
        np.testing.assert_array_equal(read(kept), np.round(255 * grey))
    assert "image" not in explanation.extra
    kept.save(tmp_path / "why.mage")
    again = mage.load(tmp_path / "why.mage")
    assert again.extra == kept.extra
    np.testing.assert_array_equal(decode_runs(again.extra["segments"]["labels"], (2, 3)), segments)
    picture = Image.fromarray(np.round(255 * grey).astype(np.uint8))
    np.testing.assert_array_equal(read(attach_image(explanation, picture, segments)), np.round(255 * grey))


def test_large_images_are_reduced_with_their_labels():
    explanation = made_up(nx.path_graph(4), max_nodes=1)
    labels = np.arange(4).reshape(2, 2).repeat(700, 0).repeat(601, 1)
    kept = attach_image(explanation, labels / 3, labels)
    small = decode_runs(kept.extra["segments"]["labels"], tuple(kept.extra["segments"]["shape"]))
    assert max(small.shape) <= 512
    assert read(kept).shape == small.shape
    agreement = np.mean(read(kept) == np.round(255 * small / 3))
    assert agreement > 0.99


@pytest.mark.parametrize(
    ("image", "segments", "message"),
    [
        (np.zeros((2, 2)), np.zeros((2, 3), dtype=int), "image's shape"),
        (np.zeros((2, 2)), np.full((2, 2), 9), "nodes 0 … 3"),
        (np.zeros((2, 2)), np.zeros((2, 2)), "whole numbers"),
        (np.full((2, 2), 2.0), np.zeros((2, 2), dtype=int), "floats must lie"),
        (np.full((2, 2), 300), np.zeros((2, 2), dtype=int), "0 … 255"),
        (np.zeros(4), np.zeros((2, 2), dtype=int), "must have shape"),
    ],
)
def test_images_that_do_not_fit_are_refused(image, segments, message):
    with pytest.raises(ValueError, match=message):
        attach_image(made_up(nx.path_graph(4), max_nodes=1), image, segments)


def test_molecules_are_drawn_where_nodes_are_atoms():
    pytest.importorskip("rdkit")
    explanation = mage.explain(OneLayerNet(8), molecule("c1ccccc1[N+](=O)[O-]"), 2, 4, tau=0.5)
    found = drawing(explanation)
    assert found["kind"] == "molecule"
    assert found["symbols"] == ["C"] * 6 + ["N", "O", "O"]
    assert len(found["places"]) == 9
    assert all(0 < x < found["size"][0] and 0 < y < found["size"][1] for x, y in found["places"])
    assert sum(shape["filled"] for shape in found["shapes"]) >= 3  # letters
    assert all(set(shape) == {"d", "filled", "width"} for shape in found["shapes"])


@pytest.mark.parametrize("smiles", ["CC", "nonsense", "", "C1CCCCC1", None])
def test_other_molecules_are_passed_over(smiles):
    pytest.importorskip("rdkit")
    explanation = made_up(nx.path_graph(6), extra={"smiles": smiles})
    assert drawing(explanation) == {"kind": "graph"}


def test_hydrogens_are_added_where_the_graph_has_them():
    Chem = pytest.importorskip("rdkit.Chem")
    ethanol = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    graph = nx.Graph([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in ethanol.GetBonds()])
    found = drawing(made_up(graph, extra={"smiles": "CCO"}))
    assert found["kind"] == "molecule"
    assert found["symbols"].count("H") == 6
