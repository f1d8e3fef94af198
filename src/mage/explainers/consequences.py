"""What follows from motifs: the model's output with only them, and without them."""

from __future__ import annotations

import numpy as np

from mage.explanation import CoalitionOutput, Consequences, Effect
from mage.games import Game
from mage.motifs import MotifSet


def consequences_of(game: Game, motifs: MotifSet) -> Consequences:
    """Run a model with only each motif, without it, with all motifs only, without all of them, and without players.

    Args:
        game: The game that motifs were searched in.
        motifs: Motifs of its players.
    """
    first_query = game.num_queries
    groups = [motif.nodes for motif in motifs.both_sides]
    if len(motifs) > 1:
        groups.append(motifs.nodes)
    only_group = np.zeros((len(groups), game.num_players), dtype=np.bool_)
    for row, players in enumerate(groups):
        only_group[row, list(players)] = True
    no_players = np.zeros((1, game.num_players), dtype=np.bool_)
    values, probabilities = game.outcomes(np.concatenate([no_players, only_group, ~only_group]))
    chances = [None] * len(values) if probabilities is None else probabilities.tolist()
    baseline, *outcomes = [
        CoalitionOutput(value, chance) for value, chance in zip(values.tolist(), chances, strict=True)
    ]
    effects = [Effect(*pair) for pair in zip(outcomes[: len(groups)], outcomes[len(groups) :], strict=True)]
    return Consequences(
        baseline=baseline,
        prediction=_prediction(game),
        motifs=tuple(effects[: len(motifs)]),
        against=tuple(effects[len(motifs) : len(motifs.both_sides)]),
        # One motif is all motifs.
        together=effects[0 if len(motifs) == 1 else -1] if len(motifs) else None,
        num_queries=game.num_queries - first_query,
    )


def _prediction(game: Game) -> CoalitionOutput:
    """The outcome on the whole input, which is known; players may be only some of its nodes."""
    readout, prediction = game.readout, game.prediction
    if readout is None:
        return CoalitionOutput(float(prediction[0]))
    chance = None if readout.target is None else readout.as_probability.of_prediction(prediction)
    return CoalitionOutput(readout.of_prediction(prediction), chance)
