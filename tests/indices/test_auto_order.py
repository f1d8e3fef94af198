"""Which order an index has where nobody says so."""

import networkx as nx
import numpy as np
import pytest

from mage import Game, IndexRequest, interactions
from mage.indices import best_interactions


def game(edges, num_players):
    weights = np.random.default_rng(0).normal(size=num_players)
    return Game(lambda masks: np.tanh(masks @ weights), num_players, edges)


@pytest.mark.parametrize(
    ("request_", "order"),
    [
        (IndexRequest(), 3),
        (IndexRequest(order=2), 2),
        (IndexRequest("myerson"), 1),
        (IndexRequest(permutations=10), 2),
        (IndexRequest(method="permutation"), 2),
    ],
)
def test_few_players_have_triples(request_, order):
    assert best_interactions(game(nx.path_graph(8), 8), request_).order == order


def test_many_players_have_triples_where_these_are_exact():
    path = best_interactions(game(nx.path_graph(60), 60), IndexRequest())
    assert (path.order, path.exact) == (3, True)
    star = best_interactions(game(nx.star_graph(59), 60), IndexRequest(budget=300))
    assert (star.order, star.exact) == (2, False)


def test_pairs_with_their_part_of_triples_are_those_of_order_2():
    ring = game(nx.cycle_graph(7), 7)
    higher, lower = interactions(ring, order=3), interactions(ring, order=2)
    pairs = ~np.eye(7, dtype=bool)
    np.testing.assert_allclose(higher.pair_values[pairs], lower.matrix[pairs], atol=1e-12)
    np.testing.assert_allclose(lower.pair_values, lower.matrix)
