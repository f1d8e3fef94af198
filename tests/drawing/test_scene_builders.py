import base64
import io
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

import mage
from mage.drawing import decode_runs, encode_runs, png_uri, scene_of, scene_svg
from mage.drawing.motif_places import badge_places
from mage.drawing.scene import LABEL_SIZE
from mage.drawing.type_widths import text_width
from mage.explanation import MoleculeSubject, Origin
from tests.helpers.explanations import image, made_up, sentence
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
    scene = scene_of(explanation)
    assert scene.kind == "molecule"
    assert scene.symbols == ("C",) * 6 + ("N", "O", "O")
    assert scene.places.shape == (9, 2)
    box = scene.box
    assert all(box.x < x < box.x + box.width and box.y < y < box.y + box.height for x, y in scene.places)
    shapes = scene.plain()["shapes"]
    assert sum(shape["filled"] for shape in shapes) >= 3  # letters
    assert all(set(shape) == {"d", "filled", "width"} for shape in shapes)


@pytest.mark.parametrize("smiles", ["CC", "nonsense", "", "C1CCCCC1"])
def test_other_molecules_are_passed_over(smiles):
    pytest.importorskip("rdkit")
    explanation = made_up(nx.path_graph(6), subject=MoleculeSubject(smiles))
    assert scene_of(explanation).kind == "graph"


def test_hydrogens_are_added_where_the_graph_has_them():
    Chem = pytest.importorskip("rdkit.Chem")
    ethanol = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    graph = nx.Graph([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in ethanol.GetBonds()])
    scene = scene_of(made_up(graph, subject=MoleculeSubject("CCO")))
    assert scene.kind == "molecule"
    assert scene.symbols.count("H") == 6


def test_named_atoms_without_smiles_are_a_molecule():
    pytest.importorskip("rdkit")
    ring = nx.cycle_graph(6)
    ring.add_edge(0, 6)
    names = [*"CCCCCC", "O"]
    scene = scene_of(made_up(ring, names=names))
    assert (scene.kind, scene.symbols) == ("molecule", tuple(names))
    # Seven neighbours are too many for carbon, and letters alone are no atoms.
    assert scene_of(made_up(nx.star_graph(7), names=["C"] * 8)).kind == "graph"
    assert scene_of(made_up(ring, names=[f"N{node}" for node in range(7)])).kind == "graph"


GRAPHS = {
    "cycle": nx.cycle_graph(7),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6)),
    "tree": nx.barabasi_albert_graph(35, 1, seed=2),
    "dense": nx.barabasi_albert_graph(30, 2, seed=2),
    "parts": nx.disjoint_union_all([nx.cycle_graph(6), nx.path_graph(5), nx.empty_graph(3)]),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_names_of_up_to_35_nodes_do_not_overlap(kind):
    graph = GRAPHS[kind]
    scene = scene_of(made_up(graph, names=[f"node {node}" for node in graph]))
    boxes = []
    for place, label in zip(scene.places, scene.labels, strict=True):
        assert not label.inside
        boxes.append((place + np.array([label.x, label.y]), text_width(label.text, LABEL_SIZE) / 2, LABEL_SIZE / 2))
    frame = scene.box
    for one, (middle, half, high) in enumerate(boxes):
        assert frame.x <= middle[0] - half <= middle[0] + half <= frame.x + frame.width
        assert frame.y <= middle[1] - high <= middle[1] + high <= frame.y + frame.height
        for other, wide, tall in boxes[:one]:
            apart = np.abs(middle - other)
            assert apart[0] >= half + wide or apart[1] >= high + tall


@pytest.mark.parametrize(
    "make", [lambda: made_up(GRAPHS["tree"]), sentence, lambda: image(3, 4)], ids=["graph", "words", "image"]
)
def test_pictures_are_whole_and_ring_what_is_true(make):
    explanation = replace(make(), origin=Origin(truth=((0, 2),)), target_nodes=(1,))
    scene = scene_of(explanation)
    picture = ElementTree.fromstring(scene_svg(explanation, scene))  # noqa: S314 - our own
    classes = [part.get("class", "") for part in picture.iter()]
    assert classes.count("truth-ring") == 2
    assert classes.count("explained-ring") == 1
    assert classes.count("motif") == len(explanation.motifs)
    assert sum(name.startswith("badge-mark") for name in classes) >= len(explanation.motifs)
    against = sum(motif.sign < 0 for motif in explanation.motifs)
    assert ("url(#mage-hatch)" in scene_svg(explanation, scene)) == (against > 0)


def test_badges_leave_names_free_in_drawings_of_many_nodes():
    num_covered = 0
    for seed in range(14):
        graph = nx.connected_watts_strogatz_graph(60, 4, 0.1, seed=seed)
        explanation = made_up(graph, seed, num_motifs=3, max_nodes=3, names=[f"node {node}" for node in graph])
        scene = scene_of(explanation)
        assert scene.crowded
        badges = [place for motif in explanation.all_motifs for place in badge_places(scene, motif.nodes)]
        for node, label in scene.shown_names(explanation):
            free = 13 + text_width(label.text, LABEL_SIZE) / 2, 9.5 + LABEL_SIZE / 2
            distances = np.abs(np.array(badges) - scene.places[node] - (label.x, label.y))
            num_covered += int((distances < free).all(axis=1).any())
    assert num_covered == 0
