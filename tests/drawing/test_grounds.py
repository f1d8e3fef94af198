import base64
import io

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

import mage
from mage.drawing import decode_runs, encode_runs, ground, png_uri
from mage.explanation import MoleculeSubject
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


def test_molecules_are_drawn_where_nodes_are_atoms():
    pytest.importorskip("rdkit")
    explanation = mage.explain(OneLayerNet(8), molecule("c1ccccc1[N+](=O)[O-]"), num_motifs=2, max_nodes=4, tau=0.5)
    drawn = ground(explanation)
    assert drawn["kind"] == "molecule"
    assert drawn["symbols"] == ["C"] * 6 + ["N", "O", "O"]
    assert len(drawn["places"]) == 9
    assert all(0 < x < drawn["size"][0] and 0 < y < drawn["size"][1] for x, y in drawn["places"])
    assert sum(shape["filled"] for shape in drawn["shapes"]) >= 3  # letters
    assert all(set(shape) == {"d", "filled", "width"} for shape in drawn["shapes"])


@pytest.mark.parametrize("smiles", ["CC", "nonsense", "", "C1CCCCC1"])
def test_other_molecules_are_passed_over(smiles):
    pytest.importorskip("rdkit")
    explanation = made_up(nx.path_graph(6), subject=MoleculeSubject(smiles))
    assert ground(explanation) == {"kind": "graph"}


def test_hydrogens_are_added_where_the_graph_has_them():
    Chem = pytest.importorskip("rdkit.Chem")
    ethanol = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    graph = nx.Graph([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in ethanol.GetBonds()])
    drawn = ground(made_up(graph, subject=MoleculeSubject("CCO")))
    assert drawn["kind"] == "molecule"
    assert drawn["symbols"].count("H") == 6
