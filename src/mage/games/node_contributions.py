"""What each node adds to the output of a model that adds up or averages its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Bits, Floats, Integers, Masks
from mage._torch.computation_tree import ComputationTree, build_computation_tree, incoming_edges
from mage._torch.graph_input import GraphInput
from mage._torch.masked_model import MaskedModel
from mage._torch.masking import union_of_copies
from mage._torch.outputs import Readout
from mage.games.colouring import Colouring
from mage.games.game import Game
from mage.games.participants import Participants
from mage.graph import PlayerGraph, packing

if TYPE_CHECKING:
    from torch_geometric.data import Data

_ROUNDINGS = 800  # how often an output may be rounded


def one_graph_per_node(data: Data) -> int:
    """Call every node of a union a graph of its own; messages still run along the edges. Returns how many there are.

    What a model that pools by the ``batch`` vector then returns is what each node would contribute to a pool.
    """
    count = int(data.num_nodes or 0)
    data.batch = torch.arange(count, device=data.edge_index.device)
    data.ptr = torch.arange(count + 1, device=data.edge_index.device)
    data._num_graphs = count
    return count


def edges_are_alike(graph: GraphInput) -> bool:
    """Whether edges carry nothing, run both ways and come once, so that neighbours only differ by themselves."""
    pairs = set(map(tuple, graph.edge_index.T.tolist()))
    symmetric = all((j, i) in pairs and i != j for i, j in pairs)
    return not graph.edge and symmetric and len(pairs) == graph.edge_index.size(1)


def kinds_of_nodes(graph: GraphInput) -> Integers:
    """A number for each node, equal where nodes cannot be told apart by what they carry.

    Where edges are not alike every node is of a kind of its own, as then undirected colour refinement might take for
    equal what the model does not.
    """
    alone = np.arange(graph.num_nodes, dtype=np.int64)
    if not edges_are_alike(graph):
        return alone
    rows = [_rows(value) for value in graph.node.values() if isinstance(value, Tensor)]
    if not rows:
        return np.zeros_like(alone)
    return np.unique(np.concatenate(rows, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _rows(value: Tensor) -> Floats:
    return np.asarray(value.detach().cpu().reshape(len(value), -1).double().numpy())


class Wiring(NamedTuple):
    """Along which edges messages go, as far as the model can tell.

    Attributes:
        kinds: A number for each player, equal for those that carry the same.
        edge_index: Edges of the graph [2, e] between players.
        edges_alike: Whether neighbours only differ by what they are, not by the edges to them.
    """

    kinds: Integers
    edge_index: Integers
    edges_alike: bool


class NodeContributions:
    """h_v(T): what node v adds to the worth of T; the contributions of all members make up the worth.

    Args:
        outputs: The output of every node as if it were alone in the pool, for coalitions [q, n].
        root_outputs: The same for the first so many nodes of a computation tree, its roots.
        wiring: Along which edges messages go.
        alone: The outputs where all nodes are absent [n].
        scale: What an output counts in the worth: 1 for a model that adds up its nodes, 1/n for one that averages.
    """

    def __init__(
        self,
        outputs: Callable[[Masks], Floats],
        root_outputs: Callable[[ComputationTree, int], Floats],
        wiring: Wiring,
        alone: Floats,
        scale: float,
    ) -> None:
        self._outputs = outputs
        self._root_outputs = root_outputs
        self._alone = alone
        self._scale = scale
        self._edge_index = wiring.edge_index
        self._incoming = incoming_edges(wiring.edge_index, len(alone))
        self.kinds = wiring.kinds
        self.edges_alike = wiring.edges_alike

    @classmethod
    def of(
        cls,
        game: Game,
        outputs: Callable[[Masks], Floats],
        root_outputs: Callable[[ComputationTree, int], Floats],
        wiring: Wiring,
    ) -> NodeContributions | None:
        """The contributions of a game's nodes, or None where they do not make up the worth of all."""
        all_players = np.ones((1, game.num_players), dtype=np.bool_)
        try:
            absent, present = outputs(np.concatenate([~all_players, all_players]))
        except (RuntimeError, ValueError, TypeError, IndexError):
            return None  # the model does not take such batches
        added, total = present - absent, float(game.worth(all_players)[0])
        for scale in (1.0 / len(added), 1.0):
            size = scale * float(np.abs(present).sum() + np.abs(absent).sum())
            if abs(scale * float(added.sum()) - total) <= _ROUNDINGS * game.resolution * max(abs(total), size):
                return cls(outputs, root_outputs, wiring, absent, scale)
        return None

    def __call__(self, coalitions: Bits) -> Floats:
        """Contributions of all nodes in each coalition [q, n]; 0 for nodes outside."""
        masks = packing.unpack(coalitions, len(self._alone))
        return np.asarray(np.where(masks, self._scale * (self._outputs(masks) - self._alone), 0.0))

    def colouring(self, graph: PlayerGraph, rounds: int, with_degrees: bool) -> Colouring:
        """What tells nodes apart after rounds of messages, where degrees count from the start or not."""
        return Colouring.of_players(graph, self.kinds, rounds, with_degrees)

    def tree(self, coalitions: Bits, roots: Integers, colouring: Colouring) -> ComputationTree:
        """The computation tree of one node in each coalition; see :mod:`mage._torch.computation_tree`."""
        masks, colours = packing.unpack(coalitions, len(self._alone)), colouring.by_round(coalitions)
        return build_computation_tree(self._edge_index, self._incoming, masks, roots, colours, colouring.with_degrees)

    def of_tree(self, tree: ComputationTree, count: int) -> Floats:
        """Contributions of the first ``count`` nodes, the roots [count]."""
        return np.asarray(self._scale * (self._root_outputs(tree, count) - self._alone[tree.nodes[:count]]))


def contributions_of(
    game: Game, runner: MaskedModel, participants: Participants, readout: Readout
) -> NodeContributions | None:
    """What each node adds to the worths of a model's game, or None where they do not make up the worth of all.

    Args:
        game: The game, whose nodes all play for themselves.
        runner: The model, under the masking ``"split"``.
        participants: The nodes in play.
        readout: Which number of the output is explained.
    """
    graph, node_of_player = participants.graph, participants.node_of_player

    def outputs(masks: Masks) -> Floats:
        """The number that is explained, for every node as if it were alone in the pool [q, n]."""
        nodes = torch.from_numpy(masks).to(graph.device)[:, participants.column]
        parts = []
        with runner.evaluating():
            for portion in torch.split(nodes, runner.portions(nodes)):
                data, _ = runner.masking(graph, portion)
                runner.num_runs += len(portion)
                out = runner.forward(data, one_graph_per_node(data))
                parts.append(readout(out.reshape(portion.numel(), -1)).double().cpu().reshape(len(portion), -1))
        return np.asarray(torch.cat(parts).numpy()[:, node_of_player])

    def root_outputs(tree: ComputationTree, count: int) -> Floats:
        """The number that is explained, for the first ``count`` nodes as if each were alone in the pool [count]."""
        rows = torch.arange(len(tree.nodes), device=graph.device)
        nodes = torch.from_numpy(node_of_player[tree.nodes]).to(graph.device)
        edges = torch.from_numpy(tree.edges).to(graph.device)
        features = {key: value[nodes] for key, value in graph.node.items()}
        data = union_of_copies(graph, len(rows), features, edges, rows)
        data.edge_index = torch.from_numpy(tree.ends).to(graph.device)
        runner.num_runs += tree.queries(graph.num_nodes)
        with runner.evaluating():
            out = runner.forward(data, len(rows))
            return np.asarray(readout(out.reshape(len(rows), -1)[:count]).double().cpu().numpy())

    # What the model never looks at makes no difference to it.
    looked_at = graph.looked_at(runner.forward.uses)
    wiring = Wiring(
        kinds_of_nodes(looked_at)[node_of_player],
        participants.column.cpu().numpy()[graph.edge_index.cpu().numpy()],
        edges_are_alike(looked_at),
    )
    return NodeContributions.of(game, outputs, root_outputs, wiring)
