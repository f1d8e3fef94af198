import itertools
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mage import Game, interactions
from mage.graph import PlayerGraph
from mage.indices.estimators.sampling import collected
from mage.testing import algorithm_1, random_game, unanimity_game
from tests.helpers.strategies import games


@settings(max_examples=40)
@given(games(max_players=7), st.sampled_from([1, 2, 3]), st.integers(0, 1000))
def test_is_algorithm_1_for_the_same_orderings(game, order, seed):
    rng = np.random.default_rng(seed)
    orderings = np.array([rng.permutation(game.num_players) for _ in range(5)])
    estimate = interactions(game, "myerson-taylor", order, orderings=orderings)
    np.testing.assert_allclose(estimate.values, algorithm_1(game, order, orderings), atol=1e-11)
    blind = interactions(game, "shapley-taylor", order, orderings=orderings)
    complete = PlayerGraph.complete(game.num_players)
    np.testing.assert_allclose(blind.values, algorithm_1(game, order, orderings, complete), atol=1e-11)
    # Without a set of that many players there is nothing to sample.
    assert estimate.num_permutations == (5 if order <= game.num_players else 0)


def test_is_algorithm_1_beyond_64_players():
    network = nx.random_labeled_tree(70, seed=2)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=70)
    game = Game(lambda masks: np.tanh(masks @ weights), 70, network)
    orderings = np.array([rng.permutation(70) for _ in range(2)])
    ours = interactions(game, order=2, orderings=orderings)
    np.testing.assert_allclose(ours.values, algorithm_1(game, 2, orderings), atol=1e-11)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_all_orderings_give_the_exact_index(order):
    game = random_game(5, [(0, 1), (1, 2), (2, 0), (2, 3)], seed=order)
    everything = np.array(list(itertools.permutations(range(5))))
    estimate = interactions(game, order=order, orderings=everything)
    np.testing.assert_allclose(estimate.values, interactions(game, order=order, method="exact").values, atol=1e-12)


@pytest.mark.parametrize("antithetic", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_converges_within_its_own_standard_errors(order, antithetic):
    network = nx.barabasi_albert_graph(9, 2, seed=3)
    game = random_game(9, network, seed=5)
    exact = interactions(game, order=order, method="exact")
    estimate = interactions(game, order=order, permutations=4000, method="permutation", antithetic=antithetic, seed=11)
    sampled = estimate.std_error > 0
    z = (estimate.values - exact.values)[sampled] / estimate.std_error[sampled]
    assert np.abs(z).max() < 4.5
    # Root mean square of standard normals; the terms are correlated, so the band is wide but not empty.
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.4
    np.testing.assert_allclose(estimate.values[~sampled], exact.values[~sampled], atol=1e-9)
    assert not estimate.exact
    assert exact.exact


def test_standard_errors_are_those_of_repeated_runs():
    game = random_game(7, nx.cycle_graph(7), seed=1)
    runs = [interactions(game, permutations=200, method="permutation", seed=seed) for seed in range(300)]
    spread = np.std([run.values for run in runs], axis=0, ddof=1)[7:]
    std_error = np.sqrt(np.mean([run.std_error**2 for run in runs], axis=0))[7:]
    np.testing.assert_allclose(std_error, spread, rtol=0.15)


@pytest.mark.parametrize("permutations", [20, 50, 100])
@pytest.mark.parametrize("network", [nx.path_graph(9), nx.random_labeled_tree(10, seed=3), nx.cycle_graph(8)])
def test_intervals_hold_the_truth_where_few_orderings_matter(network, permutations):
    """In thin graphs distant players rarely meet: their terms are lopsided, and plain errors cover 89 to 91 %."""
    game = random_game(len(network), PlayerGraph(len(network), list(network.edges)), seed=1)
    exact = interactions(game, method="exact").of_size(2)[1]
    covered = []
    for seed in range(200):
        _, values, errors = interactions(game, permutations=permutations, method="permutation", seed=seed).of_size(2)
        covered.append(np.abs(values - exact) <= 1.96 * errors + 1e-12)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_lower_orders_are_exact_in_a_sampled_index():
    game = random_game(8, nx.cycle_graph(8), seed=1)
    estimate = interactions(game, order=3, permutations=2, method="permutation")
    exact = interactions(game, order=3, method="exact")
    np.testing.assert_allclose(estimate.values[: 8 + 28], exact.values[: 8 + 28], atol=1e-12)
    np.testing.assert_array_equal(estimate.std_error[: 8 + 28], 0)


def tree_game(memo_capacity=1 << 20):
    weights = np.random.default_rng(0).normal(size=20)
    network = nx.barabasi_albert_graph(20, 1, seed=1)

    def worth(masks):
        # Products of matrices, and numpy's tanh, round a row differently in different batches.
        sums = (masks * weights).sum(axis=1)
        return sums / (1 + np.abs(sums))

    return Game(worth, 20, network, memo_capacity=memo_capacity)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("budget", [250, 1000])
def test_budget_is_never_passed_and_nearly_used(order, budget):
    game = tree_game()
    if order == 3 and budget == 250:
        with pytest.raises(
            ValueError,
            match=r"budget: 250 is too small; the smaller sets and one pair of orderings need \d+ coalitions",
        ):
            interactions(game, order=order, method="permutation", budget=budget)
        assert game.num_queries == 0
        return
    result = interactions(game, order=order, method="permutation", budget=budget)
    assert result.num_queries == game.num_queries <= budget
    assert result.num_queries > budget * 0.6
    unlimited = interactions(game, order=order, method="permutation", permutations=result.num_permutations)
    np.testing.assert_array_equal(unlimited.values, result.values)
    # One more pair would not have fitted.
    more = tree_game()
    interactions(more, order=order, method="permutation", permutations=result.num_permutations + 2)
    assert more.num_queries > budget


def test_a_budget_that_is_just_enough_is_used_to_the_last_query():
    needed = interactions(tree_game(), method="permutation", permutations=6).num_queries
    assert interactions(tree_game(), method="permutation", budget=needed).num_permutations >= 6
    assert interactions(tree_game(), method="permutation", budget=needed - 1).num_permutations < 6


def test_the_result_does_not_depend_on_what_the_game_knows():
    fresh = interactions(tree_game(), method="permutation", budget=800, seed=3)
    warmed = tree_game()
    interactions(warmed, method="permutation", permutations=100, seed=9)
    again = interactions(warmed, method="permutation", budget=800, seed=3)
    np.testing.assert_array_equal(again.values, fresh.values)
    assert again.num_queries < fresh.num_queries
    np.testing.assert_array_equal(
        interactions(tree_game(0), method="permutation", budget=800, seed=3).values, fresh.values
    )


def test_a_budget_beyond_all_coalitions_ends():
    game = random_game(6, nx.path_graph(6), seed=0)
    result = interactions(game, method="permutation", budget=500)
    assert result.num_permutations == 500
    assert result.num_queries <= 22


def test_orderings_come_in_reversed_pairs():
    from mage.indices.estimators.permutation import random_orderings

    pairs = np.concatenate(list(itertools.islice(random_orderings(9, True, seed=0), 3))).reshape(-1, 2, 9)
    np.testing.assert_array_equal(pairs[:, 0], pairs[:, 1, ::-1])
    assert len(np.unique(pairs[:, 0], axis=0)) > 60


def test_what_was_never_seen_is_not_called_certain():
    # The ends of a long path hardly ever meet in a few orderings, yet they interact.
    game = unanimity_game(12, range(12), nx.path_graph(12))
    estimate = interactions(game, permutations=40, method="permutation")
    exact = interactions(game, method="exact")
    wrong = np.abs(estimate.values - exact.values) > 1e-12
    assert (estimate.std_error[wrong] > 0).all()
    apart = interactions(random_game(4, [(0, 1), (2, 3)], seed=0), permutations=10, method="permutation")
    assert apart.error((0, 2)) == 0


def test_progress_is_shown_when_asked_for(capsys):
    for options in ({"method": "permutation", "budget": 40}, {"method": "permutation"}, {"method": "exact"}):
        game = random_game(6, nx.path_graph(6), seed=0)
        interactions(game, progress=True, **options)
        assert "index" in capsys.readouterr().err
        interactions(game, progress=False, **options)
        assert capsys.readouterr().err == ""


def test_permutations_and_budget_together_stop_at_the_first():
    game = random_game(8, nx.cycle_graph(8), seed=1)
    assert interactions(game, permutations=6, budget=10**6, method="permutation").num_permutations == 6
    assert interactions(game, permutations=5, method="permutation").num_permutations == 6  # whole pairs
    assert interactions(game, permutations=5, method="permutation", antithetic=False).num_permutations == 5


def test_one_ordering_has_no_standard_error():
    game = random_game(4, nx.cycle_graph(4), seed=1)
    assert np.isnan(interactions(game, orderings=[[0, 1, 2, 3]]).std_error[4:]).all()


def test_small_buffers_give_the_same_numbers(monkeypatch):
    from mage.indices.estimators import permutation

    game = random_game(8, nx.cycle_graph(8), seed=4)
    expected = interactions(game, permutations=20, method="permutation")
    monkeypatch.setattr(permutation, "collected", lambda *arguments: collected(*arguments, capacity=8))
    np.testing.assert_array_equal(interactions(game, permutations=20, method="permutation").values, expected.values)


def test_terms_that_outgrow_the_buffer_are_collected_whole():
    # Order 3 on a complete graph of 30 players: more terms in one pair of orderings than the buffer starts with.
    game = Game(lambda masks: masks.sum(axis=1).astype(float) ** 3, 30)
    result = interactions(game, order=3, permutations=2, method="permutation")
    # |T|³ has the constant third derivative 6, whatever the ordering.
    np.testing.assert_allclose(result.of_size(3)[1], 6.0, atol=1e-6)


SCRIPT = """
import hashlib, networkx as nx, numpy as np, sys
from mage import Game, interactions
weights = np.random.default_rng(0).normal(size=30)
game = Game(lambda masks: np.sin(masks @ weights), 30, nx.random_labeled_tree(30, seed=1), batch_size=int(sys.argv[1]))
result = interactions(game, order=2, method="permutation", permutations=50, seed=7)
small = interactions(Game(lambda m: np.sin(m @ weights[:10]), 10), order=2, method="exact")
print(hashlib.sha256(result.values.tobytes() + result.std_error.tobytes() + small.values.tobytes()).hexdigest())
"""


def test_same_seed_same_bytes_in_a_fresh_process():
    runs = {
        subprocess.run([sys.executable, "-c", SCRIPT, size], capture_output=True, text=True, check=True).stdout
        for size in ("4096", "4096")
    }
    assert len(runs) == 1
    assert len(runs.pop().strip()) == 64


def test_seeds_differ():
    game = random_game(7, nx.cycle_graph(7), seed=1)
    first, second = (interactions(game, permutations=10, method="permutation", seed=s) for s in (0, 1))
    assert not np.array_equal(first.values, second.values)
