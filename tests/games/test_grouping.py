"""Groups: partitions into connected sets, the same each time."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mage.games.grouping import GROUPINGS, checked_groups, communities, rings
from tests.helpers.strategies import graphs


def drawn(graph):
    result = nx.Graph(graph.edges.tolist())
    result.add_nodes_from(range(graph.num_players))
    return result


def check_partition(labels, graph):
    assert labels.shape == (graph.number_of_nodes(),)
    numbers = np.unique(labels)
    np.testing.assert_array_equal(numbers, np.arange(len(numbers)))
    first = [int(np.flatnonzero(labels == label)[0]) for label in numbers]
    assert first == sorted(first)
    assert all(nx.is_connected(graph.subgraph(np.flatnonzero(labels == label).tolist())) for label in numbers)


@settings(max_examples=40)
@given(graphs(max_players=14), st.integers(1, 6), st.integers(0, 6))
def test_communities_are_connected_and_about_as_many_as_asked(graph, at_least, more):
    labels = communities(graph.edges, graph.num_players, at_least=at_least, at_most=at_least + more)
    check_partition(labels, drawn(graph))
    count = labels.max() + 1
    assert min(at_least, graph.num_players) <= count <= max(at_least + more, len(graph.components()))
    # Directions, loops and repetitions carry no meaning.
    noisy = np.concatenate([graph.edges[:, ::-1], graph.edges, np.zeros((1, 2), dtype=np.int64)])
    again = communities(noisy, graph.num_players, at_least=at_least, at_most=at_least + more)
    np.testing.assert_array_equal(labels, again)


@pytest.mark.parametrize(
    "graph",
    [
        nx.barabasi_albert_graph(800, 2, seed=1),
        nx.random_partition_graph([40] * 25, 0.2, 0.002, seed=1),
        nx.random_labeled_tree(600, seed=1),
        nx.convert_node_labels_to_integers(nx.grid_2d_graph(25, 25)),
        nx.star_graph(200),
    ],
    ids=["preferential attachment", "blocks", "tree", "grid", "star"],
)
def test_communities_of_larger_graphs(graph):
    labels = communities(list(graph.edges()), graph.number_of_nodes())
    check_partition(labels, graph)
    assert 20 <= labels.max() + 1 <= 40
    np.testing.assert_array_equal(labels, communities(list(graph.edges()), graph.number_of_nodes()))


def test_planted_blocks_are_found():
    graph = nx.random_partition_graph([30] * 24, 0.4, 0.002, seed=3)
    labels = communities(list(graph.edges()), 720)
    blocks = np.arange(720) // 30
    pure = sum(np.bincount(blocks[labels == label]).max() for label in range(labels.max() + 1))
    assert pure > 0.95 * 720


def test_large_graphs_are_cut_into_cells_first(monkeypatch):
    monkeypatch.setattr("mage.games.grouping._MOST_FOR_LOUVAIN", 200)
    graph = nx.disjoint_union(nx.barabasi_albert_graph(1500, 2, seed=0), nx.path_graph(30))
    labels = communities(list(graph.edges()), 1530)
    check_partition(labels, graph)
    assert 20 <= labels.max() + 1 <= 40
    other = communities(list(graph.edges()), 1530, seed=1)
    check_partition(other, graph)
    assert not np.array_equal(labels, other)


@given(graphs(max_players=12))
def test_rings_are_what_no_bridge_holds_together(graph):
    network = drawn(graph)
    labels = rings(graph.edges, graph.num_players)
    check_partition(labels, network)
    without = network.copy()
    without.remove_edges_from(list(nx.bridges(network)))
    systems = [sorted(part) for part in nx.connected_components(without) if len(part) > 1]
    acyclic = network.subgraph(set(network) - {v for system in systems for v in system})
    expected = sorted(systems + [sorted(part) for part in nx.connected_components(acyclic)])
    assert sorted(np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)) == expected


@pytest.mark.parametrize("smiles", ["c1ccc2ccccc2c1CCO", "C1CC12CC2", "CCO", "OC(=O)c1ccccc1OC(C)=O", "C1CC2CCC1C2"])
def test_rings_of_molecules_are_rdkits(smiles):
    chem = pytest.importorskip("rdkit.Chem")
    molecule = chem.MolFromSmiles(smiles)
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in molecule.GetBonds()]
    labels = rings(bonds, molecule.GetNumAtoms())
    for ring in molecule.GetRingInfo().AtomRings():
        assert len({labels[v] for v in ring}) == 1
    in_ring = {v for ring in molecule.GetRingInfo().AtomRings() for v in ring}
    assert not {labels[v] for v in in_ring} & {labels[v] for v in set(range(len(labels))) - in_ring}


def test_whatever_a_user_gives():
    edges, players = np.array([[0, 1], [1, 2], [2, 0], [2, 3]]), np.array([4, 5, 6, 7])
    np.testing.assert_array_equal(checked_groups("rings", players, 9, edges), [0, 0, 0, 1])
    np.testing.assert_array_equal(checked_groups(lambda e, n: [5, 3, 3, 5], players, 9, edges), [0, 1, 1, 0])
    assert checked_groups(lambda e, n: None, players, 9, edges) is None
    np.testing.assert_array_equal(checked_groups([[4, 6], [5, 7, 0]], players, 9, edges), [0, 1, 0, 1])
    np.testing.assert_array_equal(checked_groups(list("aaaabbaab"), players, 9, edges), [1, 1, 0, 0])
    assert set(GROUPINGS) == {"communities", "rings"}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("squares", "communities, rings"),
        (lambda e, n: [0], "label 4 players"),
        ([[4, 5]], "node 6 is in no group"),
        ([[99]], "node 99 does not exist"),
        ([["a"]], "groups: nodes are whole numbers, got 'a'"),
        ([[4], 5], "groups must be a list of nodes, got 5"),
        ([4, [5], 6, 7, 8, 0, 1, 2, 3], "groups: labels must be of one kind"),
        (3, "groups must be labels of nodes or lists of nodes, got 3"),
    ],
)
def test_bad_groups(groups, message):
    with pytest.raises(ValueError, match=message):
        checked_groups(groups, np.array([4, 5, 6, 7]), 9, np.zeros((0, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="at_most"):
        communities([], 5, at_least=3, at_most=2)
