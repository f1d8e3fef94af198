from collections import Counter

import numpy as np
import pytest

from mage.datasets import load
from tests.helpers.data import data_path

chem = pytest.importorskip("rdkit.Chem")


@pytest.fixture(scope="module")
def mutagenic():
    data_path("mutagenicity")
    return load("mutagenic")


@pytest.fixture(scope="module")
def benzene():
    data_path("benzene")
    return load("benzene")


def molecule(data):
    """The graph as a molecule with its hydrogens, nothing added."""
    editable = chem.RWMol()
    for symbol in data.names:
        atom = chem.Atom(symbol)
        atom.SetNoImplicit(True)
        editable.AddAtom(atom)
    kinds = (chem.BondType.SINGLE, chem.BondType.DOUBLE, chem.BondType.TRIPLE)
    for (first, second), bond in zip(data.edge_index.T.tolist(), data.bond.tolist(), strict=True):
        if first < second:
            editable.AddBond(first, second, kinds[bond])
    finished = editable.GetMol()
    finished.UpdatePropertyCache(strict=False)
    return finished


def test_mutagenic_has_the_papers_statistics(mutagenic):
    assert len(mutagenic) == 2951
    assert mutagenic.num_nodes_each.mean() == pytest.approx(30.13, abs=0.005)
    assert mutagenic.num_edges_each.mean() == pytest.approx(30.45, abs=0.005)
    motifs = Counter(len(mutagenic.motifs(int(i))) for i in mutagenic.candidates())
    assert motifs == {1: 62, 2: 22, 3: 2, 4: 3}


def test_nitro_and_amino_groups_are_found_by_substructure_search(mutagenic):
    patterns = [chem.MolFromSmarts(text) for text in ("[#7](~[#8;D1])~[#8;D1]", "[#7]([#1])[#1]")]
    missed = 0
    for data in mutagenic[np.flatnonzero(mutagenic.labels == 0)]:
        searched = molecule(data)
        bonds = {
            frozenset((match[0], other))
            for pattern in patterns
            for match in searched.GetSubstructMatches(pattern)
            for other in match[1:]
        }
        true = {frozenset(edge) for edge in data.edge_index[:, data.edge_motif >= 0].T.tolist()}
        assert true <= bonds
        missed += bonds != true
    # Three nitrates (O-NO2) beside a nitramine are not marked in the published ground truth.
    assert missed == 3


def test_non_mutagens_have_no_ground_truth(mutagenic):
    healthy = mutagenic[np.flatnonzero(mutagenic.labels == 1)]
    assert all(not healthy.motifs(i) for i in range(0, len(healthy), 50))
    assert mutagenic[0].x.sum(dim=1).eq(1).all()


def test_benzene_has_the_papers_statistics(benzene):
    assert len(benzene) == 12000
    assert benzene.num_nodes_each.mean() == pytest.approx(20.58, abs=0.005)
    assert benzene.num_edges_each.mean() == pytest.approx(21.83, abs=0.005)
    assert Counter(len(benzene.motifs(int(i))) for i in benzene.candidates()) == {1: 405, 2: 181, 3: 1}


def test_benzene_rings_are_found_by_substructure_search(benzene):
    ring = chem.MolFromSmarts("c1ccccc1")
    for i in range(0, len(benzene), 6):
        data = benzene[i]
        searched = chem.MolFromSmiles(data.smiles)
        atoms = {atom for match in searched.GetSubstructMatches(ring, maxMatches=1000) for atom in match}
        assert atoms == set(np.flatnonzero(data.node_motif >= 0).tolist())
        assert bool(atoms) == bool(data.y)
        assert searched.GetNumAtoms() == data.num_nodes
        assert searched.GetNumBonds() * 2 == data.num_edges


@pytest.mark.parametrize(
    ("name", "graphs", "other"),
    [
        # The names under which the files are known are exchanged: RDKit finds the other group in each.
        ("fluoride_carbonyl", 8671, "[R0;D2,D1][R0;D2][R0;D2,D1]"),
        ("alkane_carbonyl", 4326, "[#9]"),
    ],
)
def test_logic_tasks_mark_both_groups(name, graphs, other):
    data_path(name)
    dataset = load(name)
    assert len(dataset) == graphs
    carbonyl, second = chem.MolFromSmarts("[#6]=[#8]"), chem.MolFromSmarts(other)
    for i in np.flatnonzero(dataset.labels == 1)[:300]:
        data = dataset[int(i)]
        searched = chem.MolFromSmiles(data.smiles)
        true = set(np.flatnonzero(data.node_motif >= 0).tolist())
        for pattern in (carbonyl, second):
            assert any(set(match) <= true for match in searched.GetSubstructMatches(pattern))
        assert {searched.GetAtomWithIdx(atom).GetSymbol() for atom in true} >= {"C", "O"}
    assert all(not dataset.motifs(int(i)) for i in np.flatnonzero(dataset.labels == 0)[:50])
