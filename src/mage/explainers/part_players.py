"""Explanations whose players are edges or features: their games, and fewer players where there are too many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mage.explainers.large_graphs import CAPPED_PLAYERS, PLAIN_PLAYERS, STAGE_BUDGET, single_effects
from mage.explainers.pipeline import InputGraph, checked_names
from mage.explanation import FeatureSubject, PlayersCap
from mage.games import Game
from mage.games.model_game import ModelGame
from mage.games.part_games import EdgeGame, FeatureGame, PartGame, feature_names
from mage.games.request import GraphRequest
from mage.indices import IndexRequest

if TYPE_CHECKING:
    from mage.explainers.pipeline import Steps


def part_game(model: Any, data: Any, request: GraphRequest) -> PartGame:
    """The game of a graph's edges or features, as a request says."""
    mean = request.masking == "mean"
    # The game of the nodes is only asked about the model, so what absence of a node means does not matter to it.
    node_request = replace(request, players="nodes", groups=None, refine=None, masking="mean" if mean else "remove")
    game = ModelGame(model, data, node_request)
    return EdgeGame(game) if request.players == "edges" else FeatureGame(game, absent="mean" if mean else "zero")


def columns_graph(
    game: PartGame, data: Any, names: Sequence[str] | None, class_names: Sequence[str] | None
) -> InputGraph:
    """The columns of ``x`` as nodes without edges; they are called ``data.feature_names`` where there are as many."""
    if not isinstance(game, FeatureGame):
        raise TypeError(f"game must be one of features, got {type(game).__name__}")
    column_names = feature_names(game, data) if names is None else checked_names(names, game.num_columns, "feature")
    return InputGraph(column_names, np.empty((2, 0), dtype=np.int64), FeatureSubject(), class_names)


class PartReduction:
    """Of too many edges or features those that have the largest effects on their own play; the others are present.

    Args:
        request: The largest number of players, from the request.
    """

    def __init__(self, request: GraphRequest) -> None:
        self.limit = request.max_players or PLAIN_PLAYERS
        self.allowed = request.max_players or CAPPED_PLAYERS
        self.cap: PlayersCap | None = None
        self.notes: list[str] = []

    def last_game(self, game: Game, steps: Steps) -> Game:
        """The game that is left to play."""
        if not isinstance(game, PartGame) or game.num_players <= self.limit:
            return game
        before, count = game.num_queries, game.num_players
        effect = single_effects(game, [], steps.request.motifs.weight)
        include = set(steps.request.motifs.include)
        effect[[player for player, nodes in enumerate(game.player_nodes) if include & set(map(int, nodes))]] = np.inf
        strongest = sorted(np.argsort(-effect, kind="stable")[: self.allowed].tolist())
        limited = game.limited_to(strongest)
        self.cap = PlayersCap(
            players=count,
            kept=len(strongest),
            by="largest change when taken from all, or added to none",
            others="present",
            num_queries=game.num_queries - before,
        )
        self.notes.append(
            f"{len(strongest)} of {count:,} {game.player_kind} play, those with the largest effect on their own "
            f"({self.cap.num_queries:,} queries); the others are always present"
        )
        return limited

    def budget(self, game: Game, request: IndexRequest) -> int | None:
        """What sampling may cost where the user does not say and players were left out."""
        if request.budget is not None or self.cap is None or request.method.startswith("exact"):
            return request.budget
        return max(STAGE_BUDGET, 2 * math.comb(game.num_players, max(request.checked_order, 1)) + game.num_players**2)

    def playing(self, nodes: Iterable[int], game: Game) -> list[int]:
        """Those of the nodes that still play."""
        left = {int(v) for members in game.player_nodes for v in members}
        return [v for v in nodes if v in left]

    def record(self) -> dict[str, Any]:
        """What was done, as fields of :class:`mage.Explanation`."""
        return {"players_cap": self.cap, "notes": tuple(self.notes)}
