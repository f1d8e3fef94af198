"""Games whose players are parts of a graph other than nodes: its edges, or the features of its nodes."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Floats, Integers, Masks
from mage._torch.masking import MaskedBatch, with_all_nodes, with_features_of_copies
from mage._torch.outputs import Readout
from mage.games.game import Game
from mage.games.model_game import ModelGame
from mage.graph import PlayerGraph

_MOST_LINKS = 4_000_000  # pairs of edges that share a node; a node of 2,000 edges has half as many


class PartGame(Game):
    """What is a set of parts of a graph worth to a model? All nodes stay; the base of games of edges and of features.

    Args:
        game: The game of the nodes, which knows model, graph and what of the output is explained.

    Attributes:
        nodes: The game of the nodes.
        parts: Which parts play; all others are always present.
    """

    player_kind: ClassVar[str] = ""

    def __init__(self, game: ModelGame) -> None:
        self.nodes = game
        self.level, self.num_hops, self.query_cost = game.level, game.num_hops, game.query_cost
        self.masking = "remove"
        self.readout: Readout = game.readout
        self.prediction: Floats = game.prediction
        self.num_parts = self._find_parts()
        self._start(np.arange(self.num_parts))

    @abstractmethod
    def _find_parts(self) -> int:
        """Find all parts, and return how many there are."""

    @abstractmethod
    def _edges(self) -> Any:
        """Pairs of parts that are joined; None where all are."""

    @abstractmethod
    def _names(self) -> list[str]:
        """Names of all parts."""

    @abstractmethod
    def _batch(self, present: Tensor) -> MaskedBatch:
        """Copies of the graph in which these parts [q, p] are present."""

    def _start(self, parts: Integers) -> None:
        """Become a game among these parts."""
        if not len(parts):
            raise ValueError(f"players: the graph has no {self.player_kind} that could play")
        self.parts = parts
        names, edges = self._names(), self._edges()
        if edges is not None:
            rank = np.full(self.num_parts, -1, dtype=np.int64)
            rank[parts] = np.arange(len(parts))
            pairs = rank[np.asarray(edges, dtype=np.int64).reshape(-1, 2)]
            edges = PlayerGraph(len(parts), pairs[(pairs >= 0).all(axis=1)])
        request = self.nodes.request
        super().__init__(
            self._value,
            len(parts),
            edges,
            [names[part] for part in parts.tolist()],
            baseline=request.baseline,
            batch_size=self.nodes.batch_size,
            bytes_per_coalition=self._bytes_per_coalition,
            memory_cap=request.memory_cap,
        )
        self.resolution = self.nodes.resolution

    @property
    def _bytes_per_coalition(self) -> int:
        """Bytes beside those that the model needs for a copy of the graph."""
        return 64 * self.num_parts

    @property
    def num_queries(self) -> int:
        """Graphs the model has been run on."""
        return self.nodes.num_queries

    def limited_to(self, players: Sequence[int]) -> PartGame:
        """The game among some players, while all other parts are always present."""
        game = copy.copy(self)
        game._start(self.parts[np.asarray(players, dtype=np.int64)])
        return game

    def _value(self, masks: Masks) -> Floats:
        values: Floats = self.readings(masks, (self.readout,))[0]
        return values

    def readings(self, masks: Masks, readouts: Sequence[Readout]) -> Floats:
        """Several numbers [r, q] of the model's outputs on coalitions [q, n], from one run."""
        participants, runner = self.nodes.participants, self.nodes.runner
        present = np.ones((len(masks), self.num_parts), dtype=np.bool_)
        present[:, self.parts] = masks
        rows = torch.from_numpy(present).to(participants.graph.device)
        alone = runner.one_by_one or bool(runner.selections)
        portion = 1 if alone else max(1, runner.rows_at_once // participants.graph.num_nodes)
        values = []
        with runner.evaluating():
            for block in torch.split(rows, portion):
                outputs = runner.outputs_of(
                    self._batch(block), participants.graph, len(block), participants.target_rows
                )
                values.append(torch.stack([readout(outputs) for readout in readouts]))
        numbers: Floats = torch.cat(values, dim=1).double().cpu().numpy()
        return numbers


def feature_names(game: FeatureGame, data: Any) -> tuple[str, ...]:
    """Names of all columns: ``data.feature_names``, or with types ``data[type].feature_names``, else their numbers."""
    names = list(game.column_names)
    first = 0
    for kind, width in game.widths:
        column_names = getattr(data[kind] if kind else data, "feature_names", None)
        if isinstance(column_names, list | tuple) and len(column_names) == width:
            names[first : first + width] = [f"{kind}: {name}" if kind else str(name) for name in column_names]
        first += width
    return tuple(names)


class EdgeGame(PartGame):
    """What is a set of edges worth to a graph model? Two edges are joined where they share a node.

    At node and link level the edges between nodes that the output can depend on play; at link level edges at one end
    are joined to those at the other.

    Args:
        game: The game of the nodes.
        undirected: Whether all columns of ``edge_index`` between the same two nodes are one player, or each its own.

    Attributes:
        columns: Edges [2, e] of the nodes in play, by their rows.
        ends: For each part its two rows [p, 2].
        player_of_column: For each column its part; ``num_parts`` for columns that are always present.
    """

    player_kind = "edges"

    def __init__(self, game: ModelGame, undirected: bool = True) -> None:
        self.undirected = undirected
        if game.participants.graph.structures:
            listed = ", ".join(game.participants.graph.structures)
            raise ValueError(f"players='edges' are those of edge_index; data has others too ({listed})")
        super().__init__(game)

    def _find_parts(self) -> int:
        participants = self.nodes.participants
        self.columns: Integers = participants.graph.edge_index.cpu().numpy()
        plays = (participants.column < participants.num_players).cpu().numpy()
        inner = np.flatnonzero(plays[self.columns].all(axis=0))
        pairs = self.columns[:, inner].T
        owner = np.arange(len(inner))
        self.ends: Integers = pairs
        if self.undirected and len(inner):
            self.ends, owner = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
        self.player_of_column: Integers = np.full(self.columns.shape[1], len(self.ends), dtype=np.int64)
        self.player_of_column[inner] = owner.reshape(-1)
        return len(self.ends)

    def _edges(self) -> Any:
        ends, rows = self.ends, self.nodes.participants.target_rows.tolist()
        count = self.nodes.participants.graph.num_nodes
        place = np.arange(count)
        if self.level == "edge":
            place[rows] = rows[0]  # a link joins what is at its ends
        part = np.repeat(np.arange(len(ends)), 2)
        node = place[ends].reshape(-1)
        order = np.argsort(node, kind="stable")
        groups = np.split(part[order], np.flatnonzero(np.diff(node[order])) + 1) if len(order) else []
        if sum(len(group) ** 2 for group in groups) > _MOST_LINKS:
            raise ValueError(
                "players: a node of this graph has too many edges for all pairs of them; use players='nodes'"
            )
        pairs = [np.stack(np.triu_indices(len(group), 1), axis=1) for group in groups]
        joined = [group[pair] for group, pair in zip(groups, pairs, strict=True)]
        return np.concatenate(joined) if joined else np.empty((0, 2), dtype=np.int64)

    def _names(self) -> list[str]:
        return [f"{first}–{second}" for first, second in self._links()]

    def _links(self) -> list[tuple[int, int]]:
        nodes = self.nodes.participants.nodes.cpu().numpy()
        return [(int(first), int(second)) for first, second in nodes[self.ends]]

    def _batch(self, present: Tensor) -> MaskedBatch:
        graph = self.nodes.participants.graph
        always = torch.ones(len(present), 1, dtype=torch.bool, device=present.device)
        owner = torch.from_numpy(self.player_of_column).to(present.device)
        copies, column = torch.nonzero(torch.cat([present, always], dim=1)[:, owner], as_tuple=True)
        all_nodes = torch.ones(len(present), graph.num_nodes, dtype=torch.bool, device=present.device)
        return with_all_nodes(graph, all_nodes, graph.node, copies, column)

    @property
    def player_links(self) -> list[tuple[int, int]]:
        """The two nodes of the input graph that each player joins."""
        links = self._links()
        return [links[part] for part in self.parts.tolist()]

    @property
    def player_nodes(self) -> list[tuple[int, ...]]:
        """Nodes of the input graph that each player touches."""
        return [tuple(sorted(set(link))) for link in self.player_links]

    @property
    def target_nodes(self) -> tuple[int, ...]:
        """The explained node, or both ends of the explained link; empty for a whole graph."""
        return self.nodes.target_nodes

    @property
    def density(self) -> float:
        """Share of the edges that the graph could have; loops count for none."""
        size = self.nodes.participants.graph.num_nodes
        joined = int(np.count_nonzero(self.ends[:, 0] != self.ends[:, 1]))
        possible = size * (size - 1) // (2 if self.undirected else 1)
        return min(1.0, joined / max(1, possible))


class FeatureGame(PartGame):
    """What is a set of features worth to a graph model? A feature is a column of ``x``, absent for all nodes at once.

    All features are joined with each other. Columns that are equal to what stands for their absence do not play.

    Args:
        game: The game of the nodes.
        nodes: Nodes of the input graph whose features play, while those of all others stay; all nodes by default.
        absent: What replaces an absent feature: ``"zero"``, or its ``"mean"`` over the nodes.

    Attributes:
        num_columns: Columns of ``x``, of all types together where nodes have types.
        column_names: What they are called by their numbers.
        widths: The types of nodes, and how many columns each has.
    """

    player_kind = "features"

    def __init__(self, game: ModelGame, nodes: Sequence[int] | None = None, absent: str = "zero") -> None:
        if absent not in ("zero", "mean"):
            raise ValueError(f"absent must be 'zero' or 'mean', got {absent!r}")
        inside = game.participants.nodes.cpu().numpy()
        self._rows: Integers = np.arange(len(inside)) if nodes is None else np.flatnonzero(np.isin(inside, nodes))
        self._absent = absent
        super().__init__(game)
        self.masking = absent

    def _find_parts(self) -> int:
        """Columns that differ from what stands for them, type by type; the cells [n, d] of each."""
        tables = self._tables()
        graph = self.nodes.participants.graph
        self.widths = [(kind, table.size(1)) for kind, _, table in tables]
        self.num_columns = sum(width for _, width in self.widths)
        self.column_names = [
            f"{kind} x{column}" if kind else f"x{column}"
            for kind, _, table in tables
            for column in range(table.size(1))
        ]
        widest = max(table.size(1) for _, _, table in tables)
        owner = torch.full((graph.num_nodes, widest), -1, dtype=torch.long)
        parts: list[int] = []
        first = 0
        for _, rows, table in tables:
            other = self._other(table)
            inner = np.isin(rows, self._rows)
            differs = (table[torch.from_numpy(np.flatnonzero(inner)).to(table.device)] != other).any(dim=0)
            for column in torch.nonzero(differs).flatten().tolist():
                owner[torch.from_numpy(rows[inner]), column] = len(parts)
                parts.append(first + column)
            first += table.size(1)
        self._columns = parts
        self._owner = torch.where(owner < 0, len(parts), owner).to(graph.device)
        return len(parts)

    def _tables(self) -> list[tuple[str, Integers, Tensor]]:
        """Features [rows, d] of each type of nodes, with the rows in play; one nameless type without types."""
        participants, typed = self.nodes.participants, self.nodes.typed
        tables: list[tuple[str, Integers, Tensor]] = []
        if typed is None:
            all_nodes = np.arange(participants.graph.num_nodes)
            features = participants.graph.node.get("x")
            tables += [] if features is None else [("", all_nodes, features)]
        else:
            names = np.array(typed.type_names)[participants.nodes.cpu().numpy()]
            for kind, start in zip(typed.node_types, typed.node_starts, strict=False):
                rows = np.flatnonzero(names == kind)
                if "x" in typed.node[kind]:
                    tables.append(
                        (kind, rows, typed.node[kind]["x"][participants.nodes[torch.from_numpy(rows)] - start])
                    )
        usable = [table for table in tables if table[2].is_floating_point() and table[2].dim() == 2]
        if not usable:
            raise ValueError("players='features' needs data.x as numbers with a column per feature [n, d]")
        return usable

    def _other(self, table: Tensor) -> Tensor:
        return table.mean(dim=0) if self._absent == "mean" else torch.zeros_like(table[0])

    def _edges(self) -> Any:
        return None

    def _names(self) -> list[str]:
        return [self.column_names[column] for column in self._columns]

    def _batch(self, present: Tensor) -> MaskedBatch:
        graph = self.nodes.participants.graph
        always = torch.ones(len(present), 1, dtype=torch.bool, device=present.device)
        cells = torch.cat([present, always], dim=1)[:, self._owner]
        if self.nodes.typed is not None:
            # Typed features are put together when the model is called.
            return with_features_of_copies(graph, cells.to(graph.node["x"].dtype))
        features = graph.node["x"]
        return with_features_of_copies(graph, torch.where(cells, features, self._other(features)))

    @property
    def _bytes_per_coalition(self) -> int:
        return 16 * self._owner.numel() + 1024

    @property
    def player_columns(self) -> list[int]:
        """The column that each player is, counted over all types."""
        return [self._columns[part] for part in self.parts.tolist()]

    @property
    def player_nodes(self) -> list[tuple[int, ...]]:
        """The column that each player is: an explanation by features has columns for nodes."""
        return [(column,) for column in self.player_columns]
