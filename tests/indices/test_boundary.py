"""Coalitions at the boundary, against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage.graph import packing
from mage.indices import FAMILIES, interactions
from mage.indices.boundary import boundary_coalitions, boundary_values, few_neighbours
from mage.testing import random_game
from tests.helpers.strategies import graphs


def listed(block, num_players):
    rows = packing.unpack(block.members, num_players)
    return [tuple(np.flatnonzero(row).tolist()) for row in rows]


def connected_sets(graph):
    players = range(graph.num_players)
    candidates = itertools.chain.from_iterable(itertools.combinations(players, size) for size in players)
    everyone = [(*players,)]
    return [s for s in [*candidates, *everyone] if s and len(graph.components(list(s))) == 1]


@given(graphs(max_players=7), st.integers(-1, 3))
def test_coalitions_with_few_neighbours(graph, most):
    coalitions = listed(few_neighbours(graph, most), graph.num_players)
    expected = [s for s in connected_sets(graph) if graph.neighbours(list(s)).sum() <= most]
    assert sorted(coalitions) == sorted(expected)
    np.testing.assert_array_equal(few_neighbours(graph, most).sizes, [len(s) for s in coalitions])


@given(graphs(max_players=7), st.integers(1, 4), st.sampled_from(["myerson-taylor", "myerson-k-sii", "myerson-sii"]))
def test_which_coalitions_the_boundary_needs(graph, order, index):
    measures = dict(enumerate(FAMILIES[index].measures(order), start=1))
    coalitions = listed(boundary_coalitions(graph, measures), graph.num_players)
    assert len(set(coalitions)) == len(coalitions)
    small = {s for s in connected_sets(graph) if len(s) < order}
    whole = {s for s in connected_sets(graph) if graph.neighbours(list(s)).sum() < order}
    if index == "myerson-taylor":
        assert set(coalitions) == small
    elif index == "myerson-sii" or order == 1:
        assert coalitions == []
    else:
        assert small <= set(coalitions) <= small | whole


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_k_sii_is_sii_and_what_happens_at_the_boundary(order):
    game = random_game(7, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (5, 6)], seed=order)
    measures = dict(enumerate(FAMILIES["myerson-k-sii"].measures(order), start=1))
    boundary = boundary_values(game, measures, boundary_coalitions(game.graph, measures))
    sii = interactions(game, "myerson-sii", order, "exact").values
    k_sii = interactions(game, "myerson-k-sii", order, "exact").values
    np.testing.assert_allclose(sii + boundary, k_sii, atol=1e-12)
