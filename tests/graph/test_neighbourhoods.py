"""Neighbourhoods of a player, against what it sees in each coalition."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mage.graph import Neighbourhoods, count_neighbourhoods, packing
from mage.testing import random_graph


def seen_in_coalitions(graph, root, radius):
    """What the root sees in each coalition that has it: who is there, and who is missing."""
    near = graph.neighbour_lists()
    neighbourhoods = {}
    for size in range(1, graph.num_players + 1):
        for coalition in itertools.combinations(range(graph.num_players), size):
            if root not in coalition:
                continue
            reached = layer = {root}
            touched = set()
            for _ in range(radius):
                touched |= {u for v in layer for u in near[v]}
                layer = {u for v in layer for u in near[v] if u in coalition} - reached
                reached = reached | layer
            absent = tuple(sorted(touched - set(coalition)))
            assert neighbourhoods.setdefault(tuple(sorted(reached)), absent) == absent
    return set(neighbourhoods.items())


def members_of(sets, bits, players):
    return [tuple(np.flatnonzero(row)) for row in packing.unpack(sets.among_all(bits), players)]


@settings(deadline=None)
@given(st.integers(1, 7), st.integers(0, 300), st.integers(0, 3))
def test_neighbourhoods_are_what_a_node_sees(players, seed, radius):
    graph, total = random_graph(players, 0.4, seed), 0
    for root in range(players):
        sets = Neighbourhoods(graph, root, radius)
        neighbourhoods = [
            pair
            for members, rejected in sets.blocks()
            for pair in zip(members_of(sets, members, players), members_of(sets, rejected, players), strict=True)
        ]
        assert len(set(neighbourhoods)) == len(neighbourhoods) == sets.count(cap=1000)
        assert set(neighbourhoods) == seen_in_coalitions(graph, root, radius)
        assert sets.count(cap=len(neighbourhoods) - 1) == len(neighbourhoods)
        total += len(neighbourhoods)
    assert count_neighbourhoods(graph, radius, cap=total) == total
    assert count_neighbourhoods(graph, radius, cap=total - 1) == total


def test_blocks_go_on_where_the_last_one_ended(monkeypatch):
    sets = Neighbourhoods(random_graph(12, 0.3, 1), 0, 3)
    whole = np.concatenate([members for members, _ in sets.blocks()])
    monkeypatch.setattr("mage.graph.neighbourhoods._BLOCK_ROWS", 7)
    parts = [members for members, _ in sets.blocks()]
    assert len(parts) > 10
    assert (np.concatenate(parts) == whole).all()


def test_players_beyond_the_radius_are_left_out():
    """On a path of 100, of which 64 would fill a word."""
    graph = random_graph(100, 0.0, 0)
    graph = type(graph)(100, [(i, i + 1) for i in range(99)])
    sets = Neighbourhoods(graph, 70, 2)
    assert sets.players.tolist() == [68, 69, 70, 71, 72]
    assert sets.hops.tolist() == [2, 1, 0, 1, 2]
    assert sets.count(cap=100) == 9
    assert (70,) in members_of(sets, next(sets.blocks())[0], 100)
