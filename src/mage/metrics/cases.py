"""What metrics are measured on: an explained graph with its ground truth, or an index with groups that it predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.typing import Floats, Integers, Masks

if TYPE_CHECKING:
    from mage.explanation import Explanation
    from mage.games import Game
    from mage.indices import Interactions


@dataclass
class ExplainedGraph:
    """An explanation of a graph or of one of its nodes, with all that metrics compare it with.

    Args:
        model: The model.
        data: The graph; ``node_motif`` and ``edge_motif`` are its ground truth, where it has one.
        explanation: The explanation.
        settings: Settings that it was made with; ``masking`` and ``node`` decide what fidelity asks the model.
        seconds: Time that it took.
        seed: Seed of metrics that sample.
        cpu_seconds: Time of the processor that it took.
    """

    model: Any
    data: Any
    explanation: Explanation
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = np.nan
    seed: int = 0
    cpu_seconds: float = np.nan

    @property
    def queries(self) -> float:
        """Coalitions that the method queried the model for."""
        return float(self.explanation.num_queries)

    @property
    def nodes(self) -> tuple[int, ...]:
        """Nodes of all motifs."""
        return tuple(self.explanation.motifs.nodes)

    @cached_property
    def truth(self) -> Integers | None:
        """For each node the number of its true motif, −1 outside; None where no node is in one."""
        labels = self._labels("node_motif")
        return None if labels is None or not bool((labels >= 0).any()) else labels

    @cached_property
    def edge_truth(self) -> Masks | None:
        """For each edge that counts whether it belongs to a true motif; None where the graph does not say."""
        labels = self._labels("edge_motif")
        return None if labels is None else (labels >= 0)[self._counted_edges]

    @property
    def edge_scores(self) -> Floats:
        """Scores of the edges that count: soft where the method has some, otherwise 1 inside motifs."""
        return np.asarray(self.explanation.edge_scores)[self._counted_edges]

    @cached_property
    def game(self) -> Game:
        """The game of the class probability, as the paper measures fidelity whatever is explained."""
        from mage.games import ModelGame

        return ModelGame(
            self.model,
            self.data,
            target=self.explanation.target,
            output="probability",
            masking=self.settings.get("masking", "remove"),
            node=self.settings.get("node"),
        )

    @cached_property
    def players(self) -> list[int]:
        """Players of :attr:`game` all of whose nodes are in the explanation."""
        motif_nodes, members = set(self.nodes), self.game.player_nodes
        return [player for player, nodes in enumerate(members) if motif_nodes.issuperset(map(int, nodes))]

    @cached_property
    def _counted_edges(self) -> Masks:
        """All edges but loops; where a node is explained, only those among nodes that its output can depend on.

        Others are no part of any explanation, and would make all of them look alike.
        """
        ends = np.asarray(self.data.edge_index.cpu())
        counted: Masks = ends[0] != ends[1]
        if self.settings.get("node") is not None:
            nodes = np.concatenate(self.game.player_nodes)
            counted &= np.isin(ends, nodes).all(axis=0)
        return counted

    def _labels(self, name: str) -> Integers | None:
        """Numbers of the true motifs; where a node is explained, 0 in its own motif and −1 elsewhere."""
        labels, node_labels = self.data.get(name), self.data.get("node_motif")
        if labels is None:
            return None
        numbers: Integers = np.asarray(labels.cpu())
        node = self.settings.get("node")
        if node is None or node_labels is None:
            return numbers
        motif = int(node_labels[node])
        return np.where((numbers == motif) & (motif >= 0), 0, -1)


@dataclass
class GroupPredictions:
    """An index of a game, and random groups whose worth it predicts.

    Args:
        game: The game.
        interactions: The index.
        groups: Groups of players, booleans [g, n].
        connected_groups: Groups that are connected in the game's graph.
        queries: Coalitions that the index queried.
        seconds: Time that it took.
    """

    game: Game
    interactions: Interactions
    groups: Masks
    connected_groups: Masks
    queries: float
    seconds: float = np.nan
