"""Random connected nodes: what an explanation must beat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import shortened
from mage.explainers.protocol import Explainer
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation
from mage.games import ModelGame
from mage.graph import PlayerGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data


class RandomNodes(Explainer):
    """M random nodes, connected to each other: the reference that says what a metric gives away for nothing.

    Fidelity grows with the number of nodes, and nodes that hang together say more than scattered ones; so a method is
    worth something where it beats connected sets of its own size. A set grows from a node drawn uniformly by neighbours
    drawn uniformly; where a connected part of the graph is used up, the rest grows from another node outside.

    The model is run to know its prediction, not to choose.

    Args:
        connected: False draws M nodes uniformly, wherever they are; None uses the setting of the caller.
    """

    title = "Random nodes"

    def __init__(self, connected: bool | None = True) -> None:
        if connected is not None and not isinstance(connected, bool):
            raise ValueError(f"connected must be True, False or None, got {shortened(connected)}")
        self.connected = connected

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph."""
        size = int(data.num_nodes)
        budget = request.motifs.max_nodes_of(size)
        game = ModelGame(model, data, request.graph.with_usual(output="logit", masking="remove"))
        generator = np.random.default_rng(request.seed)
        together = request.motifs.connected if self.connected is None else self.connected
        nodes = (
            random_connected(game.graph, budget, generator)
            if together
            else generator.choice(size, budget, replace=False).tolist()
        )
        return Explanation.from_nodes(nodes, game, data, method=self.title, max_nodes=budget, masking=game.masking)


def random_connected(graph: PlayerGraph, size: int, generator: np.random.Generator) -> list[int]:
    """A random set of ``size`` players that hangs together, as far as the graph does."""
    neighbours = graph.neighbour_lists()
    nodes: set[int] = set()
    border: set[int] = set()
    while len(nodes) < size:
        # Sorted, because sets have no fixed order and the draw must repeat.
        candidates = sorted(border) or sorted(set(range(graph.num_players)) - nodes)
        node = candidates[int(generator.integers(len(candidates)))]
        nodes.add(node)
        border = (border | set(neighbours[node])) - nodes
    return sorted(nodes)
