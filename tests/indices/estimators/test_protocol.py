"""The table of estimators, and an estimator of one's own."""

from dataclasses import fields
from unittest import mock

import numpy as np
import pytest

import mage
from mage.indices import ESTIMATORS, Estimator, IndexRequest, register_estimator
from mage.indices.estimate import Estimate
from mage.testing import random_game


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_say_what_they_take_and_need(name):
    estimator = ESTIMATORS[name]
    assert estimator.name == name
    assert estimator.fields <= {field.name for field in fields(IndexRequest)}
    assert estimator.needs
    assert type(estimator).__doc__


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fields_of_others_are_refused(name):
    fields = {"permutations": 3, "samples": 3, "radius": 1, "regressor": "ridge", "antithetic": False}
    for field, value in fields.items():
        if field in ESTIMATORS[name].fields:
            assert getattr(IndexRequest(method=name, **{field: value}), field) == value
        else:
            with pytest.raises(ValueError, match=f"{field} needs method="):
                IndexRequest(method=name, **{field: value})


class EqualSplit(Estimator):
    """Gives each player the same, whatever the index: wrong, but an estimator."""

    name = "equal-split"
    needs = "two players or more"

    def refusal(self, problem):
        return None if problem.num_players > 1 else ValueError("game: there is nobody to share with")

    def estimate(self, problem, monitor, progress):
        values = np.full(problem.num_players, problem.game.total / problem.num_players)
        return Estimate(values, np.full_like(values, np.nan))


@mock.patch.dict(ESTIMATORS)
def test_an_estimator_of_your_own():
    register_estimator(EqualSplit())
    game = random_game(4)
    estimate = mage.interactions(game, "shapley", method="equal-split")
    np.testing.assert_allclose(estimate.values, game.total / 4)
    assert (estimate.method, estimate.exact) == ("equal-split", False)
    with pytest.raises(ValueError, match="nobody to share with"):
        mage.interactions(random_game(1), "shapley", method="equal-split")
    with pytest.raises(ValueError, match="there is an estimator 'equal-split' already"):
        register_estimator(EqualSplit())
