"""EdgeSHAPer: Shapley values of edges, by random orderings before a sparse random background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_flag, checked_number, checked_whole
from mage._core.typing import Floats
from mage.explainers._selection import nodes_of_best_edges
from mage.explainers.protocol import Explainer, UnsupportedError
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation
from mage.games.game import Game
from mage.games.model_game import ModelGame
from mage.games.part_games import EdgeGame

if TYPE_CHECKING:
    from torch_geometric.data import Data

_BLOCK = 1 << 22  # entries of a block of coalitions
_MOST_SAMPLES = 1_000_000  # orderings that are drawn at once


def shapley_by_sampling(game: Game, density: float, num_samples: int, seed: int) -> tuple[Floats, Floats]:
    """EdgeSHAPer's estimate for each player, and its standard error.

    Each of ``num_samples`` (T) steps for a player j draws an ordering and a background, in which every player is with
    probability ``density`` (p), and takes f(A⁺) − f(A⁻): A⁺ holds j, those before it, and those after it that are in
    the background; A⁻ holds those before j, and those of the others, j itself included, that are in the background.
    With p = 0 this is the Shapley value; otherwise its sum is f(V) less the mean worth of a background.
    """
    generator = np.random.default_rng(seed)
    count = game.num_players
    values, errors = np.zeros(count), np.full(count, np.nan)
    block = max(1, _BLOCK // (num_samples * count))
    for start in range(0, count, block):
        players = np.arange(start, min(start + block, count))
        # The rank of uniform numbers is a uniform ordering.
        keys = generator.random((len(players), num_samples, count))
        background = generator.random((len(players), num_samples, count)) < density
        arrival = keys[np.arange(len(players)), :, players]
        without = (keys < arrival[:, :, None]) | background
        within = without.copy()
        within[np.arange(len(players)), :, players] = True
        coalitions = np.concatenate([within.reshape(-1, count), without.reshape(-1, count)])
        worths = game.worth(coalitions).reshape(2, len(players), num_samples)
        gains = worths[0] - worths[1]
        values[players] = gains.mean(axis=1)
        if num_samples > 1:
            errors[players] = gains.std(axis=1, ddof=1) / np.sqrt(num_samples)
    return values, errors


class EdgeSHAPer(Explainer):
    """Edges as players of a game, their Shapley values by sampling, and the nodes of the best edges.

    Reference: Mastropietro, Pasculli, Feldmann, Rodríguez-Pérez & Bajorath, "EdgeSHAPer: Bond-centric Shapley
    value-based explanation method for graph neural networks", iScience 2022. At most 2 T q queries for q edges; those
    met before are remembered. The paper explains a probability: ``output="probability"``.

    The released code plays each column of ``edge_index`` for itself. A bond with one of its two columns passes messages
    one way only, which no graph that the model was trained on does, and the bond's value falls into two. Here a bond is
    one player, there or not as a whole, and both its columns carry its value; ``undirected=False`` lets columns play.
    All nodes stay in all coalitions, so ``masking`` has no effect.

    Args:
        num_samples: T, orderings for each edge.
        density: p, how likely an edge is in the background; None is the density of the graph, 0 gives Shapley values.
        undirected: Whether the two directions of an edge are one player.
    """

    title = "EdgeSHAPer"

    def __init__(self, num_samples: int = 100, density: float | None = None, undirected: bool = True) -> None:
        if density is not None and not 0 <= checked_number("density", density) <= 1:
            raise ValueError(f"density must lie in [0, 1], got {density}")
        self.num_samples = checked_whole("num_samples", num_samples, most=_MOST_SAMPLES)
        self.density = density
        self.undirected = checked_flag("undirected", undirected)

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph."""
        if data.get("edge_index") is not None and data.edge_index.size(1) == 0:
            raise UnsupportedError(
                "data: the graph has no edges for EdgeSHAPer to score; use a method that scores nodes, such as mage"
            )
        game = ModelGame(model, data, request.graph.with_usual(output="logit"), masking="remove")
        budget = request.motifs.max_nodes_of(game.num_players)
        edges = EdgeGame(game, self.undirected)
        density = edges.density if self.density is None else self.density
        values, errors = shapley_by_sampling(edges, density, self.num_samples, request.seed)
        scores = values[edges.player_of_column]
        # Half a value to each end, so that the nodes' scores add up to the edges'.
        node_scores = np.zeros(game.num_players)
        np.add.at(node_scores, edges.ends, values[:, None] / 2)
        return Explanation.from_nodes(
            *(nodes_of_best_edges(edges.columns, scores, budget), game, data),
            method=self.title,
            max_nodes=budget,
            node_scores=node_scores,
            edge_scores=scores,
            edge_std_error=None if self.num_samples == 1 else errors[edges.player_of_column],
            num_queries=edges.num_queries,
            diagnostics={"density": float(density)},
        )
