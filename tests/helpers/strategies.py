"""Random graphs and games for property tests."""

import numpy as np
from hypothesis import strategies as st

from mage import PlayerGraph
from mage.testing import random_game


@st.composite
def graphs(draw, max_players=8, min_players=1):
    n = draw(st.integers(min_players, max_players))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return PlayerGraph(n, edges)


@st.composite
def games(draw, max_players=8):
    graph = draw(graphs(max_players))
    return random_game(graph.num_players, graph, seed=draw(st.integers(0, 2**32 - 1)))


@st.composite
def coalition_masks(draw, num_players, max_rows=20):
    rows = draw(st.integers(1, max_rows))
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).random((rows, num_players)) < draw(st.floats(0, 1))
