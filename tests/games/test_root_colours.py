"""The colour of a root in its neighbourhoods against colour refinement of whole coalitions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mage.games.colouring import Colouring
from mage.games.root_colours import RootColours
from mage.graph import Neighbourhoods
from mage.testing import random_graph


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.floats(0.0, 0.6), st.integers(0, 3), st.booleans(), st.integers(0, 10**6))
def test_roots_have_the_colours_of_refinement(players, density, rounds, with_degrees, seed):
    graph = random_graph(players, density, seed)
    kinds = np.random.default_rng(seed).integers(2, size=players)
    colouring = Colouring.of_players(graph, kinds, rounds, with_degrees)
    for root in range(players):
        sets = Neighbourhoods(graph, root, rounds + with_degrees)
        colour_of = RootColours(colouring, sets)
        for members, _ in sets.blocks():
            assert (colour_of(members) == colouring.of_nodes(sets.among_all(members))[:, root]).all()
