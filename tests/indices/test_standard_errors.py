"""Errors of sums: what motifs' scores are."""

import networkx as nx
import numpy as np
import pytest

import mage
from mage.indices import standard_errors
from mage.indices.standard_errors import error_of_sum, noise, num_parts
from tests.helpers.games import smooth_game
from tests.helpers.suites import long_case

GRAPH = mage.PlayerGraph(11, list(nx.barabasi_albert_graph(11, 2, seed=1).edges))
SETTINGS = {
    "permutation": {"permutations": 100},
    "surrogate": {"budget": 160, "regressor": "ridge"},
}


def estimates(method, runs):
    for seed in range(runs):
        yield mage.interactions(smooth_game(GRAPH, 5, noise=0.3), method=method, seed=seed, **SETTINGS[method])


@pytest.fixture(scope="module")
def exact():
    return mage.interactions(smooth_game(GRAPH, 5, noise=0.3), method="exact")


@pytest.fixture(scope="module")
def groups():
    generator = np.random.default_rng(0)
    return [generator.choice(11, size, replace=False).tolist() for size in (3, 4, 5, 6, 7, 8) for _ in range(5)]


@pytest.mark.parametrize("method", ["permutation", long_case("surrogate")])
def test_intervals_of_groups_hold_the_truth(method, exact, groups):
    z, independent, parts = [], [], {"permutation": 50, "surrogate": 64}[method]
    for estimate in estimates(method, 60):
        assert estimate.error_parts.shape == (parts, 55)
        for group in groups:
            off = estimate.group(group) - exact.group(group)
            z.append(off / estimate.group_error(group))
            alone = [
                estimate.error(pair) ** 2 for pair in estimate.coalitions if len(pair) == 2 and set(pair) <= set(group)
            ]
            independent.append(off / np.sqrt(sum(alone)))
    assert 0.92 <= np.mean(np.abs(z) <= 1.96) <= 0.98
    assert 0.85 <= np.sqrt(np.mean(np.square(z))) <= 1.15
    # Errors that are taken as independent do not fit.
    assert not 0.9 <= np.sqrt(np.mean(np.square(independent))) <= 1.1


@pytest.mark.parametrize("method", ["permutation", "surrogate"])
def test_what_all_players_make_together_is_certain(method, exact):
    """Efficiency: values sum to the worth of all, whatever was sampled, and the error of the sum says so."""
    estimate = next(estimates(method, 1))
    assert estimate.group(range(11)) == pytest.approx(exact.group(range(11)))
    assert estimate.group_error(range(11)) < 1e-5 * estimate.std_error.max()


@pytest.mark.parametrize("method", ["permutation", "surrogate"])
def test_a_pair_alone_has_its_own_error(method):
    estimate = next(estimates(method, 1))
    for pair in ((0, 1), (3, 7), (9, 10)):
        # Single players are certain.
        assert estimate.group_error(pair) == pytest.approx(estimate.error(pair), rel=1e-9)
        weight = 0.9 if estimate[pair] > 0 else 0.1
        assert estimate.group_error(pair, tau=0.9) == pytest.approx(weight * estimate.error(pair), rel=1e-5)
    assert estimate.group_error([]) == 0
    assert estimate.group_error([4]) == 0


@pytest.mark.long
def test_sampled_populations_count_what_they_never_met(monkeypatch):
    from mage.indices.estimators.surrogate import estimator, population

    monkeypatch.setattr(population, "_SAMPLED", 3000)
    monkeypatch.setattr(
        estimator, "connected_population", lambda *problem: population.connected_population(*problem, 10)
    )
    game = smooth_game(GRAPH, 5, noise=0.3)
    truth, z = mage.interactions(game, method="exact"), []
    for seed in range(40):
        estimate = mage.interactions(game, method="surrogate", budget=200, regressor="ridge", seed=seed)
        z += [(estimate.group(g) - truth.group(g)) / estimate.group_error(g) for g in ([0, 1, 2, 3], [2, 5, 6, 8, 9])]
    assert 0.75 <= np.sqrt(np.mean(np.square(z))) <= 1.25


def test_redrawn_values_scatter_as_their_errors_say():
    estimate = next(estimates("surrogate", 1))
    generator = np.random.default_rng(0)
    draws = np.array([estimate.redrawn(generator).values - estimate.values for _ in range(2000)])
    assert (draws.std(axis=0)[:11] == 0).all()
    assert draws.std(axis=0).mean() == pytest.approx(estimate.std_error.mean(), rel=0.1)
    group = [0, 1, 3, 4, 6]
    inside = [row for row, players in enumerate(estimate.coalitions) if set(players) <= set(group)]
    assert draws[:, inside].sum(axis=1).std() == pytest.approx(estimate.group_error(group), rel=0.15)


def test_sums_differences_and_multiples():
    first, second = estimates("permutation", 2)
    group = [0, 2, 3, 5, 8]
    expected = np.hypot(first.group_error(group), 2 * second.group_error(group))
    assert (first - 2 * second).group_error(group) == pytest.approx(expected, rel=0.02)
    certain = mage.interactions(smooth_game(GRAPH, 6), method="exact")
    assert (first + certain).group_error(group) == pytest.approx(first.group_error(group), rel=1e-5)
    assert (certain + certain).error_parts is None


def test_saved_with_the_rest(tmp_path):
    estimate = next(estimates("permutation", 1))
    estimate.save(tmp_path / "estimate.mage")
    again = mage.Interactions.load(tmp_path / "estimate.mage")
    assert again.group_error([0, 1, 2, 3]) == pytest.approx(estimate.group_error([0, 1, 2, 3]), rel=1e-5)
    np.testing.assert_allclose(again.error_parts, estimate.error_parts, rtol=1e-6)


def test_too_many_sets_are_taken_as_independent(monkeypatch):
    monkeypatch.setattr(standard_errors, "MOST_NUMBERS", 100)
    assert num_parts(55) == 0
    for method in ("permutation", "surrogate"):
        estimate = next(estimates(method, 1))
        assert estimate.error_parts is None
        alone = [estimate.error(pair) ** 2 for pair in ((0, 1), (0, 2), (1, 2))]
        assert estimate.group_error([0, 1, 2]) == pytest.approx(np.sqrt(sum(alone)))


def test_few_orderings():
    game = smooth_game(GRAPH, 5)
    one = mage.interactions(game, method="permutation", permutations=1, antithetic=False)
    assert np.isnan(one.group_error([0, 1, 2]))
    estimate = mage.interactions(game, method="permutation", permutations=6)
    assert estimate.error_parts.shape == (3, 55)
    assert estimate.group_error([0, 1, 2]) > 0


def test_parts_must_fit_the_sets():
    estimate = next(estimates("permutation", 1))
    with pytest.raises(ValueError, match="error_parts must have a column for each set of 2"):
        mage.Interactions(
            "myerson-taylor", 2, GRAPH, estimate.values, estimate.std_error, False, "x", 1, error_parts=np.ones((2, 3))
        )


def test_sums_of_errors():
    parts = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, -1.0]])
    lengths = np.array([5.0, 2.0, 2**0.5])  # what does not deviate is on its own
    assert error_of_sum(lengths, parts) == pytest.approx(np.sqrt((3 + 1) ** 2 + (4 - 1) ** 2 + 2**2))
    assert error_of_sum(3 * lengths, parts) == pytest.approx(3 * error_of_sum(lengths, parts))
    assert error_of_sum(lengths, None) == pytest.approx(np.sqrt((lengths**2).sum()))
    assert error_of_sum(lengths[1:2], parts[:, 1:2]) == 2
    draw = noise(np.array([5.0, 0.0]), None, np.random.default_rng(0))
    assert draw[0] != 0
    assert draw[1] == 0


def test_few_orderings_are_redrawn_as_widely_as_their_errors_say():
    estimate = mage.interactions(smooth_game(GRAPH, 5), method="permutation", permutations=20)
    generator = np.random.default_rng(0)
    draws = np.array([estimate.redrawn(generator).values - estimate.values for _ in range(500)])
    spread, errors = draws.std(axis=0)[11:], estimate.std_error[11:]
    assert np.sqrt(np.mean(spread**2)) == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.1)


def test_odd_arguments():
    first, second = estimates("permutation", 2)
    with pytest.raises(ValueError, match="tau must lie in"):
        first.group_error([0, 1], tau=2)
    with pytest.raises(ValueError, match="count"):
        first.top(-1)
    game = smooth_game(GRAPH, 5)
    broken_off = mage.interactions(game, method="permutation", permutations=100, callback=lambda _: True)
    assert broken_off.partial
    assert (first + broken_off).partial
    assert (broken_off + first).partial
    assert not (first + second).partial
    assert mage.interactions(game, method="permutation", tolerance=np.float32(0.5)).stopped == "tolerance"
