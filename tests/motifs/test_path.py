"""How many nodes motifs have where nobody says so, and both sides of an output."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage import find_motifs
from mage.motifs import BOTH, MotifRequest
from mage.testing import random_graph


def planted(groups, num_nodes=14, noise=0.0, seed=0):
    """Pairs inside each group weigh its strength, others are noise; a graph in which all groups are connected."""
    matrix = noise * np.random.default_rng(seed).normal(size=(num_nodes, num_nodes))
    matrix = np.triu(matrix, 1)
    for nodes, strength in groups.items():
        for i in nodes:
            for j in nodes:
                if i < j:
                    matrix[i, j] = strength
    return matrix + matrix.T, nx.path_graph(num_nodes)


@pytest.mark.parametrize("size", [3, 4, 5, 6])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_size_of_a_planted_group_is_found(size, noise):
    nodes = tuple(range(2, 2 + size))
    result = find_motifs(*planted({nodes: 1.0}, noise=noise, seed=size))
    assert [motif.nodes for motif in result] == [nodes]
    assert result.max_nodes == size
    assert [step.max_nodes for step in result.path] == list(range(1, 8))
    best = max(result.path, key=lambda step: step.merit)
    assert best.max_nodes == size


def test_several_groups_are_found_and_both_sides():
    matrix, edges = planted({(0, 1, 2): 1.0, (5, 6, 7): 1.0, (10, 11, 12): -0.8})
    result = find_motifs(matrix, edges)
    assert {motif.nodes for motif in result} == {(0, 1, 2), (5, 6, 7)}
    assert [motif.nodes for motif in result.against] == [(10, 11, 12)]
    assert {motif.sign for motif in result} == {1}
    assert {motif.sign for motif in result.against} == {-1}
    assert result.both_sides == (*result.motifs, *result.against.motifs)
    assert result.side_weight == BOTH


def test_what_is_negligible_is_not_said():
    matrix, edges = planted({(0, 1, 2): 1.0, (10, 11, 12): -0.05})
    assert not find_motifs(matrix, edges).against.motifs
    only_against = find_motifs(-matrix, edges)
    assert [motif.nodes for motif in only_against.against] == [(0, 1, 2)]


@given(st.integers(0, 10_000))
def test_each_side_is_what_a_search_of_its_own_finds(seed):
    generator = np.random.default_rng(seed)
    graph = random_graph(9, 0.3, seed)
    matrix = generator.normal(size=(9, 9))
    matrix += matrix.T
    motifs = find_motifs(matrix, graph, 2, 4)
    alone = find_motifs(matrix, graph, 2, 4, tau=1.0)
    assert motifs.motifs == alone.motifs
    assert motifs.optimal
    opposing = find_motifs(matrix, graph, 2, 4, tau=0.0, exclude=alone.nodes)
    assert motifs.against.motifs in ((), opposing.motifs)
    assert not set(motifs.nodes) & set(motifs.against.nodes)


def test_a_group_is_found_where_all_nodes_interact():
    """Each further node adds more than the one before, since it interacts with more; only the group ends."""
    matrix = np.full((20, 20), 0.3)
    matrix[4:9, 4:9] = 1.0
    np.fill_diagonal(matrix, 0.0)
    result = find_motifs(matrix, nx.path_graph(20), tau=1.0)
    assert [motif.nodes for motif in result] == [(4, 5, 6, 7, 8)]
    gains = np.diff([step.objective for step in result.path])
    assert gains[-1] > gains[:4].max() * 0.65
    assert max(step.objective for step in result.path) > 2 * result.objective


def test_the_model_is_asked_about_close_sizes_only():
    calls = []

    def effects(masks):
        calls.append(masks.sum(axis=1).tolist())
        return masks.sum(axis=1) * 1.0, np.zeros(len(masks))

    find_motifs(*close_sizes(), tau=1.0, effects=effects)
    assert calls == [[4, 5, 10]]  # all nodes are the unit


def close_sizes():
    """Sizes four and five are about as good as each other: the fifth node adds half of what the fourth adds."""
    matrix, edges = planted({(0, 1, 2, 3): 1.0}, num_nodes=10)
    matrix[4, :4] = matrix[:4, 4] = 0.4
    merits = [step.merit for step in find_motifs(matrix, edges).path]
    assert sum(merit >= 0.8 * max(merits) for merit in merits) == 2
    return matrix, edges


@pytest.mark.parametrize(
    ("part_of_four", "size"),
    [(0.0, 5), (0.8, 5), (0.9, 4), (1.0, 4), (3.0, 4)],  # one node of ten costs .15
)
@pytest.mark.parametrize("unit", [1.0, 100.0])
@pytest.mark.parametrize("offset", [0.0, -7.0])
def test_a_further_node_must_make_the_motif_say_more_alone(part_of_four, size, unit, offset):
    def effects(masks):
        count = masks.sum(axis=1)
        alone = np.where(count >= 5, 1.0, np.where(count == 4, part_of_four, 0.0))
        return offset + unit * alone, np.full(len(masks), offset)

    assert find_motifs(*close_sizes(), tau=1.0, effects=effects).max_nodes == size


def test_a_model_that_says_the_same_with_and_without_everything_does_not_decide_by_rounding():
    effects = lambda masks: (np.ones(len(masks)), np.ones(len(masks)))  # noqa: E731
    assert find_motifs(*close_sizes(), tau=1.0, effects=effects).max_nodes == 4


def test_nodes_that_must_be_inside_are():
    matrix, edges = planted({(0, 1, 2): 1.0})
    result = find_motifs(matrix, edges, include=[12, 13])
    assert {12, 13} <= set(result.nodes)
    assert result.max_nodes >= 2
    assert min(step.max_nodes for step in find_motifs(matrix, edges, least_nodes=3).path) == 3


def test_sizes_that_are_tried():
    request = MotifRequest()
    assert request.sizes_of(4) == [1, 2, 3, 4]
    assert request.sizes_of(10) == [1, 2, 3, 4, 5, 6]
    assert request.sizes_of(60)[-1] == 25
    assert request.sizes_of(300)[-4:] == [12, 15, 20, 25]
    assert MotifRequest(max_nodes=0.5).sizes_of(10) == [5]
    assert (request.most_motifs, request.weight) == (3, 0.5)
