import itertools

import networkx as nx
import numpy as np
import pytest

from mage import Game, PlayerGraph, TooManyCoalitionsError, interactions
from mage.testing import by_definition, random_game


def test_order_above_the_number_of_players():
    game = random_game(2, [(0, 1)], seed=1)
    result = interactions(game, order=3)
    np.testing.assert_allclose(result.values, by_definition(game, 3), atol=1e-12)
    assert len(result) == 3


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_myerson_package(seed):
    from myerson import MyersonCalculator

    network = nx.gnp_random_graph(7, 0.35, seed=seed)
    game = random_game(7, network, seed=seed)

    def coalition_function(coalition, graph):
        return float(game.worth([set(coalition)])[0])

    reference = MyersonCalculator(network, coalition_function).calculate_all_myerson_values()
    ours = interactions(game, "myerson", method="exact")
    np.testing.assert_allclose(ours.values, [reference[i] for i in range(7)], atol=1e-10)


def test_one_query_per_connected_coalition():
    graph = PlayerGraph.from_networkx(nx.barabasi_albert_graph(12, 1, seed=0))
    masks_seen = []
    game = Game(lambda masks: masks_seen.append(masks.copy()) or masks.sum(axis=1) ** 2, 12, graph)
    result = interactions(game, order=3, method="exact")
    rows = np.concatenate(masks_seen)
    assert len(rows) == len(np.unique(rows, axis=0)) == graph.count_connected() + 1  # and the empty one, once
    assert result.num_queries == len(rows)
    assert interactions(game, order=1, method="exact").num_queries == 0
    np.testing.assert_array_equal(result.std_error, 0)
    assert result.exact


def test_one_player_and_no_edges():
    alone = interactions(Game(lambda masks: 3.0 * masks[:, 0] + 1, 1))
    assert alone.values.tolist() == [3.0]
    assert alone.matrix.tolist() == [[3.0]]
    apart = interactions(random_game(5, [], seed=2), method="exact")
    game = random_game(5, [], seed=2)
    np.testing.assert_allclose(apart.first_order, game.worth([{i} for i in range(5)]))
    assert (apart.values[5:] == 0).all()


@pytest.mark.parametrize("num_players", [65, 130, 300])
def test_more_players_than_bits_in_a_word(num_players):
    # A quadratic game on a path: dividends sit on single players and on pairs that are neighbours.
    rng = np.random.default_rng(num_players)
    pairs = [(i, i + 1) for i in range(num_players - 1)]
    weights, couplings = rng.normal(size=num_players), rng.normal(size=num_players - 1)

    def value_fn(masks):
        return masks @ weights + (masks[:, :-1] & masks[:, 1:]) @ couplings

    result = interactions(Game(value_fn, num_players, pairs), order=2, method="exact")
    np.testing.assert_allclose(result.first_order, weights, atol=1e-9)
    expected = np.zeros((num_players, num_players))
    expected[np.arange(num_players - 1), np.arange(1, num_players)] = couplings
    np.testing.assert_allclose(np.triu(result.matrix, 1), expected, atol=1e-9)
    value = interactions(Game(value_fn, num_players, pairs), "myerson", method="exact").values
    shares = weights + np.append(couplings, 0) / 2 + np.insert(couplings, 0, 0) / 2
    np.testing.assert_allclose(value, shares, atol=1e-9)


def test_components_of_the_graph_do_not_interact():
    game = random_game(8, [(0, 1), (1, 2), (4, 5), (5, 6)], seed=9)
    result = interactions(game, order=2, method="exact")
    for i, j in itertools.product(range(3), range(3, 8)):
        assert result[i, j] == 0
    assert result[7] == game.worth([{7}])[0]


def test_over_budget_is_refused_with_the_count_before_any_query():
    network = nx.barabasi_albert_graph(20, 1, seed=0)
    count = PlayerGraph.from_networkx(network).count_connected()
    game = Game(lambda masks: masks.sum(axis=1), 20, network)
    with pytest.raises(
        TooManyCoalitionsError, match=f"{count:,} connected coalitions.*budget allows 1,000.*permutation"
    ):
        interactions(game, method="exact", budget=1000)
    with pytest.raises(TooManyCoalitionsError, match="1,048,575 connected"):
        interactions(game, "shapley-taylor", method="exact", budget=1000)
    huge = Game(lambda masks: masks.sum(axis=1), 300, nx.random_labeled_tree(300, seed=0))
    with pytest.raises(TooManyCoalitionsError, match=r"about 4\.8"):
        interactions(huge, method="exact")
    assert game.num_queries == huge.num_queries == 0


def test_astronomic_counts_are_still_refused_politely():
    star = [(0, i) for i in range(1, 1100)]
    for index in ("myerson", "shapley"):
        with pytest.raises(TooManyCoalitionsError, match=r"about 10\^3[23]\d connected"):
            interactions(Game(lambda masks: masks.sum(axis=1), 1100, star), index, method="exact")


def test_orders_that_would_not_fit_in_memory_are_refused():
    game = Game(lambda masks: masks.sum(axis=1), 40, nx.path_graph(40))
    for order in (20, 40, 60):
        with pytest.raises(ValueError, match="lower the order"):
            interactions(game, order=order)
    assert game.num_queries == 0


def test_a_memo_that_holds_nothing_costs_no_extra_query():
    game = Game(lambda masks: masks.sum(axis=1), 8, nx.cycle_graph(8), memo_capacity=0)
    assert interactions(game, order=3, method="exact").num_queries == game.graph.count_connected() + 1


def test_auto_says_what_it_took(caplog):
    game = Game(lambda masks: masks.sum(axis=1), 20, nx.barabasi_albert_graph(20, 1, seed=0))
    with caplog.at_level("INFO", "mage"):
        sampled = interactions(game, budget=900)
    assert sampled.method == "surrogate"
    assert not sampled.exact
    assert "takes surrogate: 25,454 connected coalitions, limit 900" in caplog.text
    assert interactions(game).method == "exact"
    assert interactions(game, permutations=4).num_permutations == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"index": "shaply"}, "shapley, myerson, shapley-taylor, myerson-taylor, sii, myerson-sii"),
        ({"order": 0}, "order"),
        ({"order": 1.5}, "order"),
        ({"index": "myerson", "order": 2}, "myerson-taylor"),
        ({"method": "magic"}, "auto, exact, exact-local, permutation, multilinear, surrogate"),
        ({"budget": 0}, "budget"),
        ({"permutations": -3}, "permutations"),
        ({"orderings": [[0, 1, 1]]}, "every player once"),
        ({"orderings": [[0, 1]]}, r"\[t, 3\]"),
        ({"orderings": [[0, 1, 2]], "method": "exact"}, "orderings"),
        ({"orderings": [[0, 1, 2]], "permutations": 3}, "permutations"),
        ({"permutations": 3, "method": "exact"}, "permutations"),
        ({"permutations": 10.0}, "permutations"),
        ({"budget": float("inf")}, "budget"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed"),
        ({"order": float("nan")}, "order"),
        ({"order": [2]}, "order"),
        ({"index": ["myerson"]}, "index"),
    ],
)
def test_bad_arguments_are_named_before_any_query(options, message):
    game = random_game(3)
    with pytest.raises(ValueError, match=message):
        interactions(game, **options)
    assert game.num_queries == 0


def test_too_many_sets_are_refused():
    with pytest.raises(ValueError, match="order: 2000 players have"):
        interactions(Game(lambda masks: masks.sum(axis=1), 2000, []), order=3)
    with pytest.raises(TypeError, match=r"mage\.Game"):
        interactions(np.zeros((3, 3)))


def test_a_failing_value_function_stops_the_run_and_keeps_what_was_paid():
    calls = []

    def value_fn(masks):
        calls.append(len(masks))
        if len(calls) == 4:
            raise RuntimeError("out of memory")
        return masks.sum(axis=1)

    game = Game(value_fn, 10, batch_size=100)
    with pytest.raises(RuntimeError, match="value_fn raised RuntimeError"):
        interactions(game, method="exact")
    num_known = len(game._memo)
    assert num_known == 200  # two whole batches
    assert interactions(game, method="exact").num_queries == 2**10 - 1 - num_known


@pytest.mark.parametrize("order", [1, 2])
def test_large_counts_stay_precise(order):
    # Additive games have no interactions; what rounding leaves after 10⁵ terms must stay far below what matters.
    weights = np.linspace(-1, 1, 17)
    result = interactions(Game(lambda masks: masks @ weights, 17), order=order, method="exact")
    np.testing.assert_allclose(result.first_order, weights, atol=1e-11)
    if order == 2:
        np.testing.assert_allclose(result.values[17:], 0, atol=1e-11)
