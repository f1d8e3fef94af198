"""Crossings: counted, and gone where they can be."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mage.drawing import num_crossings, stress_layout
from mage.drawing.untangling import planar_start
from mage.models import demo_graph


def layout(graph):
    pairs = np.array([edge for edge in graph.edges() if edge[0] != edge[1]]).reshape(-1, 2)
    return stress_layout(pairs, len(graph)), pairs


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=6))
def test_crossings_are_those_of_each_pair(points):
    place = np.array(points, dtype=float)
    pairs = np.array([(0, 1), (2, 3), (4, 5), (1, 2)])

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    expected = 0
    for one, (i, j) in enumerate(pairs):
        for k, m in pairs[:one]:
            if len({i, j, k, m}) == 4:
                a, b, c, d = place[[i, j, k, m]]
                expected += side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
    assert num_crossings(place, pairs) == expected


@pytest.mark.parametrize("seed", range(4))
def test_the_five_cycle_of_the_demo_is_no_bow_tie(seed):
    data = demo_graph(seed)
    graph = nx.Graph(data.edge_index.T.tolist())
    place, pairs = layout(graph)
    assert num_crossings(place, pairs) == 0
    cycle = [node for node, name in enumerate(data.names) if name.startswith("cycle")]
    around = place[cycle] - place[cycle].mean(axis=0)
    angles = np.unwrap(np.arctan2(around[:, 1], around[:, 0]))
    # Going round the cycle goes round its middle, once and in one direction.
    assert np.all(np.diff(angles) > 0) or np.all(np.diff(angles) < 0)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 12))
def test_trees_with_a_cycle_have_no_crossing(seed, length):
    tree = nx.barabasi_albert_graph(16, 1, seed=seed)
    graph = nx.disjoint_union(tree, nx.cycle_graph(length))
    graph.add_edge(seed % 16, 16)
    assert num_crossings(*layout(graph)) == 0


@pytest.mark.parametrize("graph", [nx.ladder_graph(8), nx.wheel_graph(8), nx.icosahedral_graph()], ids=str)
def test_planar_graphs_have_no_crossing(graph):
    assert num_crossings(*layout(graph)) == 0


def test_planar_drawings_are_none_for_other_graphs():
    pairs = np.array(nx.complete_graph(5).edges())
    assert planar_start(pairs, 5) is None
    pairs = np.array(nx.complete_graph(4).edges())
    assert num_crossings(planar_start(pairs, 4), pairs) == 0


def test_graphs_that_are_not_planar_are_not_pulled_apart():
    graph = nx.barabasi_albert_graph(25, 3, seed=1)
    place, pairs = layout(graph)
    lengths = np.linalg.norm(place[pairs[:, 0]] - place[pairs[:, 1]], axis=1)
    assert lengths.max() < 6 * np.median(lengths)


def test_no_edge_goes_across_the_whole_drawing_for_the_sake_of_two_crossings():
    graph = nx.connected_watts_strogatz_graph(300, 4, 0.1, seed=5).subgraph(range(40))
    pairs = np.array(sorted(graph.edges()))
    assert nx.check_planarity(graph)[0]
    place = stress_layout(pairs, 40)
    lengths = np.linalg.norm(place[pairs[:, 0]] - place[pairs[:, 1]], axis=1)
    assert lengths.max() <= 8 * np.median(lengths)
