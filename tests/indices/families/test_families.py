"""All index families: against their definitions on random graphs, and against shapiq on complete ones."""

import warnings
from math import comb
from unittest import mock

import numpy as np
import pytest
import shapiq
from hypothesis import given, settings
from hypothesis import strategies as st

from mage import Interactions, interactions
from mage.indices import FAMILIES, Density, IndexFamily, Measure, register_index
from mage.indices.families.family import Names, two_forms
from mage.testing import by_definition, random_game, unanimity_game
from tests.helpers.strategies import games

ANY_ORDER = [name for name, family in FAMILIES.items() if family.largest_order is None]


@settings(max_examples=25)
@pytest.mark.parametrize("index", ANY_ORDER)
@given(game=games(max_players=7), order=st.integers(1, 3))
def test_exact_equals_the_definition(index, game, order):
    exact = interactions(game, index, order, "exact")
    # Least squares, by which Faith-Shap is defined, round more.
    np.testing.assert_allclose(exact.values, by_definition(game, order, index), atol=1e-11, rtol=0)


@pytest.mark.parametrize("index", ANY_ORDER)
@pytest.mark.parametrize("order", [4, 5])
def test_higher_orders_equal_the_definition(index, order):
    game = random_game(6, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)], seed=order)
    exact = interactions(game, index, order, "exact")
    np.testing.assert_allclose(exact.values, by_definition(game, order, index), atol=1e-11, rtol=0)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("index", [name for name in ANY_ORDER if not FAMILIES[name].sees_graph])
def test_equals_shapiq_without_a_graph(index, order):
    game = random_game(7, [(0, 1), (1, 2)], seed=order)
    computer = shapiq.ExactComputer(game=lambda masks: game.worth(masks.astype(bool)), n_players=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of divisions inside shapiq
        reference = computer(FAMILIES[index].shapiq_name, order=order)
    ours = interactions(game, index, order, "exact")
    # shapiq weighs the conditions at ∅ and V of its least squares by 10⁸ instead of infinitely.
    tolerance = 1e-7 if index == "faith-shap" else 1e-10
    for players, value in zip(ours.coalitions, ours.values, strict=True):
        assert reference[players] == pytest.approx(value, abs=tolerance)


def test_the_shapley_value_equals_shapiq():
    game = random_game(7, seed=1)
    reference = shapiq.ExactComputer(game=lambda masks: game.worth(masks.astype(bool)), n_players=7)("SV", order=1)
    for player, value in enumerate(interactions(game, "shapley", method="exact").values):
        assert reference[(player,)] == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("index", FAMILIES)
def test_shapiq_round_trip(index):
    game = random_game(5, [(0, 1), (1, 2), (2, 3)], seed=4)
    ours = interactions(game, index, method="exact")
    theirs = ours.to_shapiq()
    for term in ours:
        assert theirs[term.players] == pytest.approx(term.value)
    back = Interactions.from_shapiq(theirs, edges=game.graph)
    np.testing.assert_allclose(back.values, ours.values)
    assert (back.index, back.order, back.exact) == (ours.index, ours.order, True)


@pytest.mark.parametrize("index", [name for name in ANY_ORDER if FAMILIES[name].sees_graph])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_on_a_complete_graph_both_forms_are_one(index, order):
    blind = next(name for name in ANY_ORDER if name != index and FAMILIES[name].measure is FAMILIES[index].measure)
    game = random_game(6, seed=order)
    np.testing.assert_array_equal(
        interactions(game, index, order, "exact").values, interactions(game, blind, order, "exact").values
    )


# What is published about unanimity games.
ON_UNANIMITY = {
    "shapley-taylor": lambda s, t, k: float(t == s) if s < k else 1 / comb(t, k),
    "sii": lambda s, t, _: 1 / (t - s + 1),
    "banzhaf": lambda s, t, _: 2.0 ** (s - t),
    "faith-shap": lambda s, t, k: (
        float(t == s)
        + ((-1) ** (k - s) * s / (k + s) * comb(k, s) * comb(t - 1, k) / comb(t + k - 1, k + s) if t > k else 0.0)
    ),
    "k-sii": lambda s, t, k: sum(
        bernoulli * comb(t - s, i) / (t - s - i + 1)
        for i, bernoulli in enumerate([1, -1 / 2, 1 / 6, 0][: k - s + 1])
        if i <= t - s
    ),
}


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("index", ON_UNANIMITY)
def test_values_on_unanimity_games_are_the_published_ones(index, order):
    for size in range(1, order + 1):
        for carrier in range(size, 15):
            expected = ON_UNANIMITY[index](size, carrier, order)
            assert FAMILIES[index].on_unanimity(size, order, carrier) == pytest.approx(expected, abs=1e-12)
        assert FAMILIES[index].on_unanimity(size, order, size - 1) == 0


@pytest.mark.parametrize("index", ANY_ORDER)
def test_unanimity_games_of_connected_carriers(index):
    path = [(i, i + 1) for i in range(7)]
    computed = interactions(unanimity_game(8, range(2, 7), path), index, 3, "exact")
    for term in computed:
        inside = set(term.players) <= set(range(2, 7))
        expected = FAMILIES[index].on_unanimity(len(term.players), 3, 5) if inside else 0.0
        assert term.value == pytest.approx(expected, abs=1e-12)


def test_which_indices_add_up():
    efficient = {name for name in ANY_ORDER if FAMILIES[name].is_efficient(2)}
    assert efficient == {
        *("shapley-taylor", "myerson-taylor", "k-sii", "myerson-k-sii", "faith-shap", "myerson-faith-shap")
    }
    game = random_game(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], seed=3)
    for name in ANY_ORDER:
        total = interactions(game, name, 2, "exact").group(range(6))
        assert (total == pytest.approx(game.total, abs=1e-9)) == (name in efficient)
    assert FAMILIES["sii"].is_efficient(1)
    assert not FAMILIES["banzhaf"].is_efficient(1)


@pytest.mark.parametrize(
    ("index", "same"), [("sii", "shapley"), ("k-sii", "shapley"), ("faith-shap", "shapley"), ("myerson-sii", "myerson")]
)
def test_order_one_is_the_value(index, same):
    game = random_game(6, [(0, 1), (1, 2), (2, 3), (3, 4)], seed=5)
    np.testing.assert_array_equal(
        interactions(game, index, 1, "exact").values, interactions(game, same, method="exact").values
    )


@mock.patch.dict(FAMILIES)
def test_an_index_of_your_own():
    """A measure is all that an index needs: here the density 6 x (1 − x) at every order."""
    forms = two_forms(
        Names("middle", "m", "middle"),
        Names("myerson-middle", "mᴱ", "M-middle"),
        lambda size, order: Measure((Density(6.0, 1, 1),)),
    )
    register_index(*forms)
    computed = interactions(unanimity_game(5, [0, 1, 2]), "middle", 2, "exact")
    assert computed[0, 1] == pytest.approx(6 * (1 / 3 - 1 / 4))  # ∫ x · 6 x (1 − x) dx
    assert computed[0] == pytest.approx(6 * (1 / 4 - 1 / 5))
    assert interactions(unanimity_game(5, [0, 1, 2], [(0, 1)]), "Myerson_Middle", 2, "exact")[0, 1] == 0
    register_index(*forms)  # again, which changes nothing
    with pytest.raises(ValueError, match="there is an index 'middle' already"):
        register_index(IndexFamily("middle", "m", False, forms[0].measure, "other"))
