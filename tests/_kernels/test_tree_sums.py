"""Sums along the enumeration tree against sums over coalitions one by one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mage._kernels.closed_form import accumulate
from mage.indices.closed_form import sums_along_the_tree
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
            found = sum(totals[_place(members, turn, order)] for turn in _turns(order))
            assert abs(found - expected[row, last]) < 1e-10


def _prefixes(players, order):
    from itertools import combinations

    return combinations(range(players), order - 1)


def _turns(order):
    from itertools import permutations

    return permutations(range(order))


def _place(members, turn, order):
    turned = [members[i] for i in turn]
    return {1: lambda: (turned[0], 0, 0), 2: lambda: (turned[0], 0, turned[1]), 3: lambda: tuple(turned)}[order]()
