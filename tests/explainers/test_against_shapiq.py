"""Scores that are Shapley values, against those of an independent library."""

import numpy as np
import pytest
import shapiq

from mage.explainers._tree_search import LocalShapley
from mage.explainers.edgeshaper import EdgeGame, shapley_by_sampling
from mage.games import ModelGame
from mage.models import GIN
from mage.testing import random_game
from tests.helpers.bonds import graph


def shapley_by_shapiq(game):
    computer = shapiq.ExactComputer(game=lambda masks: game.worth(masks.astype(bool)), n_players=game.num_players)
    values = computer(index="SV", order=1)
    return np.array([values[(player,)] for player in range(game.num_players)])


@pytest.mark.parametrize("seed", range(3))
def test_rewards_of_the_tree_searches(seed):
    game = random_game(7, seed=seed)  # complete: everybody within one hop
    rewards = LocalShapley(game, 1, None, 0)(np.eye(7, dtype=bool))
    assert rewards == pytest.approx(shapley_by_shapiq(game), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_edges(seed):
    game = EdgeGame(ModelGame(GIN(3, 2, 8, 2), graph(), target=1, output="logit", masking="remove"))
    scores, errors = shapley_by_sampling(game, 0.0, 2000, seed)
    assert (np.abs(scores - shapley_by_shapiq(game)) <= 4.5 * errors + 1e-6).all()
