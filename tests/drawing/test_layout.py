"""The layout of graphs: distances, repetition, sizes from nothing to thousands of nodes."""

import networkx as nx
import numpy as np
import pytest

from mage.drawing import across, stress_layout


@pytest.mark.parametrize(
    "graph", [nx.cycle_graph(9), nx.grid_2d_graph(4, 4), nx.path_graph(12), nx.balanced_tree(2, 3)], ids=str
)
def test_the_layout_keeps_distances(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    place = stress_layout(np.array(graph.edges()), len(graph))
    apart = np.linalg.norm(place[:, None] - place[None], axis=2)
    steps = nx.floyd_warshall_numpy(graph)
    off = ~np.eye(len(graph), dtype=bool)
    assert np.corrcoef(apart[off], steps[off])[0, 1] > 0.9
    assert apart[off].min() > 0.2  # no two nodes in one place
    np.testing.assert_array_equal(place, stress_layout(np.array(graph.edges()), len(graph)))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_graphs_without_edges_are_placed(count):
    place = stress_layout(np.empty((0, 2), dtype=np.int64), count)
    assert place.shape == (count, 2)
    assert np.isfinite(place).all()


def test_more_starts_are_never_worse():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 5))
    steps = nx.floyd_warshall_numpy(graph)
    weight = 1 / np.where(steps == 0, 1, steps) ** 2

    def stress(starts):
        place = stress_layout(np.array(graph.edges()), len(graph), starts)
        return (weight * (np.linalg.norm(place[:, None] - place[None], axis=2) - steps) ** 2).sum()

    assert stress(6) <= stress(1)


def test_parts_that_are_not_joined_stand_apart():
    graph = nx.disjoint_union(nx.cycle_graph(6), nx.path_graph(4))
    place = stress_layout(np.array(graph.edges()), len(graph))
    apart = np.linalg.norm(place[:6, None] - place[None, 6:], axis=2)
    assert apart.min() > 1


def large_graph():
    return nx.convert_node_labels_to_integers(nx.disjoint_union(nx.grid_2d_graph(40, 30), nx.path_graph(25)))


def test_large_graphs_are_placed_by_a_few_distances():
    graph = large_graph()
    graph.add_edge(0, 1200)
    place = stress_layout(np.array(graph.edges()), len(graph))
    rows = np.arange(0, 1200, 37)
    steps = np.array([[abs(a // 30 - b // 30) + abs(a % 30 - b % 30) for b in rows] for a in rows])
    apart = np.linalg.norm(place[rows, None] - place[None, rows], axis=2)
    assert np.corrcoef(apart.ravel(), steps.ravel())[0, 1] > 0.9


def test_large_graphs_of_several_parts_are_placed_too():
    graph = large_graph()
    place = stress_layout(np.array(graph.edges()), len(graph))
    assert np.isfinite(place).all()
    assert np.linalg.norm(place[:1200].mean(axis=0) - place[1200:].mean(axis=0)) > 1
    np.testing.assert_array_equal(place, stress_layout(np.array(graph.edges()), len(graph)))


def test_drawings_are_turned_to_lie_across():
    place = np.array([[0.0, 0.0], [0.1, 3.0], [-0.1, 6.0]])
    turned = across(place)
    assert np.ptp(turned[:, 0]) > np.ptp(turned[:, 1])
    np.testing.assert_allclose(turned.mean(axis=0), 0, atol=1e-12)
    assert across(np.zeros((1, 2))).tolist() == [[0.0, 0.0]]
