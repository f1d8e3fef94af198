"""Molecules behind explanations, and the names of patterns."""

import importlib
from dataclasses import replace

import networkx as nx
import pytest

from mage.drawing.labelled_graphs import Catalogue, LabelledGraph
from mage.drawing.molecules import AROMATIC, molecule_of
from mage.drawing.motif_names import molecule_graph
from mage.drawing.pattern_names import formula, pattern_name, pattern_text
from mage.explanation import GraphSubject, MoleculeSubject
from mage.report.corpus.entries import read_entries
from tests.helpers.corpora import aniline, benzene, explained, nitrobenzene

chem = pytest.importorskip("rdkit.Chem")


def without_rdkit(monkeypatch):
    real = importlib.import_module

    def refuse(name, *rest):
        if name.startswith("rdkit"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", refuse)


def test_charges_that_files_leave_out_are_put_back():
    molecule = molecule_of(nitrobenzene())
    assert chem.MolToSmiles(chem.RemoveHs(molecule.chemical)) == chem.CanonSmiles("O=[N+]([O-])c1ccccc1")
    kinds = dict(zip([(i, j) for i, j, _ in molecule.bonds], molecule.kinds, strict=True))
    assert {kinds[pair] for pair in ((0, 1), (1, 2), (0, 5))} == {AROMATIC}
    assert kinds[6, 7] == kinds[6, 8] == "2"
    assert molecule.smiles((6, 7, 8)) == "O=[N+][O-]"


def test_either_way_to_write_a_ring_gives_the_same_pattern():
    catalogue = Catalogue()
    names, orders = ["C"] * 6, (2, 1, 2, 1, 2, 1)
    hydrogens = [(v, 6 + v, 1) for v in range(6)]
    for shift in (0, 1):
        ring = [(v, (v + 1) % 6, orders[(v + shift) % 6]) for v in range(6)]
        molecule = molecule_of(explained(names + ["H"] * 6, [*ring, *hydrogens], []))
        assert catalogue.number(molecule_graph(molecule).induced(range(6))) == 0
        assert pattern_name(molecule_graph(molecule).induced(range(6)), True) == "benzene ring"


def test_hydrogens_that_are_no_nodes_stay_on_atoms_other_than_carbon():
    aminophenol = chem.MolFromSmiles("Nc1ccc(O)cc1")
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in aminophenol.GetBonds()]
    explanation = explained([str(v) for v in range(8)], bonds, [], subject=MoleculeSubject("Nc1ccc(O)cc1"))
    graph = molecule_graph(molecule_of(explanation))
    assert graph.labels == ("NH2", "C", "C", "C", "C", "OH", "C", "C")
    assert pattern_name(graph.induced([0]), True) == "amino"
    assert pattern_text(graph.induced([0]), True) == "NH₂"
    assert pattern_name(graph.induced([5]), True) == "hydroxyl"


def test_a_molecule_that_is_not_the_graph_is_not_believed():
    assert molecule_of(explained(["0", "1", "2"], [(0, 1), (1, 2), (0, 2)], [], subject=MoleculeSubject("CCO"))) is None
    assert molecule_of(explained(["0", "1", "2"], [(0, 1), (1, 2)], [], subject=MoleculeSubject("not smiles"))) is None
    assert molecule_of(explained(["not", "bad", "No"], [(0, 1), (1, 2)], [])) is None


def test_a_molecule_that_chemistry_forbids_is_drawn_all_the_same():
    molecule = molecule_of(explained(["C", "H", "H", "H", "H", "H"], [(0, v, 1) for v in range(1, 6)], []))
    assert molecule.positions.shape == (6, 2)
    assert set(molecule.kinds) == {"1"}


def test_without_rdkit_groups_are_told_by_their_atoms(monkeypatch):
    without_rdkit(monkeypatch)
    molecule = molecule_of(nitrobenzene())
    assert molecule.chemical is None
    assert not molecule.has_orders
    pattern = molecule_graph(molecule, orders=False).induced([6, 7, 8])
    assert (pattern_name(pattern, True), pattern_text(pattern, True)) == ("nitro", "NO₂")
    # A carbon and an oxygen may be a carbonyl, an alcohol or an ether.
    assert pattern_name(LabelledGraph.make("CO", [(0, 1, "")]), True) == ""


def test_orders_count_only_if_all_molecules_have_them(tmp_path):
    nitrobenzene().save(tmp_path / "a.mage")
    bare = aniline()
    replace(bare, subject=GraphSubject()).save(tmp_path / "b.mage")
    entries, _ = read_entries(sorted(tmp_path.iterdir()))
    assert {kind for entry in entries for *_, kind in entry.graph.edges} == {""}
    benzene().save(tmp_path / "b.mage")
    entries, _ = read_entries(sorted(tmp_path.iterdir()))
    assert {kind for entry in entries for *_, kind in entry.graph.edges} == {"1", "2", AROMATIC}


@pytest.mark.parametrize(
    ("smiles", "name"),
    [
        ("C[N+](=O)[O-]", "nitro on carbon"),
        ("CN(N=O)C", "nitrosamine on carbon"),
        ("c1ccccc1C#N", "benzene ring + nitrile"),
        ("CC(=O)O", "carboxylic acid on carbon"),
        ("C1OC1", "epoxide"),
        ("CS(=O)(=O)C", "sulfonyl on carbon"),
        ("CN=NC", "azo on carbon"),
        ("CBr", "bromine on carbon"),
    ],
)
def test_groups_within_a_fragment_are_named(smiles, name):
    molecule = chem.MolFromSmiles(smiles)
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    drawn_molecule = molecule_of(
        explained([str(v) for v in range(molecule.GetNumAtoms())], bonds, [], subject=MoleculeSubject(smiles))
    )
    assert pattern_name(molecule_graph(drawn_molecule), True) == name


@pytest.mark.parametrize(
    ("elements", "text"),
    [("OON", "NO₂"), ("HNH", "NH₂"), ("OSO", "SO₂"), ("HCOC", "C₂HO"), ("N", "N"), (("Cl", "C", "Cl"), "CCl₂")],
)
def test_formulas(elements, text):
    assert formula(tuple(elements)) == text


@pytest.mark.parametrize(
    ("graph", "name"),
    [
        (nx.cycle_graph(5), "5-cycle"),
        (nx.house_graph(), "house"),
        (nx.grid_2d_graph(3, 3), "3 × 3 grid"),
        (nx.path_graph(4), "path of 4"),
        (nx.star_graph(3), "star with 3 arms"),
        (nx.complete_graph(4), "complete graph of 4"),
        (nx.empty_graph(1), "single node"),
        (nx.bull_graph(), ""),
    ],
)
def test_shapes_of_plain_graphs_are_named(graph, name):
    plain = nx.convert_node_labels_to_integers(graph)
    graph_of_pattern = LabelledGraph.make([""] * len(plain), [(i, j, "") for i, j in plain.edges()])
    assert pattern_name(graph_of_pattern, False) == name


def test_one_group_on_a_skeleton_is_written_as_chemists_do():
    graph = molecule_graph(molecule_of(nitrobenzene()))
    assert pattern_text(graph.induced([0, 6, 7, 8]), True) == "C–NO₂"
    assert pattern_text(graph.induced([0, 1, 6, 7, 8]), True) == "C₂–NO₂"
    assert pattern_text(graph.induced([0, 6]), True) == "C–N"
    assert pattern_text(graph.induced([0, 1]), True) == "C∶C (aromatic)"


def test_words_are_named_by_themselves():
    assert pattern_text(LabelledGraph.make(["not", "bad"], [(0, 1, "")]), False) == "not · bad"
