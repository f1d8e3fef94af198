import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mage
from mage.metrics import Fidelity, fidelity, robust_fidelity
from mage.testing import random_game


def by_enumeration(game, inside, alpha):
    """Both expectations, written out over all subsets."""
    players = range(game.num_players)
    total = float(game.worth(np.ones((1, game.num_players), bool))[0])
    sides = []
    for fixed, free, keep in (
        ([i for i in players if i not in inside], list(inside), 1 - alpha),
        (list(inside), [i for i in players if i not in inside], 1 - alpha),
    ):
        expected = 0.0
        for size in range(len(free) + 1):
            for nodes in itertools.combinations(free, size):
                mask = np.zeros((1, game.num_players), bool)
                mask[0, [*fixed, *nodes]] = True
                expected += keep**size * (1 - keep) ** (len(free) - size) * float(game.worth(mask)[0])
        sides.append(total - expected)
    return sides


def test_fidelity_by_hand():
    # Worth 3 with player 0, 1 more with both 1 and 2.
    game = mage.Game(lambda masks: 3.0 * masks[:, 0] + masks[:, 1] * masks[:, 2] + 10, 3)
    result = fidelity(game, [0])
    assert result == Fidelity(3.0, 1.0)
    assert result.value == 2.0
    assert result.std_error == 0.0
    assert fidelity(game, [0, 1, 2]).minus == 0.0
    assert fidelity(game, []).value == -4.0


@given(st.integers(2, 7), st.integers(0, 1000), st.sampled_from([0.0, 0.3, 0.7, 0.8, 1.0]), st.data())
def test_small_graphs_are_computed_exactly(players, seed, alpha, data):
    game = random_game(players, seed=seed)
    inside = sorted(data.draw(st.sets(st.integers(0, players - 1))))
    result = robust_fidelity(game, inside, alpha, samples=200)
    plus, minus = by_enumeration(game, inside, alpha)
    assert result.exact
    assert result.std_error == 0.0
    assert (result.plus, result.minus) == pytest.approx((plus, minus), abs=1e-10)


def test_alpha_one_is_fidelity():
    game = random_game(14, seed=1)
    robust, plain = robust_fidelity(game, [1, 4], alpha=1.0, samples=10), fidelity(game, [1, 4])
    assert robust.plus == pytest.approx(plain.plus)
    assert robust.minus == pytest.approx(plain.minus)
    assert robust.exact


def test_estimates_lie_within_their_standard_error():
    inside, misses, scores = [0, 2, 5, 6], 0, []
    for seed in range(60):
        game = random_game(11, seed=seed % 6)
        exact = robust_fidelity(game, inside, 0.8, samples=1 << 11)
        assert exact.exact
        result = robust_fidelity(game, inside, 0.8, samples=100, seed=seed)
        assert not result.exact
        # The side of S has 16 subsets and stays exact; the other, of 128, is sampled.
        assert result.plus_error == 0.0
        assert result.plus == pytest.approx(exact.plus)
        score = (result.value - exact.value) / result.std_error
        scores.append(score)
        misses += abs(score) > 3
    assert misses <= 1
    assert np.mean(scores) == pytest.approx(0, abs=0.5)
    assert 0.7 < np.std(scores) < 1.35


def test_the_seed_decides():
    game = random_game(16, seed=0)
    first, again, other = (robust_fidelity(game, [1, 2], samples=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("options", "message"),
    [({"alpha": 1.5}, "alpha must be between 0 and 1"), ({"samples": 1}, "samples"), ({"nodes": [9]}, "nodes must be")],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        robust_fidelity(random_game(4, seed=0), **{"nodes": [0], **options})
