"""Sums along the enumeration tree against sums over coalitions one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mage._kernels.closed_form import accumulate
from mage.graph import Neighbourhoods, PlayerGraph
from mage.indices.closed_form import Accumulator, coefficients, sums_along_the_tree
from mage.indices.families import shapley_taylor
from mage.indices.subsets import binomial_table
from mage.testing import random_graph


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.floats(0.0, 1.0), st.sampled_from([1, 2, 3]), st.integers(1, 9), st.integers(0, 10**6))
def test_the_tree_gives_what_coalitions_give_one_by_one(players, density, order, largest, seed):
    graph, generator = random_graph(players, density, seed), np.random.default_rng(seed)
    blocks = list(graph.blocks(max_size=largest))
    worths = generator.normal(size=sum(len(block.members) for block in blocks))
    coefficients = generator.normal(size=(players + 1, players + 1, order + 1))
    totals = sums_along_the_tree(graph, worths, coefficients, order, largest)
    expected = np.zeros((len(list(_prefixes(players, order))), players))
    start = 0
    for block in blocks:
        part = worths[start : start + len(block.members)]
        table = binomial_table(players, order)
        accumulate(block.members, block.neighbours, part, coefficients, order, table, expected)
        start += len(part)
    for row, prefix in enumerate(_prefixes(players, order)):
        for last in range(max(prefix, default=-1) + 1, players):
            members = (*prefix, last)
            value = sum(totals[_place(members, member)] for member in range(order))
            assert abs(value - expected[row, last]) < 1e-10


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.floats(0.0, 1.0), st.sampled_from([1, 2, 3]), st.integers(0, 4), st.integers(0, 10**6))
def test_neighbourhoods_give_what_they_give_one_by_one(players, density, order, radius, seed):
    graph, generator = random_graph(players, density, seed), np.random.default_rng(seed)
    coefficients = generator.normal(size=(players + 1, players + 1, order + 1))
    along, one_by_one = (Accumulator(players, order, coefficients) for _ in range(2))
    for root in range(players):
        sets = Neighbourhoods(graph, root, radius)
        members, rejected = (sets.among_all(np.concatenate(part)) for part in zip(*sets.blocks(), strict=True))
        worths = generator.normal(size=len(members))
        along.add_neighbourhoods(sets, worths)
        one_by_one.add(members, rejected, worths)
    scale = max(np.abs(one_by_one.values()).max(initial=0.0), 1.0)
    assert np.allclose(along.values(), one_by_one.values(), rtol=0, atol=1e-12 * scale)


def _prefixes(players, order):
    return combinations(range(players), order - 1)


def _place(members, first):
    """Where the part of a set is whose first decided member is this one."""
    others = [player for position, player in enumerate(members) if position != first]
    return (members[first], others[1] if len(others) == 2 else 0, others[0] if others else 0)


@pytest.mark.parametrize("largest", [2, 12])
def test_triples_of_few_and_of_many_among_forty(largest):
    """Place by place where a coalition and its neighbours are few, in whole rows where they are many."""
    graph = PlayerGraph(40, [(i, i + 1) for i in range(39)])
    worths = np.random.default_rng(0).normal(size=sum(len(block.members) for block in graph.blocks(max_size=largest)))
    weights = coefficients(shapley_taylor.measure(3, 3), 40, 3)
    in_blocks, along_the_tree = (Accumulator(40, 3, weights) for _ in range(2))
    for block in graph.blocks(max_size=largest):
        in_blocks.add(block.members, block.neighbours, worths)
    along_the_tree.add_all(graph, worths, largest)
    np.testing.assert_allclose(in_blocks.values(), along_the_tree.values(), rtol=0, atol=1e-12)
