"""What any game must do, whatever it is made of."""

from __future__ import annotations

import numpy as np

from mage.games import Game


def check_game(game: Game, *, coalitions: int = 24, seed: int = 0, tolerance: float = 1e-6) -> None:
    """Assert that a game is a function of the coalition alone, normalised, remembered and counted.

    Args:
        game: The game under test.
        coalitions: Number of random coalitions to try.
        seed: Their seed.
        tolerance: Largest difference between a coalition's worth in one batch and in another.
    """
    generator = np.random.default_rng(seed)
    masks = generator.random((coalitions, game.num_players)) < generator.random((coalitions, 1))
    masks[0], masks[-1] = False, True
    before = game.num_queries
    together = game.worth(masks)
    assert game.num_queries - before <= len(np.unique(masks, axis=0)) + 1, "a coalition was evaluated more than once"
    assert together.shape == (coalitions,), f"worth has shape {together.shape}"
    assert np.isfinite(together).all(), "worth is not finite"
    assert together[0] == 0.0, f"the empty coalition is worth {together[0]}, not 0"
    queries = game.num_queries
    np.testing.assert_array_equal(game.worth(masks), together, err_msg="a remembered worth changed")
    assert game.num_queries == queries, "a stored coalition was evaluated again"
    # Past the memo: the value function itself must not depend on what else is in the batch.
    alone = np.array([np.asarray(game.value_fn(row[None]), dtype=np.float64)[0] for row in masks]) - game.baseline
    np.testing.assert_allclose(alone, together, atol=tolerance, rtol=tolerance, err_msg="worth depends on the batch")
