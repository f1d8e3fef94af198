import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mage import Game, PlayerGraph
from mage._kernels import connected as kernels
from mage.graph.counting import count_by_frontier
from tests.helpers.strategies import graphs


def to_networkx(graph):
    result = nx.Graph()
    result.add_nodes_from(range(graph.num_players))
    result.add_edges_from(graph.edges.tolist())
    return result


def connected_by_networkx(graph):
    network = to_networkx(graph)
    subsets = itertools.chain.from_iterable(
        itertools.combinations(range(graph.num_players), size) for size in range(1, graph.num_players + 1)
    )
    return {s for s in subsets if nx.is_connected(network.subgraph(s))}


def listed(graph, **options):
    return [tuple(np.flatnonzero(row).tolist()) for block in graph.connected_coalitions(**options) for row in block]


@given(graphs(max_players=9), st.integers(1, 40))
def test_enumeration_lists_each_connected_coalition_once(graph, block_size):
    coalitions = listed(graph, block_size=block_size)
    assert len(coalitions) == len(set(coalitions))
    assert set(coalitions) == connected_by_networkx(graph)


@given(graphs(max_players=9), st.integers(0, 9))
def test_enumeration_up_to_a_size(graph, size):
    assert set(listed(graph, max_size=size)) == {s for s in connected_by_networkx(graph) if len(s) <= size}


@given(graphs(max_players=10))
def test_all_counts_agree(graph):
    expected = len(connected_by_networkx(graph))
    assert graph.count_connected() == expected
    assert count_by_frontier(graph.neighbour_lists(), 10**9) == expected
    for cap in (0, 1, expected - 1, expected, expected + 1):
        assert graph.count_connected(cap=max(cap, 0)) == min(expected, max(cap, 0) + 1)


def test_counting_gives_up_on_wide_frontiers_and_falls_back_to_listing():
    graph = PlayerGraph(14, [(i, j) for i in range(14) for j in range(i + 1, 14) if (i + j) % 3])
    assert count_by_frontier(graph.neighbour_lists(), 10) is None
    assert graph.count_connected() == sum(len(block.sizes) for block in graph.blocks())


@pytest.mark.parametrize("num_players", [1, 2, 63, 64, 65, 128, 130, 300])
def test_paths_of_any_length(num_players):
    path = PlayerGraph(num_players, [(i, i + 1) for i in range(num_players - 1)])
    coalitions = listed(path)
    assert len(coalitions) == num_players * (num_players + 1) // 2 == path.count_connected()
    assert all(s == tuple(range(s[0], s[-1] + 1)) for s in coalitions)
    assert len(set(coalitions)) == len(coalitions)


def test_blocks_carry_neighbourhoods_and_sizes_beyond_64_players():
    rng = np.random.default_rng(0)
    graph = PlayerGraph.from_networkx(nx.random_labeled_tree(90, seed=4))
    for block in graph.blocks(max_size=3):
        masks = np.stack([np.unpackbits(row.view(np.uint8), bitorder="little")[:90] for row in block.members]).astype(
            bool
        )
        outside = np.stack([np.unpackbits(row.view(np.uint8), bitorder="little")[:90] for row in block.neighbours])
        pick = rng.integers(0, len(masks), 50)
        np.testing.assert_array_equal(graph.neighbours(masks[pick]), outside[pick].astype(bool))
        np.testing.assert_array_equal(masks.sum(axis=1), block.sizes)
        assert graph.is_connected(masks[pick]).all()


@given(graphs(max_players=12), st.data())
def test_components_and_neighbours_agree_with_networkx(graph, data):
    coalition = set(data.draw(st.lists(st.integers(0, graph.num_players - 1), unique=True)))
    network = to_networkx(graph)
    expected = sorted(sorted(c) for c in nx.connected_components(network.subgraph(coalition)))
    assert graph.components(coalition) == expected
    around = {v for u in coalition for v in network[u]} - coalition
    assert set(np.flatnonzero(graph.neighbours(coalition)[0]).tolist()) == around
    assert bool(graph.is_connected(coalition)[0]) == (len(expected) == 1)


def test_direction_duplicates_and_self_loops_vanish():
    graph = PlayerGraph(4, [(1, 0), (0, 1), (2, 2), (0, 1), (3, 2)])
    assert graph.edges.tolist() == [[0, 1], [2, 3]]
    assert not np.diag(graph.adjacency).any()
    assert (graph.adjacency == graph.adjacency.T).all()


def test_every_source_gives_the_same_graph():
    pairs = [(0, 1), (1, 2), (3, 4)]
    expected = PlayerGraph(5, pairs)
    columns = torch.tensor(pairs).T
    network = nx.Graph()
    network.add_nodes_from("abcde")
    network.add_edges_from([("a", "b"), ("b", "c"), ("d", "e")])
    assert PlayerGraph.of(pairs, 5) == expected
    assert PlayerGraph.of(np.array(pairs), 5) == expected
    assert PlayerGraph.of(columns, 5) == expected
    assert PlayerGraph.of(columns.numpy(), 5) == expected
    assert PlayerGraph.of(torch.cat([columns, columns.flip(0)], dim=1), 5) == expected
    assert PlayerGraph.of(network, 5) == expected
    assert PlayerGraph.of(expected, 5) is expected
    assert PlayerGraph.of(None, 5) == PlayerGraph.complete(5)
    assert PlayerGraph.from_edge_index(columns) == expected
    assert hash(PlayerGraph.of(network, 5)) == hash(expected)


def test_networkx_numbers_are_kept_and_names_become_players():
    network = nx.Graph([(0, 2), (2, 1)])
    assert PlayerGraph.from_networkx(network).edges.tolist() == [[0, 2], [1, 2]]
    game = Game(lambda masks: masks.sum(axis=1), 3, nx.Graph([("N", "C"), ("C", "O")]))
    assert game.names == ("N", "C", "O")
    assert game.graph.edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("num_players", [1, 2, 63, 64, 65, 130])
def test_complete_graphs(num_players):
    graph = PlayerGraph.complete(num_players)
    pairs = [(i, j) for i in range(num_players) for j in range(i)]
    assert graph == PlayerGraph(num_players, pairs)
    assert graph.num_edges == len(pairs)
    assert graph.is_complete
    np.testing.assert_array_equal(graph.adjacency_bits, PlayerGraph(num_players, pairs).adjacency_bits)


@pytest.mark.parametrize("num_players", [60, 70, 140])
def test_counting_by_listing_beyond_64_players(num_players):
    path = PlayerGraph(num_players, [(i, i + 1) for i in range(num_players - 1)])
    total = num_players * (num_players + 1) // 2
    assert kernels.count(path.adjacency_bits, path.enumeration_stack(2), 10**9) == total
    assert kernels.count(path.adjacency_bits, path.enumeration_stack(2), 100) == 101


def test_large_sparse_graphs_are_counted_at_once():
    assert PlayerGraph(3000).count_connected() == 3000
    star = PlayerGraph(3000, [(0, i) for i in range(1, 3000)])
    assert star.count_connected() == 2**2999 + 2999
    assert PlayerGraph(2000).sample_connected(10).shape == (10, 2000)


def test_arrays_cannot_be_changed_behind_the_graph():
    graph = PlayerGraph(3, [(0, 1)])
    with pytest.raises(ValueError, match="read-only"):
        graph.edges[0, 0] = 2


def test_two_by_two_arrays_are_read_as_documented():
    assert PlayerGraph.of(torch.tensor([[0, 1], [2, 3]]), 4).edges.tolist() == [[0, 2], [1, 3]]
    assert PlayerGraph.of(np.array([[0, 1], [2, 3]]), 4).edges.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PlayerGraph(0), "num_players"),
        (lambda: PlayerGraph(2.5), "num_players"),
        (lambda: PlayerGraph(3, [(0, 3)]), "players 0 … 2"),
        (lambda: PlayerGraph(3, [(0, -1)]), "players 0 … 2"),
        (lambda: PlayerGraph(3, [(0, 1, 2)]), "pairs"),
        (lambda: PlayerGraph(3, [(0.5, 1.5)]), "whole numbers"),
        (lambda: PlayerGraph.from_edge_index(np.zeros((3, 2), int)), "edge_index"),
        (lambda: PlayerGraph.of(PlayerGraph(3), 4), "expected 4"),
        (lambda: PlayerGraph(3).components([{0}, {1}]), "one coalition"),
        (lambda: PlayerGraph(3).components({7}), "player 7"),
        (lambda: PlayerGraph(3).is_connected([[True, False, True]]), "whole numbers"),
        (lambda: PlayerGraph(3).is_connected([0.5]), "whole numbers"),
        (lambda: PlayerGraph(3).is_connected(np.array([[1, 0, 1]], np.uint8)), "convert masks to bool"),
        (lambda: PlayerGraph(3).is_connected(np.ones((2, 4), bool)), r"\[q, 3\]"),
        (lambda: next(PlayerGraph(3).blocks(block_size=0)), "block_size"),
        (lambda: PlayerGraph(3).sample_connected(-1), "count"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_samples_are_connected_seeded_and_nested():
    graph = PlayerGraph.from_networkx(nx.random_labeled_tree(70, seed=1))
    sample = graph.sample_connected(300, seed=5)
    assert sample.shape == (300, 70)
    assert graph.is_connected(sample).all()
    np.testing.assert_array_equal(sample, graph.sample_connected(300, seed=5))
    np.testing.assert_array_equal(sample[:40], graph.sample_connected(40, seed=5))
    assert not np.array_equal(sample, graph.sample_connected(300, seed=6))
    assert graph.sample_connected(0).shape == (0, 70)


def test_samples_follow_the_law_of_random_components():
    # On one edge: x ~ U(0, 1); P({0}) = P({1}) = ∫ x(1−x) = 1/6 each, P({0, 1}) = ∫ x² = 1/3.
    sample = PlayerGraph(2, [(0, 1)]).sample_connected(6000, seed=0)
    whole = sample.all(axis=1).mean()
    assert abs(whole - 0.5) < 4 * np.sqrt(0.25 / 6000)
