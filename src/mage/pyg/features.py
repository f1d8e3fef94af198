"""What the features of nodes add to an output: games whose players are columns, or single numbers, of ``x``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Floats, Integers, Masks
from mage._torch.masked_model import bytes_per_copy
from mage._torch.masking import MASKINGS
from mage.games import Game, GraphRequest
from mage.games.model_game import ModelGame
from mage.indices import IndexRequest, compute_interactions

Kind = str | None  # a type of nodes; None where the graph has none
_EXACT = 10  # up to this number of players all coalitions are evaluated
_QUERIES = 1000  # coalitions for more of them
_MOST_ENTRIES = 512  # single numbers that play; above, a column of all chosen nodes is one player
_LEAST_ORDERINGS = 4


class _WithFeatures:
    """Calls a model on copies of a graph, each with some of the features; the others are zero.

    Args:
        call: How the model is called.

    Attributes:
        shown: For each type of nodes, whether each number of ``x`` is there [q, n, f]; empty for all of them.
    """

    def __init__(self, call: Callable[[Any, Any], Any]) -> None:
        self.call = call
        self.shown: dict[Kind, Tensor] = {}

    def __call__(self, model: Any, data: Any) -> Any:
        for kind, shown in self.shown.items():
            store = data if kind is None else data[kind]
            store.x = torch.where(shown.flatten(0, 1), store.x, torch.zeros_like(store.x))
        return self.call(model, data)


class FeatureGames:
    """Games of one output of a model whose players are features: all nodes and edges stay.

    Args:
        model: The model.
        data: The graph, with or without types of nodes.
        request: How the model is queried; its ``forward`` calls the model.
        seed: Seed of the orderings, where there are too many players for all coalitions.
    """

    def __init__(self, model: Any, data: Any, request: GraphRequest, seed: int) -> None:
        if request.forward is None:
            raise ValueError("forward: features are masked in the call of a model, which this explainer does not make")
        self._call = _WithFeatures(request.forward)
        self._game = ModelGame(model, data, request, forward=self._call)
        self._runner = copy.copy(self._game.runner)
        # Everybody is present, so this masking changes nothing.
        self._runner.masking, self._runner.removes = MASKINGS["split"], False
        self._seed = seed
        nodes = self._game.participants.nodes
        typed = self._game.typed
        self._rows: dict[Kind, Tensor] = {None: nodes}
        tables: Mapping[Kind, Tensor | None] = {None: data.get("x")}
        if typed is not None:
            kinds = typed.type_of_node[nodes]
            starts = dict(zip(typed.node_types, typed.node_starts, strict=False))
            self._rows = {k: nodes[kinds == place] - starts[k] for place, k in enumerate(typed.node_types)}
            tables = {kind: typed.node[kind].get("x") for kind in typed.node_types}
        self._tables = {kind: _checked_table(table, kind) for kind, table in tables.items()}

    def by_type(self, nodes: Iterable[int]) -> dict[Kind, Integers]:
        """Nodes by their numbers in the whole graph, as numbers within their types."""
        numbers = np.array(sorted(set(nodes)), dtype=np.int64)
        typed = self._game.typed
        if typed is None:
            return {None: numbers}
        bounds = zip(typed.node_types, typed.node_starts, typed.node_starts[1:], strict=False)
        return {kind: numbers[(numbers >= start) & (numbers < end)] - start for kind, start, end in bounds}

    def column_scores(self) -> dict[Kind, Floats]:
        """The Shapley value of each column of ``x``, [f] for each type; an absent column is zero at all nodes."""
        labels, first = {}, 0
        for kind, table in self._tables.items():
            labels[kind] = np.tile(np.arange(first, first + table.size(1)), (len(table), 1))
            first += table.size(1)
        values = self._shapley(labels)
        return {kind: values[numbers[0]] if len(numbers) else values[:0] for kind, numbers in labels.items()}

    def entry_scores(self, nodes: Mapping[Kind, Integers]) -> dict[Kind, Floats]:
        """The Shapley value of each number of ``x`` at some nodes, [n, f] for each type; zero at all other nodes.

        An absent number is zero. Numbers that are zero anyway add nothing, and do not play. Of more than 512, whole
        columns play, and what a column adds is divided evenly among its numbers that are not zero.

        Args:
            nodes: Nodes by their numbers within their type.
        """
        plays = {kind: np.zeros(tuple(table.shape), dtype=bool) for kind, table in self._tables.items()}
        for kind, members in nodes.items():
            plays[kind][members] = (self._tables[kind][members] != 0).cpu().numpy()
        by_column = sum(int(each.sum()) for each in plays.values()) > _MOST_ENTRIES
        labels, first = {}, 0
        for kind, each in plays.items():
            numbers = np.cumsum(each.any(axis=0)) if by_column else np.cumsum(each).reshape(each.shape)
            labels[kind] = np.where(each, first + numbers - 1, -1)
            first += int(numbers.max(initial=0))
        if not first:
            return {kind: np.zeros(each.shape) for kind, each in plays.items()}
        sizes = np.bincount(np.concatenate([labels[kind][each] for kind, each in plays.items()]), minlength=first)
        values = np.append(self._shapley(labels) / sizes, 0.0)
        return {kind: values[numbers] for kind, numbers in labels.items()}

    def _shapley(self, labels: Mapping[Kind, Integers]) -> Floats:
        """Shapley values of players that are sets of numbers of ``x``: a label for each, below 0 for no player."""
        game, runner = self._game, self._runner
        participants, device = game.participants, game.participants.graph.device
        count = 1 + max(int(numbers.max(initial=-1)) for numbers in labels.values())
        player = {
            kind: torch.from_numpy(np.where(numbers < 0, count, numbers)).to(device)[self._rows[kind]]
            for kind, numbers in labels.items()
        }

        def value(masks: Masks) -> Floats:
            present = torch.from_numpy(np.pad(masks, ((0, 0), (0, 1)), constant_values=True)).to(device)
            all_nodes = torch.ones(len(masks), participants.graph.num_nodes, dtype=torch.bool, device=device)
            parts = []
            try:
                with runner.evaluating():
                    # The presence masks are set for a whole portion, so no part of it may be run alone.
                    sizes = [1] * len(masks) if runner.selections else runner.portions(all_nodes)
                    for portion in torch.split(torch.arange(len(masks), device=device), sizes):
                        self._call.shown = {kind: present[portion][:, each] for kind, each in player.items()}
                        outputs = runner.outputs(participants.graph, all_nodes[portion], participants.target_rows)
                        parts.append(game.readout(outputs))
            finally:
                self._call.shown = {}
            values: Floats = torch.cat(parts).cpu().numpy()
            return values

        numbers_of_copy = sum(each.numel() for each in player.values())
        features = Game(
            value,
            count,
            bytes_per_coalition=bytes_per_copy(game.model, participants.graph) + 16 * numbers_of_copy,
            memory_cap=game.request.memory_cap,
        )
        request = IndexRequest("shapley", method="exact")
        if count > _EXACT:
            orderings = max(_LEAST_ORDERINGS, _QUERIES // count)
            request = IndexRequest("shapley", method="permutation", permutations=orderings, seed=self._seed)
        values = compute_interactions(features, request, progress=False).values
        return np.where(np.abs(values) > game.rounding, values, 0.0)


def _checked_table(table: Tensor | None, kind: Kind) -> Tensor:
    if table is None or not table.is_floating_point() or table.dim() != 2:
        what = "missing" if table is None else f"{table.dtype} {list(table.shape)}"
        whose = "" if kind is None else f" of {kind!r}"
        raise ValueError(
            f"node_mask_type: features can only be masked where x{whose} is a table of real numbers, and it is {what}; "
            "use node_mask_type='object'"
        )
    return table
