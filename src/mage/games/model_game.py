"""Games whose players are the nodes of a graph and whose referee is a PyG model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from mage._core.requests import changed
from mage._core.typing import Bits, Floats, Integers, Masks
from mage._torch.forward import CallChoice
from mage._torch.graph_input import GraphInput
from mage._torch.masked_model import MaskedModel, bytes_per_copy, check_device
from mage._torch.masking import MASKINGS
from mage._torch.outputs import Readout
from mage._torch.typed_graph import TypedGraph
from mage.games.computation_graph import ComputationGraph, checked_batches, computation_graph
from mage.games.game import Game
from mage.games.grouping import checked_groups, checked_nodes
from mage.games.model_checks import EdgesIgnoredError, check_columns, checked_return_type, cutoff_of, maskable_graph
from mage.games.node_contributions import NodeContributions, contributions_of
from mage.games.participants import Participants
from mage.games.request import GraphRequest
from mage.games.state_worths import ModelView, StateWorths, state_worths
from mage.graph import PlayerGraph, checked_graph, packing

_BATCH_SIZE = 4096
_MANY = 256  # coalitions in one call that are worth finding out what the model can tell apart
_MOST_PLAYERS = 30_000  # the bits of their adjacency take n² / 8 bytes


class ModelGame(Game):
    """What is a set of nodes worth to a graph model?

    Graph level: players are all nodes, and a coalition's worth is the model's output on the graph without the others.
    Node and link level (``node=`` or ``edge=``): players are the nodes that the output can depend on, by as many hops
    as the model has message-passing layers; a coalition without the target node (or both ends) is worth the baseline.

    Args:
        model: A PyG model or any callable.
        data: One graph, with or without types of nodes (``HeteroData``).
        request: How the model is queried; see :class:`mage.games.GraphRequest`.
        names: Names of the players.
        fields: Fields of the request by name, such as ``masking="split"``.

    Attributes:
        request: How the model is queried.
        edge_index: Edges of the input graph [2, e].
        participants: The nodes in play and the players that they follow.
        player_nodes: Nodes of the input graph that each player stands for.
        prediction: The model's output, a number per class.
        readout: Which number of the output is explained.
        typed: The graph with its types; None where it has none. Nodes are numbered type by type.
        num_hops: How far messages travel: message-passing layers, counted as they ran.
        input_nodes: Nodes of the input graph.
        seen_nodes: How many of them the prediction was computed from.
        seen_hops: How far around the targets these are; None for the whole graph.
    """

    readout: Readout

    def __init__(
        self,
        model: Any,
        data: Data | HeteroData,
        request: GraphRequest | None = None,
        *,
        names: Sequence[str] | None = None,
        **fields: Any,
    ) -> None:
        self.request = request = changed(request or GraphRequest(), **fields)
        check_device(model, data)
        self.typed = TypedGraph.of(data) if isinstance(data, HeteroData) else None
        whole = GraphInput.of(data, cutoff_of(model)) if self.typed is None else self.typed.plain
        listed = _targets(request, whole.num_nodes, self.typed)
        targets = torch.tensor(listed, dtype=torch.long, device=whole.device)
        self.model = model
        self.level = request.level
        self.edge_index: Integers = whole.edge_index.cpu().numpy()
        # Nothing below two ends explains a link.
        self.least_motif_nodes = 2 if self.level == "edge" else 1
        choice = CallChoice(request.select, request.column, request.inputs)
        ends = [] if self.typed is None else [self.typed.type_names[v] for v in listed]

        def masked_by(masking: Any) -> tuple[GraphInput, ComputationGraph, Tensor]:
            """Mask the model in one way: the graph with all that must go with its nodes, and what the model says."""
            self.masking = masking if isinstance(masking, str) else getattr(masking, "__name__", "custom")
            self.runner = MaskedModel(
                model, whole, masking, self.level, request.forward, choice, typed=self.typed, ends=ends
            )
            # Hooks and tables of another thread must not be seen while the model is looked at.
            with self.runner.exclusively():
                graph = maskable_graph(self.runner, whole, targets)
                inputs = computation_graph(self.runner, graph, targets, request.num_hops, request.memory_cap)
                answers = checked_batches(self.runner, inputs)
                in_part = len(listed) > 0 and inputs.participants.num_players < graph.num_nodes
                if self.runner.is_coupled and in_part and request.num_hops is None:
                    # What nodes of other graphs change, nodes of this one change that no message comes from.
                    inputs = computation_graph(self.runner, graph, targets, None, request.memory_cap, is_global=True)
                    answers = checked_batches(self.runner, inputs)
            return graph, inputs, answers

        if request.masking != "auto":
            whole, computation, answers = masked_by(request.masking)
        else:
            try:
                whole, computation, answers = masked_by("split" if whole.all_edges.numel() else "remove")
            except EdgesIgnoredError:
                whole, computation, answers = masked_by("remove")
        participants = computation.participants
        self.input_nodes, self.num_hops = whole.num_nodes, computation.num_hops
        self.seen_nodes, self.seen_hops = computation.seen_nodes, computation.seen_hops
        self.prediction: Floats = computation.output[0].double().cpu().numpy()
        _check_finite(self.prediction, data)
        self._resolution = self.runner.resolution(computation.output)
        self.readout = _readout(request, data, computation, answers)
        self._absent = {} if request.baseline is None else {self.readout: request.baseline}
        if request.groups is not None:
            players = participants.nodes[: participants.num_players].cpu().numpy()
            edges = participants.graph.edges_among(participants.num_players)
            labels = checked_groups(request.groups, players, whole.num_nodes, edges)
            participants = participants if labels is None else participants.with_players(labels)
        self._start(participants, names, request.baseline)
        self.settle_output()

    def _start(
        self, participants: Participants, names: Sequence[str] | None = None, baseline: float | None = None
    ) -> None:
        """Become a game among these players."""
        count = participants.num_players
        if count > _MOST_PLAYERS:
            raise ValueError(
                f"groups: {count:,} nodes are more players than the {_MOST_PLAYERS:,} whose graph fits in memory; "
                "group them, for example with groups='communities'"
            )
        self.participants = participants
        edges = participants.player_edges
        ends = participants.target_players
        if self.level == "edge" and len(ends) == 2:
            # Only coalitions with both ends are worth something; unless joined, the two could never meet in one.
            edges = np.concatenate([edges, [ends]])
        if names is None:
            names = [
                ",".join(map(str, nodes)) if len(nodes) <= 3 else f"group {i}"
                for i, nodes in enumerate(participants.player_nodes)
            ]
        super().__init__(
            self._value,
            count,
            PlayerGraph(count, edges),
            names,
            baseline=baseline,
            batch_size=self.request.batch_size or _BATCH_SIZE,
            bytes_per_coalition=bytes_per_copy(self.model, participants.graph),
            memory_cap=self.request.memory_cap,
        )
        self.resolution = self._resolution
        weights = sum(weight.numel() for network in self.runner.networks for weight in network.parameters())
        self.query_cost = weights * participants.graph.num_nodes

    @property
    def num_queries(self) -> int:
        """Graphs the model has been run on, the unmasked one included; coalitions without the target need no run.

        Computation trees, and the few nodes on which a model's pool and head are run, count by their nodes: as many as
        the graph has are one query.
        """
        return self.runner.num_runs

    @property
    def player_nodes(self) -> list[Integers]:
        """Nodes of the input graph that each player stands for."""
        return self.participants.player_nodes

    @property
    def target_nodes(self) -> tuple[int, ...]:
        """The explained node, or both ends of the explained link, in the input graph; empty for a whole graph."""
        return tuple(self.participants.targets.tolist())

    @property
    def target_players(self) -> list[int]:
        """Players without whom there is no output: those of the target node, or of both ends of the link."""
        return self.participants.target_players

    def edges_between(self, nodes: Integers) -> Integers:
        """Edges [e, 2] of the input graph between some nodes in play, as positions in their (ascending) list."""
        return self.participants.edges_between(nodes)

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
        participants = self.participants.zoomed(groups, others)
        if self.runner.removes:
            rows = torch.nonzero(participants.column <= participants.num_players).flatten()
            participants = participants.restricted_to(rows)
        game = copy.copy(self)
        for cached in ("node_contributions", "states"):
            vars(game).pop(cached, None)
        game._start(participants)
        return game

    def _value(self, masks: Masks) -> Floats:
        values: Floats = self.readings(masks, (self.readout,))[0]
        return values

    def readings(self, masks: Masks, readouts: Sequence[Readout]) -> Floats:
        """Several numbers [r, q] of the model's outputs on coalitions [q, n], from one run."""
        participants, runner = self.participants, self.runner
        rows = participants.target_rows
        with runner.evaluating():
            nodes = participants.present(masks)
            present = nodes[:, rows].all(dim=1) if len(rows) else nodes.any(dim=1)
            if not runner.removes and not len(rows):
                present = torch.ones_like(present)
            values = torch.empty(len(readouts), len(masks), dtype=torch.float64, device=nodes.device)
            places = torch.nonzero(present).flatten()
            for portion in torch.split(places, runner.portions(nodes[places])) if len(places) else ():
                outputs = runner.outputs(participants.graph, nodes[portion], rows)
                for row, readout in enumerate(readouts):
                    values[row, portion] = readout(outputs)
            if not bool(present.all()):
                for row, value in enumerate(self._absent_values(readouts)):
                    values[row, ~present] = value
        numbers: Floats = values.cpu().numpy()
        return numbers

    def _absent_values(self, readouts: Sequence[Readout]) -> list[float]:
        """What is read where there is nothing to look at; the model is run for it once per readout at most."""
        unknown = [readout for readout in readouts if readout not in self._absent]
        if unknown:
            output = self.runner.absent_output(self.participants.graph, self.participants.target_rows)
            # Not changed in place: games that were zoomed from this one share it.
            self._absent = self._absent | {readout: float(readout(output)[0]) for readout in unknown}
        return [self._absent[readout] for readout in readouts]

    @property
    def _by_messages(self) -> bool:
        """Whether colours and computation trees may tell all: plain nodes and edges, and nobody chosen by order."""
        plain = not self.participants.graph.structures and self.typed is None
        return plain and not self.runner.one_by_one and not self.runner.selections

    @cached_property
    def states(self) -> StateWorths | None:
        """Worths by what a message-passing model can tell apart; None for other models, and the log says why."""
        if not self._by_messages:
            return None
        return state_worths(ModelView(self.runner, self.participants, self.graph, self.readout, self.num_hops))

    def connected_worths(self, graph: PlayerGraph, tick: Callable[[int], None] | None = None) -> Floats:
        """Worths of all connected coalitions, in the order of their enumeration; equal ones are asked for once."""
        if checked_graph("graph", graph, self.num_players).count_connected(cap=_MANY) <= _MANY or self.states is None:
            return super().connected_worths(graph, tick)
        baseline, numbering = self.baseline, self.states.numbering(graph, tick)
        if numbering is not None:
            values = self._by_states(self.states, numbering.coalitions) - baseline
            return np.asarray(values[numbering.rows])
        worths, start = np.empty(graph.count_connected()), 0
        for block in graph.blocks():
            part = slice(start, start + len(block.members))
            worths[part] = self._by_states(self.states, block.members) - baseline
            start = part.stop
            if tick is not None:
                tick(len(block.members))
        return worths

    def _ask(self, coalitions: Bits) -> Floats:
        # A few questions are cheaper than finding out which of them are the same.
        has_states = "states" in vars(self)
        if (not has_states and len(coalitions) < _MANY) or self.states is None:
            return super()._ask(coalitions)
        return self._by_states(self.states, coalitions)

    def _by_states(self, states: StateWorths, coalitions: Bits) -> Floats:
        values = np.empty(len(coalitions))
        is_answered = self._answered(coalitions)
        values[is_answered] = states(coalitions[is_answered])
        if not is_answered.all():
            # Without its targets, or without any node, one coalition is like another.
            values[~is_answered] = super()._ask(coalitions[~is_answered][:1])[0]
        if not np.isfinite(values).all():
            return super()._ask(coalitions)  # says which coalition it is
        return values

    def _answered(self, coalitions: Bits) -> Masks:
        """Coalitions for which the model has a graph with its targets."""
        ends = self.target_players
        if not ends:
            return np.asarray(coalitions.any(axis=1) | (not self.runner.removes), dtype=np.bool_)
        return np.asarray(packing.unpack(coalitions, self.num_players)[:, ends].all(axis=1))

    @cached_property
    def node_contributions(self) -> NodeContributions | None:
        """What each node adds to worths, for models that add up or average their nodes; None for others."""
        whole = len(self.participants.targets) == 0 and self.participants.one_node_each
        if not whole or self.runner.masking is not MASKINGS["split"] or not self._by_messages:
            return None
        return contributions_of(self, self.runner, self.participants, self.readout)


def _readout(request: GraphRequest, data: Data | HeteroData, computation: ComputationGraph, answers: Tensor) -> Readout:
    """Which number is explained, by what the model says of a few graphs."""
    task = "binary" if request.task == "auto" and request.target is not None else request.task
    if request.level == "graph" and isinstance(data, Data):
        check_columns(data, computation.output, request.task)
    returned = checked_return_type(computation.last_step, answers, request.return_type, task)
    return Readout.of(computation.output, request.task, request.target, request.output, returned)


def _targets(request: GraphRequest, num_nodes: int, typed: TypedGraph | None) -> list[int]:
    """The nodes whose output is explained, by their numbers; none for the whole graph."""
    if request.level == "graph":
        return []
    nodes: tuple[Any, ...] = (request.node,) if request.edge is None else request.edge
    if typed is not None:
        return [typed.number(request.level, node) for node in nodes]
    if any(isinstance(node, tuple) for node in nodes):
        raise ValueError(f"{request.level}: {nodes[0]!r} names a type of nodes, and data has no types; give a number")
    return checked_nodes(request.level, nodes, num_nodes)


def _check_finite(prediction: Floats, data: Any) -> None:
    """Refuse features that are no numbers where the model cannot do with them."""
    x = getattr(data, "x", None) if not hasattr(data, "node_types") else None
    if np.isfinite(prediction).all() or not isinstance(x, torch.Tensor) or bool(torch.isfinite(x).all()):
        return
    raise ValueError(
        "data: x holds NaN or infinity, and the model answers the same; replace them, as torch.nan_to_num(data.x) does"
    )
