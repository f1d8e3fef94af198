"""Which nodes of the input graph take part in a game, and which player each of them follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import AnyArray, Integers, Masks
from mage._torch.graph_input import GraphInput, positions_among


@dataclass(frozen=True)
class Participants:
    """Nodes in play.

    Attributes:
        graph: Their graph, renumbered.
        nodes: Their numbers in the input graph [n].
        column: The player that each of them follows [n]; ``num_players`` for nodes that are always present, and
            ``num_players + 1`` for nodes that never are.
        num_players: Number of players.
        targets: The explained node, or both ends of the explained link, by their numbers in the input graph; empty for
            the whole graph.
    """

    graph: GraphInput
    nodes: Tensor
    column: Tensor
    num_players: int
    targets: Tensor

    @classmethod
    def of(cls, graph: GraphInput, targets: Tensor, nodes: Tensor | None = None) -> Participants:
        """Some nodes of the input graph, all by default, each a player of its own."""
        all_nodes = torch.arange(graph.num_nodes, device=graph.device)
        whole = cls(graph, all_nodes, all_nodes, graph.num_nodes, targets)
        if nodes is None or torch.equal(nodes, all_nodes):
            return whole
        part = whole.restricted_to(nodes)
        return replace(part, column=torch.arange(len(nodes), device=graph.device), num_players=len(nodes))

    @cached_property
    def target_rows(self) -> Tensor:
        """Where the targets are among the nodes in play."""
        return positions_among(self.nodes, self.targets)

    @property
    def target_players(self) -> list[int]:
        """Players without whom there is no output."""
        columns = {int(column) for column in self.column[self.target_rows]}
        return sorted(column for column in columns if column < self.num_players)

    @property
    def one_node_each(self) -> bool:
        """Whether every node in play is a player of its own."""
        return self.num_players == self.graph.num_nodes and len(torch.unique(self.column)) == self.num_players

    @cached_property
    def node_of_player(self) -> Integers:
        """Where every node is a player of its own: the row of each player."""
        return np.argsort(self.column.cpu().numpy())

    @cached_property
    def player_nodes(self) -> list[Integers]:
        """Nodes of the input graph that each player stands for."""
        column, nodes = self.column.cpu().numpy(), self.nodes.cpu().numpy()
        order = np.argsort(column, kind="stable")
        count = int(np.searchsorted(column[order], self.num_players))
        starts = np.searchsorted(column[order[:count]], np.arange(1, self.num_players))
        return np.split(nodes[order[:count]], starts)

    @property
    def player_edges(self) -> Integers:
        """Edges [e, 2] between players, as the graph has them."""
        edges = self.column.cpu().numpy()[self.graph.all_edges.T.cpu().numpy()]
        return np.asarray(edges[(edges < self.num_players).all(axis=1)])

    def present(self, masks: Masks) -> Tensor:
        """Nodes that are present when these players are [q, n]."""
        fixed = np.tile([True, False], (len(masks), 1))
        return torch.from_numpy(np.concatenate([masks, fixed], axis=1)).to(self.graph.device)[:, self.column]

    def restricted_to(self, rows: Tensor) -> Participants:
        """Only some nodes, renumbered in the order given."""
        return replace(self, graph=self.graph.restricted_to(rows), nodes=self.nodes[rows], column=self.column[rows])

    def with_players(self, labels: AnyArray) -> Participants:
        """The present players joined into groups: a label for each player [num_players]."""
        count = int(labels.max()) + 1
        column = torch.full_like(self.column, count)
        column[self.column > self.num_players] = count + 1
        plays = self.column < self.num_players
        column[plays] = torch.from_numpy(np.asarray(labels, dtype=np.int64)).to(column.device)[self.column[plays]]
        return replace(self, column=column, num_players=count)

    def with_boundary(self, graph: GraphInput) -> Participants:
        """The same players with another, smaller boundary behind them; players come first."""
        count = graph.num_nodes
        return replace(self, graph=graph, nodes=self.nodes[:count], column=self.column[:count])

    def zoomed(self, groups: Sequence[Sequence[int]], others: str) -> Participants:
        """Some nodes as new players, all others always ``"present"`` or ``"absent"``; targets are present."""
        inside = self.nodes.cpu().numpy()
        sorting = np.argsort(inside)
        members = np.concatenate([np.asarray(group, dtype=np.int64) for group in groups])
        place = np.searchsorted(inside, members, sorter=sorting)
        rows = sorting[np.minimum(place, len(inside) - 1)]
        wrong = members[(inside[rows] != members) | (self.column.cpu().numpy()[rows] >= self.num_players)]
        if len(wrong) or len(np.unique(members)) < len(members):
            reason = f"node {wrong[0]} is not a player" if len(wrong) else "groups must not overlap"
            raise ValueError(f"groups: {reason}")
        count = len(groups)
        column = torch.full_like(self.column, count if others == "present" else count + 1)
        column[self.column == self.num_players] = count
        column[self.target_rows] = count
        labels = np.repeat(np.arange(count), [len(group) for group in groups])
        column[torch.from_numpy(rows).to(column.device)] = torch.from_numpy(labels).to(column.device)
        return replace(self, column=column, num_players=count)

    def edges_between(self, nodes: Integers) -> Integers:
        """Edges [e, 2] between some nodes in play, as positions in their (ascending) list."""
        rank = np.full(len(self.nodes), -1, dtype=np.int64)
        inside = self.nodes.cpu().numpy()
        ends_inside = np.isin(inside, nodes)
        rank[ends_inside] = np.searchsorted(nodes, inside[ends_inside])
        edges = rank[self.graph.all_edges.T.cpu().numpy()]
        return np.asarray(edges[(edges >= 0).all(axis=1)])
