"""Random sets of players: unbiased, with honest errors, for every index."""

import itertools
import math
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mage import Game, PlayerGraph, interactions
from mage.graph import packing
from mage.indices import FAMILIES, Density, IndexRequest, Measure, Point, register_index
from mage.indices.estimators import multilinear
from mage.indices.estimators.multilinear import RandomSets
from mage.indices.estimators.sampling import collected
from mage.indices.families.family import Names, two_forms
from mage.indices.problem import Problem
from mage.testing import random_game, restricted
from mage.testing.reference import derivative
from tests.helpers.games import smooth_game
from tests.helpers.strategies import games

GRAPH_INDICES = [name for name, family in FAMILIES.items() if family.sees_graph and family.largest_order is None]
BA = PlayerGraph(9, list(nx.barabasi_albert_graph(9, 2, seed=3).edges))


@pytest.fixture
def mixed_index():
    """An index with a density and two points at every order, and a derivative at 1."""
    measure = Measure((Density(3.0, 2, 0),), (Point(0.5, 0.25), Point(-0.3, 0.5), Point(0.2, 1.0, 1), Point(0.4, 0.0)))
    forms = two_forms(Names("mixed", "m", "mixed"), Names("myerson-mixed", "mᴱ", "M-mixed"), lambda *_: measure)
    with mock.patch.dict(FAMILIES):
        register_index(*forms)
        yield "myerson-mixed"


@settings(max_examples=40)
@given(games(max_players=7), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_terms_are_the_discrete_derivatives(game, order, seed):
    """Each set T gives every S its weight times δ_S f|_E(T∖S)."""
    problem = Problem.of(game, IndexRequest("myerson-sii", order))
    generator = np.random.default_rng(seed)
    masks = generator.random((6, game.num_players)) < generator.random((6, 1))
    weights = generator.normal(size=(6, len(problem.sampled_sizes)))
    sets = RandomSets(packing.pack(masks), weights)
    batches = list(multilinear._batches(problem, iter([sets]), 6, 1))
    worth = restricted(game)
    subsets = [s for size in problem.sampled_sizes for s in itertools.combinations(range(game.num_players), size)]
    first = 0
    for terms in batches[0]:
        contributions = terms.weights * game.worth_of_bits(terms.coalitions)
        for row, (start, end) in enumerate(zip([0, *terms.ends[:-1]], terms.ends, strict=True)):
            values = np.bincount(terms.targets[start:end], contributions[start:end], minlength=len(subsets))
            present = set(np.flatnonzero(masks[first + row]).tolist())
            expected = [weights[first + row, len(s) - 1] * derivative(worth, s, present - set(s)) for s in subsets]
            np.testing.assert_allclose(values, expected, atol=1e-11)
        first += len(terms.ends)
    assert first == 6


def scores(estimate, exact):
    """How far values are off, in standard errors; those without error must be right."""
    sampled = estimate.std_error > 0
    np.testing.assert_allclose(estimate.values[~sampled], exact.values[~sampled], atol=1e-9)
    return (estimate.values - exact.values)[sampled] / estimate.std_error[sampled]


@pytest.mark.parametrize("antithetic", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("index", GRAPH_INDICES)
def test_converges_within_its_own_standard_errors(index, order, antithetic):
    game = random_game(9, BA, seed=5)
    exact = interactions(game, index, order, "exact")
    options = {"samples": 400, "antithetic": antithetic}
    runs = [interactions(game, index, order, "multilinear", seed=seed, **options) for seed in range(12)]
    z = np.array([scores(estimate, exact) for estimate in runs])
    assert np.abs(z).max() < 5
    # Root mean square of standard normals; the terms of a run are correlated, so the band is wide but not empty.
    assert 0.75 < np.sqrt(np.mean(z**2)) < 1.25
    estimate = runs[0]
    assert (estimate.method, estimate.num_samples, estimate.num_permutations, estimate.exact) == (
        "multilinear",
        400,
        0,
        False,
    )


def test_several_places_and_both_ends(mixed_index):
    game = smooth_game(PlayerGraph(12, list(nx.barabasi_albert_graph(12, 2, seed=1).edges)), 5, noise=0.3)
    exact = interactions(game, mixed_index, 2, "exact")
    ways = [{"method": "multilinear", "samples": 300, "antithetic": antithetic} for antithetic in (False, True)]
    for way in [*ways, {"method": "surrogate", "budget": 700, "regressor": "ridge"}]:
        z = [scores(interactions(game, mixed_index, 2, seed=seed, **way), exact) for seed in range(6)]
        assert 0.75 < np.sqrt(np.mean(np.square(z))) < 1.25


@pytest.mark.parametrize("index", ["myerson-sii", "myerson-banzhaf", "myerson-faith-shap", "myerson-k-sii"])
def test_intervals_hold_the_truth(index):
    game = random_game(8, PlayerGraph(8, list(nx.cycle_graph(8).edges)), seed=1)
    exact = interactions(game, index, 2, "exact").values
    covered, errors = [], []
    for seed in range(120):
        estimate = interactions(game, index, 2, "multilinear", samples=100, seed=seed)
        covered.append(np.abs(estimate.values - exact) <= 1.96 * estimate.std_error + 1e-12)
        errors.append(estimate.values - exact)
    assert 0.92 <= np.mean(covered) <= 0.98
    # No bias: the mean over runs, in its own standard error, is a sample of standard normals.
    z = np.mean(errors, axis=0) / (np.std(errors, axis=0, ddof=1) / np.sqrt(120))
    assert np.sqrt(np.mean(z**2)) < 1.5
    assert np.abs(z).max() < 4.5


def test_groups_have_errors_that_go_together():
    """Errors of all sizes are in the parts, and the sum of all values of k-SII is certain."""
    game = random_game(8, PlayerGraph(8, list(nx.cycle_graph(8).edges)), seed=1)
    exact = interactions(game, "myerson-sii", 2, "exact")
    z = []
    for seed in range(80):
        estimate = interactions(game, "myerson-sii", 2, "multilinear", samples=100, seed=seed)
        assert estimate.error_parts.shape == (50, 36)
        z += [(estimate.group(g) - exact.group(g)) / estimate.group_error(g) for g in ([0, 1, 2], [1, 4, 5, 6], [7])]
    assert 0.85 <= np.sqrt(np.mean(np.square(z))) <= 1.15
    estimate = interactions(game, "myerson-sii", 2, "multilinear", samples=100)
    assert estimate.group_error([3]) == pytest.approx(estimate.error(3))
    draws = np.array([estimate.redrawn(np.random.default_rng(seed)).values - estimate.values for seed in range(1500)])
    assert draws.std(axis=0).mean() == pytest.approx(estimate.std_error.mean(), rel=0.1)


def test_saved_with_the_rest(tmp_path):
    game = random_game(6, [(0, 1), (1, 2), (2, 3)], seed=1)
    estimate = interactions(game, "myerson-sii", 2, "multilinear", samples=20)
    estimate.save(tmp_path / "estimate.mage")
    again = type(estimate).load(tmp_path / "estimate.mage")
    assert (again.num_samples, again.reason, again.method) == (20, "named in the request", "multilinear")
    np.testing.assert_allclose(again.error_parts, estimate.error_parts, rtol=1e-6)
    assert "multilinear, 20 random sets" in repr(estimate)


def test_what_few_coalitions_tell_is_exact():
    """Faith-Shap and SII estimate all sizes, Taylor indices the largest; k-SII adds its boundary without error."""
    game = random_game(8, PlayerGraph(8, list(nx.cycle_graph(8).edges)), seed=1)
    taylor = interactions(game, "myerson-taylor", 3, "multilinear", samples=10)
    exact = interactions(game, "myerson-taylor", 3, "exact")
    np.testing.assert_allclose(taylor.values[:36], exact.values[:36], atol=1e-12)
    assert (taylor.std_error[:36] == 0).all()
    sii, k_sii = (interactions(game, name, 2, "multilinear", samples=10) for name in ("myerson-sii", "myerson-k-sii"))
    np.testing.assert_array_equal(sii.std_error, k_sii.std_error)


def counted_game(memo_capacity=1 << 20):
    weights = np.random.default_rng(0).normal(size=20)
    return Game(
        lambda masks: (s := (masks * weights).sum(axis=1)) / (1 + np.abs(s)),
        20,
        nx.barabasi_albert_graph(20, 1, seed=1),
        memo_capacity=memo_capacity,
    )


@pytest.mark.parametrize("index", ["myerson-sii", "myerson-k-sii", "myerson-banzhaf"])
def test_budget_is_never_passed_and_nearly_used(index):
    game = counted_game()
    estimate = interactions(game, index, 2, "multilinear", budget=1500)
    assert estimate.stopped == "budget"
    assert 0.6 * 1500 < estimate.num_queries <= 1500
    again = interactions(counted_game(), index, 2, "multilinear", samples=estimate.num_samples)
    np.testing.assert_array_equal(again.values, estimate.values)
    more = counted_game()
    interactions(more, index, 2, "multilinear", samples=estimate.num_samples + 2)
    assert more.num_queries > 1500
    with pytest.raises(ValueError, match=r"budget: 20 is too small; .* one group of 2 random sets need \d+ coalitions"):
        interactions(counted_game(), index, 2, "multilinear", budget=20)


def test_the_result_does_not_depend_on_what_the_game_knows():
    fresh = interactions(counted_game(), "myerson-sii", 2, "multilinear", budget=900, seed=3)
    warmed = counted_game()
    interactions(warmed, "myerson-sii", 2, "multilinear", samples=40, seed=9)
    again = interactions(warmed, "myerson-sii", 2, "multilinear", budget=900, seed=3)
    np.testing.assert_array_equal(again.values, fresh.values)
    assert again.num_queries < fresh.num_queries


def test_small_buffers_and_wide_coalitions(monkeypatch):
    game = Game(lambda masks: 1 / (1 + masks[:, :4].sum(axis=1) + masks[:, 60:68].sum(axis=1)), 70, nx.path_graph(70))
    expected = interactions(game, "myerson-sii", 2, "multilinear", samples=6)
    monkeypatch.setattr(multilinear, "collected", lambda *arguments: collected(*arguments, capacity=8))
    np.testing.assert_array_equal(
        interactions(game, "myerson-sii", 2, "multilinear", samples=6).values, expected.values
    )


def test_seeds_antithetic_pairs_and_stopping():
    problem = Problem.of(random_game(9, BA, seed=1), IndexRequest("myerson-sii", 2))
    sets, weights = next(multilinear.random_sets(problem, True, 0))
    masks = packing.unpack(sets, 9).reshape(-1, 2, 9)
    np.testing.assert_array_equal(masks[:, 0], ~masks[:, 1])
    np.testing.assert_array_equal(weights, 1.0)
    first, second = (interactions(random_game(9, BA), "sii", 2, "multilinear", samples=8, seed=s) for s in (0, 1))
    assert not np.array_equal(first.values, second.values)
    graph = PlayerGraph(12, list(nx.barabasi_albert_graph(12, 2, seed=4).edges))
    estimate = interactions(smooth_game(graph, 1), "myerson-sii", 2, "multilinear", samples=20_000, tolerance=0.1)
    assert estimate.stopped == "tolerance"
    assert estimate.std_error.max() <= 0.1
    assert interactions(smooth_game(graph, 1), "sii", 2, "multilinear", callback=lambda _: True).partial


@pytest.mark.parametrize("players", [1, 2])
def test_orders_above_the_number_of_players(players):
    for name in GRAPH_INDICES:
        exact = interactions(random_game(players), name, 3, "exact")
        estimate = interactions(random_game(players), name, 3, "multilinear", samples=4000)
        assert len(estimate) == sum(math.comb(players, size) for size in range(1, players + 1))
        assert np.abs(estimate.values - exact.values).max() < 0.2


def test_indices_that_are_no_averages_over_orderings_are_refused():
    game = random_game(5, [(0, 1), (1, 2)])
    for name in ("sii", "myerson-k-sii", "banzhaf", "myerson-faith-shap"):
        with pytest.raises(
            ValueError, match=f"the {name} index of order 2 is no average over orderings; use method='m"
        ):
            interactions(game, name, 2, "permutation")
    assert game.num_queries == 0
    # At order 1 all but Banzhaf are the Shapley value.
    one = interactions(game, "sii", 1, "permutation", permutations=10)
    np.testing.assert_array_equal(one.values, interactions(game, "shapley", 1, "permutation", permutations=10).values)
