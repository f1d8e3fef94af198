"""Games whose players are the nodes of a graph and whose referee is a PyG model."""

from __future__ import annotations

import contextlib
import copy
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._core.typing import Floats, Integers, Masks
from mage._torch.boundary_nodes import with_stand_ins
from mage._torch.computation_tree import Unfolding
from mage._torch.evaluation import evaluating, networks_behind
from mage._torch.forward import Forward
from mage._torch.graph_input import GraphInput, positions_among
from mage._torch.masking import MASKINGS, masking_named, union_of_copies
from mage._torch.outputs import Readout
from mage._torch.receptive_field import LooksFurtherError, computation_nodes, counting_hops, nodes_within
from mage.games.game import Game
from mage.games.grouping import checked_groups
from mage.games.node_contributions import NodeShares, Wiring, edges_are_alike, kinds_of_nodes, one_graph_per_node
from mage.games.requests import bytes_per_copy, check_device, checked_targets, widest_layer
from mage.graph import PlayerGraph

_MEBIBYTE = 1 << 20
_MOST_PLAYERS = 30_000  # the bits of their adjacency take n² / 8 bytes
_LITTLE_SCENERY = 32  # nodes that are not worth thinning
_PROBES = 4  # coalitions on which the thinned scenery is tried
_WIDER = 2  # hops around the computation graph on which a large graph's prediction is computed


@dataclass
class _Runs:
    """Graphs the model has been run on, counted for a game and all games made from it."""

    graphs: int = 0


class ModelGame(Game):
    """What is a set of nodes worth to a graph model?

    Graph level: players are all nodes, and a coalition's worth is the model's output on the graph without the others.
    Node and link level (``node=`` or ``edge=``): players are the nodes that the output can depend on, by as many hops
    as the model has message-passing layers; a coalition without the target node (or both ends) is worth the baseline.

    Args:
        model: A PyG model or any callable.
        data: One graph.
        target: Class to explain; the predicted one by default. Regression has none.
        output: ``"logit"``, ``"probability"`` or ``"log-probability"`` of the target.
        masking: ``"remove"``, ``"split"``, ``"zero"``, ``"mean"``, or a function ``(graph, masks) -> Union``.
        node: Node whose output is explained.
        edge: Pair of nodes whose link is explained; the model takes ``edge_label_index``.
        groups: Players that are groups of nodes: a label for each node, a list of lists of nodes covering all,
            ``"communities"`` or ``"rings"`` (see :mod:`mage.games.grouping`), or a function
            ``(edges, num_players) -> labels``.
        task: ``"multiclass"``, ``"binary"``, ``"regression"``; by default by the number of columns (one column is a
            regression unless ``target`` is given).
        return_type: What the model returns: ``"raw"``, ``"probs"`` or ``"log_probs"``.
        forward: ``call(model, data)`` for models that are called in a way of their own.
        num_hops: Hops of the computation graph at node and link level; read from the model by default.
        names: Names of the players.
        baseline: Value of the empty coalition, where it is known.
        batch_size: Most coalitions in one call of the model.
        memory_cap: Bytes that a batch may take, roughly. A node or link of a graph that would take more is explained
            from the nodes within two hops more than it can see, and the model never runs on the whole graph.

    Attributes:
        player_nodes: Nodes of the input graph that each player stands for.
        prediction: The model's output, a number per class.
        num_hops: How many hops away nodes hear each other: message-passing layers, counted as they ran.
        input_nodes: Nodes of the input graph.
        seen_nodes: How many of them the prediction was computed from.
        seen_hops: How far around the targets these are; None for the whole graph.
    """

    def __init__(
        self,
        model: Any,
        data: Data,
        *,
        target: int | None = None,
        output: str = "logit",
        masking: str | Callable[..., Any] = "remove",
        node: int | None = None,
        edge: Sequence[int] | None = None,
        groups: Any = None,
        task: str = "auto",
        return_type: str = "raw",
        forward: Callable[[Any, Data], Tensor] | None = None,
        num_hops: int | None = None,
        names: Sequence[str] | None = None,
        baseline: float | None = None,
        batch_size: int = 4096,
        memory_cap: int = 512 * _MEBIBYTE,
    ) -> None:
        check_device(model, data)
        whole = GraphInput.of(data)
        self.model = model
        # The nodes in play: their graph, their numbers in the input graph, and the column of a mask that each follows:
        # a player's, or one more for nodes that are always present, or two more for nodes that never are.
        self._graph: GraphInput
        self._nodes: Tensor
        self._column: Tensor
        self._num_columns: int
        self._needed: Tensor  # where the targets are among them
        self._runs = _Runs()
        # Found once: a function may have much about it to look through.
        self._networks = [*networks_behind(model), *networks_behind(forward)]
        self.input_nodes = whole.num_nodes
        self._rows_at_once = max(4096, min(16384, 16384 * 32 // widest_layer(model)))
        self._masking = masking_named(masking)
        self._removes = self._masking is MASKINGS["remove"]
        if isinstance(masking, str) and masking in ("zero", "mean"):
            # Whether there are features to replace shows on one node.
            one = torch.zeros(1, dtype=torch.long, device=whole.device)
            self._masking(whole.restricted_to(one), torch.zeros(1, 1, dtype=torch.bool, device=whole.device))
        needed = checked_targets(node, edge, whole.num_nodes)
        self.level = "graph" if needed is None else ("node" if edge is None else "edge")
        self._forward = Forward(
            model,
            {*whole.node, *whole.edge, *whole.graph} | ({"edge_label_index"} if edge is not None else set()),
            forward,
        )
        self._one_by_one = not self._forward.takes_batch and needed is None
        self._absent = baseline
        self._memory_cap, self._batch_size = memory_cap, batch_size
        self._targets = torch.tensor([] if needed is None else needed, dtype=torch.long, device=whole.device)
        num_players, full = self._set_scene(whole, num_hops)
        self.readout = Readout.of(full, task, target, output, return_type)
        self.prediction: Floats = full[0].double().cpu().numpy()
        self._resolution = float(torch.finfo(full.dtype).eps) if full.is_floating_point() else 0.0
        self._check_batches()
        labels = np.arange(num_players)
        if groups is not None:
            players = self._nodes[:num_players].cpu().numpy()
            found = checked_groups(groups, players, whole.num_nodes, self._graph.edges_among(num_players))
            labels = labels if found is None else found
        self._num_columns = int(labels.max()) + 1
        self._column[:num_players] = torch.from_numpy(labels).to(whole.device)
        self._column[num_players:] = self._num_columns
        self._start(names, baseline)

    def _start(self, names: Sequence[str] | None = None, baseline: float | None = None) -> None:
        """Become a game among the players that the columns name."""
        if self._num_columns > _MOST_PLAYERS:
            raise ValueError(
                f"groups: {self._num_columns:,} nodes are more players than the {_MOST_PLAYERS:,} whose graph fits in "
                "memory; group them, for example with groups='communities'"
            )
        column, nodes = self._column.cpu().numpy(), self._nodes.cpu().numpy()
        order = np.argsort(column, kind="stable")
        count = int(np.searchsorted(column[order], self._num_columns))
        starts = np.searchsorted(column[order[:count]], np.arange(1, self._num_columns))
        self.player_nodes: list[Integers] = np.split(nodes[order[:count]], starts)
        edges = column[self._graph.edge_index.T.cpu().numpy()]
        if self.level == "edge":
            # Only coalitions with both ends are worth something; unless joined, the two could never meet in one.
            edges = np.concatenate([edges, column[self._needed.cpu().numpy()][None]])
        edges = edges[(edges < self._num_columns).all(axis=1)]
        if names is None:
            names = [
                ",".join(map(str, nodes)) if len(nodes) <= 3 else f"group {i}"
                for i, nodes in enumerate(self.player_nodes)
            ]
        super().__init__(
            self._value,
            self._num_columns,
            PlayerGraph(self._num_columns, edges),
            names,
            baseline=baseline,
            batch_size=self._batch_size,
            bytes_per_coalition=bytes_per_copy(self.model, self._graph),
            memory_cap=self._memory_cap,
        )
        self.resolution = self._resolution

    @property
    def num_queries(self) -> int:
        """Graphs the model has been run on, the unmasked one included; coalitions without the target need no run.

        Neighbourhoods that ``method="exact-local"`` has unfolded count by their nodes: as many as the graph has are
        one query.
        """
        return self._runs.graphs

    @property
    def target(self) -> int | None:
        """Class that is explained; None for regression."""
        return self.readout.target

    @property
    def target_nodes(self) -> tuple[int, ...]:
        """The explained node of the input graph, or both ends of the explained link; empty for a whole graph."""
        return tuple(self._targets.tolist())

    @property
    def target_players(self) -> list[int]:
        """Players without whom there is no output: those of the target node, or of both ends of the link."""
        columns = {int(column) for column in self._column[self._needed]}
        return sorted(column for column in columns if column < self._num_columns)

    def edges_between(self, nodes: Integers) -> Integers:
        """Edges [e, 2] of the input graph between some nodes in play, as positions in their (ascending) list."""
        rank = np.full(len(self._nodes), -1, dtype=np.int64)
        inside = self._nodes.cpu().numpy()
        chosen = np.isin(inside, nodes)
        rank[chosen] = np.searchsorted(nodes, inside[chosen])
        edges = rank[self._graph.edge_index.T.cpu().numpy()]
        return np.asarray(edges[(edges >= 0).all(axis=1)])

    # -- evaluation -----------------------------------------------------------------------------------------------

    def _value(self, masks: Masks) -> Floats:
        with evaluating(*self._networks):
            device = self._graph.device
            # Beside the players' columns one for nodes that are always there and one for nodes that never are.
            fixed = np.tile([True, False], (len(masks), 1))
            nodes = torch.from_numpy(np.concatenate([masks, fixed], axis=1)).to(device)[:, self._column]
            present = nodes[:, self._needed].all(dim=1) if len(self._needed) else nodes.any(dim=1)
            if not self._removes and not len(self._needed):
                present = torch.ones_like(present)
            values = torch.empty(len(masks), dtype=torch.float64, device=device)
            rows = torch.nonzero(present).flatten()
            for some in torch.split(rows, self._portions(nodes, rows)) if len(rows) else ():
                values[some] = self.readout(self._outputs(nodes[some])).double()
            if not bool(present.all()):
                values[~present] = self._absent_value()
        return values.cpu().numpy()

    def _check_batches(self) -> None:
        """Go one by one where the model lets graphs of a batch feel each other, or cannot take a batch at all."""
        if self._one_by_one:
            return
        masks = torch.ones(2, self._graph.num_nodes, dtype=torch.bool, device=self._graph.device)
        free = self._column < self._num_columns
        free[self._needed] = False
        masks[1, self._graph.half_of(free)] = False
        alone = torch.cat([self._raw(mask[None]) for mask in masks])
        try:
            together = self._raw(masks)
            same = torch.allclose(together, alone, atol=1e-4, rtol=1e-3, equal_nan=True)
        except (ValueError, RuntimeError, IndexError):
            same = False
        if not same:
            self._one_by_one = True
            with evaluating(*self._networks):
                torch.manual_seed(torch.initial_seed() + 1)
                again = self._outputs(masks[1:])
            random = not torch.allclose(again, alone[1:], atol=1e-4, rtol=1e-3, equal_nan=True)
            warnings.warn(
                "the model answers the same question differently each time; call .eval() on its networks"
                if random
                else "the model's output for a graph depends on the rest of the batch (a normalisation without "
                "batch=?), so coalitions are evaluated one by one, which is slow",
                stacklevel=4,
            )

    def _portions(self, nodes: Tensor, rows: Tensor) -> list[int]:
        """How to cut a batch so that a portion's activations stay in the processor's cache."""
        if self._one_by_one:
            return [1] * len(rows)
        sizes = nodes[rows].sum(dim=1) if self._removes else torch.full((len(rows),), nodes.size(1))
        portion = torch.cumsum(sizes.cpu(), dim=0) // self._rows_at_once
        return torch.bincount(torch.unique_consecutive(portion, return_inverse=True)[1]).tolist()

    def _absent_value(self) -> float:
        """Value where there is nothing to look at: the empty graph, or a graph without the target node."""
        if self._absent is None:
            self._absent = self._absent_output()
        return self._absent

    def _absent_output(self) -> float:
        size = self._graph.num_nodes
        masks = torch.zeros(1, size, dtype=torch.bool, device=self._graph.device)
        if not self._removes:
            return float(self.readout(self._outputs(masks))[0])
        if not len(self._needed) and not self._one_by_one:
            # The empty graph goes first, so that pooling still sees two graphs and gives it a row of its own.
            return float(self.readout(self._outputs(torch.cat([masks, ~masks])))[0])
        if not len(self._needed):
            with contextlib.suppress(ValueError, RuntimeError, IndexError):
                empty = float(self.readout(self._outputs(masks))[0])
                if math.isfinite(empty):
                    return empty
        # Without its target a node-level model has no output; the target alone, with blank features, comes nearest.
        masks[:, self._needed if len(self._needed) else 0] = True
        everyone = torch.arange(size, device=self._graph.device)
        return float(self.readout(self._outputs(masks, self._graph.blanked(everyone, edges=False)))[0])

    def _raw(self, masks: Tensor) -> Tensor:
        with evaluating(*self._networks):
            return self._outputs(masks)

    def _outputs(self, masks: Tensor, graph: GraphInput | None = None) -> Tensor:
        """The model's output rows [q, C], one for each coalition."""
        count = len(masks)
        data, place = self._masking(self._graph if graph is None else graph, masks)
        if self.level == "edge":
            data.edge_label_index = place[:, self._needed].T.contiguous()
        self._runs.graphs += count
        out = self._forward(data, count)
        if count == 1 and self.level != "node" and out.dim() < 2:
            out = out.reshape(1, -1)  # models that squeeze away the only graph of a batch
        out = out.unsqueeze(-1) if out.dim() == 1 else out
        if out.dim() != 2:
            raise ValueError(
                f"model must return one row of numbers for each graph or node, got shape {list(out.shape)}"
            )
        if self.level == "node":
            if out.size(0) != data.num_nodes:
                raise ValueError(
                    f"model returned {out.size(0)} rows for {data.num_nodes} nodes; node= needs one row per node"
                )
            return out[place[:, self._needed[0]]]
        if out.size(0) != count:
            per_node = out.size(0) == data.num_nodes
            hint = "one row per node; pass node= to explain a node" if per_node else f"{out.size(0)} rows"
            raise ValueError(f"model must return one row for each of {count} graphs, got {hint}")
        return out

    @cached_property
    def node_shares(self) -> NodeShares | None:
        """What each node adds to worths, for models that add up or average their nodes; None for others."""
        whole = len(self._needed) == 0 and self._num_columns == self._graph.num_nodes
        if not whole or self._masking is not MASKINGS["split"] or self._one_by_one:
            return None
        # What the model never looks at makes no difference to it.
        looked_at = self._graph.looked_at(self._forward.uses)
        wiring = Wiring(
            kinds_of_nodes(looked_at)[self._node_of_player],
            self._column.cpu().numpy()[self._graph.edge_index.cpu().numpy()],
            edges_are_alike(looked_at),
        )
        return NodeShares.of(self, self._node_outputs, self._root_outputs, wiring)

    @property
    def _node_of_player(self) -> Integers:
        """Where all nodes play for themselves: which one each player is."""
        return np.argsort(self._column.cpu().numpy())

    def _node_outputs(self, masks: Masks) -> Floats:
        """The number that is explained, for every node as if it were alone in the pool [q, n]."""
        nodes = torch.from_numpy(masks).to(self._graph.device)[:, self._column]
        parts = []
        with evaluating(*self._networks):
            for some in torch.split(nodes, self._portions(nodes, torch.arange(len(nodes)))):
                data, _ = self._masking(self._graph, some)
                self._runs.graphs += len(some)
                out = self._forward(data, one_graph_per_node(data))
                parts.append(self.readout(out.reshape(some.numel(), -1)).double().cpu().reshape(len(some), -1))
        return np.asarray(torch.cat(parts).numpy()[:, self._node_of_player])

    def _root_outputs(self, unfolding: Unfolding, count: int) -> Floats:
        """The number that is explained, for the first ``count`` nodes as if each were alone in the pool [count]."""
        graph = self._graph
        rows = torch.arange(len(unfolding.nodes), device=graph.device)
        nodes = torch.from_numpy(self._node_of_player[unfolding.nodes]).to(graph.device)
        edges = torch.from_numpy(unfolding.edges).to(graph.device)
        features = {key: value[nodes] for key, value in graph.node.items()}
        data = union_of_copies(graph, len(rows), features, edges, rows)
        data.edge_index = torch.from_numpy(unfolding.ends).to(graph.device)
        self._runs.graphs += unfolding.queries(graph.num_nodes)
        with evaluating(*self._networks):
            out = self._forward(data, len(rows))
            return np.asarray(self.readout(out.reshape(len(rows), -1)[:count]).double().cpu().numpy())

    # -- who plays ------------------------------------------------------------------------------------------------

    def zoomed(self, groups: Sequence[Sequence[int]], others: str = "present") -> ModelGame:
        """The game among some of the nodes, while all others stay as they are.

        Args:
            groups: Players, each a list of nodes of the input graph that play in this game.
            others: Whether all other nodes are always ``"present"``, so that the worth of a coalition is what it adds
                to them, or always ``"absent"``. Targets that are not in a group are present either way.

        Returns:
            A game that shares the model and the count of queries with this one, but no remembered worths.
        """
        if others not in ("present", "absent"):
            raise ValueError(f"others must be 'present' or 'absent', got {others!r}")
        inside = self._nodes.cpu().numpy()
        sorting = np.argsort(inside)
        members = np.concatenate([np.asarray(group, dtype=np.int64) for group in groups])
        place = np.searchsorted(inside, members, sorter=sorting)
        local = sorting[np.minimum(place, len(inside) - 1)]
        wrong = members[(inside[local] != members) | (self._column.cpu().numpy()[local] >= self._num_columns)]
        if len(wrong) or len(np.unique(members)) < len(members):
            reason = f"node {wrong[0]} does not play" if len(wrong) else "groups must not overlap"
            raise ValueError(f"groups: {reason}")
        game, count = copy.copy(self), len(groups)
        column = torch.full_like(self._column, count if others == "present" else count + 1)
        column[self._column == self._num_columns] = count
        column[self._needed] = count
        labels = np.repeat(np.arange(count), [len(group) for group in groups])
        column[torch.from_numpy(local).to(column.device)] = torch.from_numpy(labels).to(column.device)
        game._num_columns, game._column = count, column
        if self._removes:
            game._keep(torch.nonzero(column <= count).flatten())
        game._start()
        return game

    def _keep(self, local: Tensor) -> None:
        """Cut the graph to some of its nodes, renumbered in the order given."""
        self._graph = self._graph.restricted_to(local)
        self._nodes, self._column = self._nodes[local], self._column[local]
        self._needed = positions_among(self._nodes, self._targets)

    def _set_scene(self, whole: GraphInput, num_hops: int | None) -> tuple[int, Tensor]:
        """Run the unmasked graph and find who plays: the number of players, and the model's output."""
        everything = torch.arange(whole.num_nodes, device=whole.device)
        seen = everything if self.level == "graph" else self._worth_seeing(whole, num_hops)
        while True:
            self._stage(whole, seen)
            with counting_hops(self.model) as hops:
                full = self._raw(torch.ones(1, len(seen), dtype=torch.bool, device=whole.device))
            self.num_hops, self.seen_nodes = sum(hops), len(seen)
            self.seen_hops = None if len(seen) == whole.num_nodes else max(sum(hops), num_hops or 0) + _WIDER
            if self.level == "graph":
                return len(seen), full
            partial = len(seen) < whole.num_nodes
            try:
                players, context = computation_nodes(
                    self.model,
                    self._graph,
                    self._needed.tolist(),
                    sum(hops),
                    num_hops,
                    self._agreement(full),
                    patient=not partial,
                )
            except LooksFurtherError:
                if not partial:
                    raise
                # A neighbourhood cannot tell how much further; the whole graph, once, can.
                seen = everything
                continue
            self._stage(whole, seen[torch.cat([players, context])])
            self._column[len(players) :] = len(players)
            self._num_columns = len(players)
            if len(context) > _LITTLE_SCENERY:
                self._thin_scenery()
            return len(players), full

    def _thin_scenery(self) -> None:
        """Put few stand-ins in the place of the scenery, where the model says the same of a few coalitions."""
        count = self._num_columns
        probes = torch.ones(_PROBES, count, dtype=torch.bool, device=self._graph.device)
        probes[1:] = torch.rand(_PROBES - 1, count, generator=torch.Generator().manual_seed(0)).to(probes.device) < 0.8
        probes[:, self._needed] = True

        def outputs(graph: GraphInput) -> Tensor:
            always = torch.ones(_PROBES, graph.num_nodes - count, dtype=torch.bool, device=probes.device)
            masks = torch.cat([probes, always], dim=1)
            with evaluating(*self._networks):
                return torch.cat([self._outputs(mask[None], graph) for mask in masks])

        expected = outputs(self._graph)
        for graph in with_stand_ins(self._graph, count):
            if torch.allclose(outputs(graph), expected, atol=1e-5, rtol=1e-4):
                self._graph = graph
                self._nodes, self._column = self._nodes[: graph.num_nodes], self._column[: graph.num_nodes]
                return

    def _stage(self, whole: GraphInput, nodes: Tensor) -> None:
        """Take some nodes of the input graph, all of them players for now."""
        self._graph, self._nodes = whole, torch.arange(whole.num_nodes, device=whole.device)
        self._column, self._needed = self._nodes.clone(), self._targets
        if len(nodes) < whole.num_nodes or not torch.equal(nodes, self._nodes):
            self._keep(nodes)
            self._column = torch.arange(len(nodes), device=whole.device)
        self._num_columns = len(nodes)

    def _worth_seeing(self, whole: GraphInput, num_hops: int | None) -> Tensor:
        """All nodes, or where the graph is large those within two hops more than the target can hear."""
        everything = torch.arange(whole.num_nodes, device=whole.device)
        if bytes_per_copy(self.model, whole) <= self._memory_cap:
            return everything
        targets = self._targets.tolist()
        near = nodes_within(self.model, whole, targets, 1)
        self._stage(whole, near)
        with counting_hops(self.model) as hops:
            self._raw(torch.ones(1, len(near), dtype=torch.bool, device=whole.device))
        if not hops and num_hops is None:
            return everything
        return nodes_within(self.model, whole, targets, max(sum(hops), num_hops or 0) + _WIDER)

    def _agreement(self, full: Tensor) -> Callable[[Tensor, Tensor], bool]:
        """Whether the model says the same of the targets when it sees only some nodes, some of them blanked."""
        scene, needed = self._graph, self._needed

        def agrees(nodes: Tensor, blank: Tensor) -> bool:
            graph = scene.restricted_to(nodes).blanked(torch.isin(nodes, blank))
            self._needed = positions_among(nodes, needed)
            with evaluating(*self._networks):
                masks = torch.ones(1, len(nodes), dtype=torch.bool, device=nodes.device)
                return bool(torch.allclose(self._outputs(masks, graph), full, atol=1e-5, rtol=1e-4))

        return agrees
