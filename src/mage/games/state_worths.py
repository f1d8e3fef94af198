"""Worths of coalitions from few runs of a message-passing model: coalitions that it cannot tell apart share a run.

Coalitions whose masked graphs have the same colours get the same output, so the model is run on one of them. Where the
model pools the nodes of a graph, even different coalitions consist of few different nodes: the state of each is
computed once, and the states are pooled for every coalition. This is checked first: random coalitions are evaluated
directly, and where the outputs differ by more than rounding, the model is run on every coalition.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Bits, Floats, Integers
from mage._torch.evaluation import agree
from mage._torch.masked_model import MaskedModel
from mage._torch.outputs import Readout
from mage._torch.pool_and_head import PoolAndHead
from mage._torch.ties import NodeComparisons
from mage.games.colouring import Colouring
from mage.games.memo import CoalitionTable
from mage.games.node_states import NodeStates
from mage.games.participants import Participants
from mage.games.state_pool import REDUCTIONS, StatePool
from mage.games.state_trees import StateTrees
from mage.graph import PlayerGraph, packing

_log = logging.getLogger("mage")

_CHECKS = 64  # random coalitions that are evaluated directly
_WITH_NODES = 16  # of these, coalitions whose nodes are compared one by one
_CANDIDATES = 1 << 12  # coalitions among which equal ones are looked for
_ROUNDINGS = 512  # how often a number may be rounded inside the model
_AT_ONCE = 1 << 13
_MOST_KEYS = 1 << 20  # different coalitions that are listed before any of them is evaluated
_FAILURES = (RuntimeError, ValueError, TypeError, IndexError, AttributeError, NotImplementedError)

Outputs = Callable[[Bits], Tensor]


class UnlikeMessagesError(Exception):
    """A model distinguishes coalitions that message passing cannot; the message says how this was detected."""


class _NoSharedStatesError(ValueError):
    """Computation trees or states of nodes do not give the model's outputs; the message says which."""


@dataclass(frozen=True)
class ModelView:
    """The parts of a model's game that states are computed from.

    Attributes:
        runner: The model.
        participants: Nodes in play.
        graph: The graph of the players.
        readout: Which number is explained.
        num_hops: How far messages travel.
    """

    runner: MaskedModel
    participants: Participants
    graph: PlayerGraph
    readout: Readout
    num_hops: int

    @property
    def targets(self) -> Integers:
        """Rows of the target nodes."""
        return np.asarray(self.participants.target_rows.cpu().numpy(), dtype=np.int64)

    def present(self, coalitions: Bits) -> Tensor:
        """Nodes that are present in each coalition [q, n]."""
        return self.participants.present(packing.unpack(coalitions, self.graph.num_players))

    def outputs(self, coalitions: Bits) -> Tensor:
        """The model's outputs [q, C], evaluated coalition by coalition."""
        nodes, runner = self.present(coalitions), self.runner
        parts = [
            runner.outputs(self.participants.graph, portion, self.participants.target_rows)
            for portion in torch.split(nodes, runner.portions(nodes))
        ]
        return torch.cat(parts)

    def alike(self, left: Tensor, right: Tensor) -> bool:
        """Whether numbers of the model are equal up to its rounding."""
        return agree(left.to(right.dtype), right, _ROUNDINGS * self.runner.resolution(right))


class Numbering(NamedTuple):
    """Connected coalitions, with those that a model cannot tell apart numbered alike.

    Attributes:
        coalitions: One coalition of each number.
        rows: The number of each connected coalition, in the order of their enumeration.
    """

    coalitions: Bits
    rows: Integers


class StateWorths:
    """Worths of coalitions, computed once for each key of the colouring.

    Args:
        game: The model and its players.
        colouring: Gives coalitions keys that are equal where the model cannot tell them apart.
        outputs: Computes the model's outputs for coalitions with different keys.
        pool: The pool that ``outputs`` uses, where it pools states of nodes.
    """

    def __init__(self, game: ModelView, colouring: Colouring, outputs: Outputs, pool: StatePool | None) -> None:
        self._game = game
        self._colouring = colouring
        self._outputs = outputs
        self._pool = pool
        self._table = CoalitionTable(1)
        self._values: Floats = np.empty(0)
        self._numbering: tuple[PlayerGraph, Numbering | None] | None = None

    @property
    def num_keys(self) -> int:
        """Number of different keys of the coalitions so far."""
        return self._table.size

    @property
    def num_states(self) -> int:
        """Number of states of nodes so far; 0 where states are not shared."""
        return 0 if self._pool is None else len(self._pool.states)

    def __call__(self, coalitions: Bits) -> Floats:
        """The explained number for each coalition [q]; all must hold the targets and at least one player."""
        keys = self._colouring.keys(coalitions, self._game.targets)[:, None]
        rows = self._table.find(keys)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            fresh = unknown[np.unique(keys[unknown], return_index=True)[1]]
            new = coalitions[fresh]
            with self._game.runner.evaluating():
                parts = [
                    self._game.readout(self._outputs(new[start : start + _AT_ONCE])).double().cpu().numpy()
                    for start in range(0, len(new), _AT_ONCE)
                ]
            # Keys are added last: an interrupted run must leave no key without its value.
            self._values = np.concatenate([self._values[: self._table.size], *parts])
            self._table.intern(keys[fresh])
            rows[unknown] = self._table.find(keys[unknown])
        return self._values[rows]

    def expected_runs(self, graph: PlayerGraph, limit: int = 0) -> int:
        """About how many graphs the model would be run on for all connected coalitions; does not run the model.

        Args:
            graph: The graph of the players.
            limit: States are only counted where there are more different coalitions than this.
        """
        numbering = self.numbering(graph)
        if numbering is None:
            return graph.count_connected()
        if self._pool is None or _CHECKS + len(numbering.coalitions) <= limit:
            return _CHECKS + len(numbering.coalitions)
        colours = CoalitionTable(1)
        for start in range(0, len(numbering.coalitions), _AT_ONCE):
            colours.intern(self._colouring.of_nodes(numbering.coalitions[start : start + _AT_ONCE]).reshape(-1, 1))
        # At each height, a tree has at most as many different nodes as there are states.
        trees = -(-(self._colouring.rounds + 1) * colours.size // self._game.participants.graph.num_nodes)
        return _CHECKS + min(trees, len(numbering.coalitions))

    def numbering(self, graph: PlayerGraph, tick: Callable[[int], None] | None = None) -> Numbering | None:
        """All connected coalitions, numbered by their keys, or None where there are too many; does not run the model.

        Args:
            graph: The graph of the players.
            tick: Called with the number of coalitions done, block after block.
        """
        if self._numbering is None or self._numbering[0] is not graph:
            self._numbering = graph, self._numbered(graph, tick)
        return self._numbering[1]

    def _numbered(self, graph: PlayerGraph, tick: Callable[[int], None] | None) -> Numbering | None:
        table, position = CoalitionTable(1), 0
        rows: Integers = np.empty(graph.count_connected(), dtype=np.int32)
        different = []
        for block in graph.blocks():
            size = table.size
            numbers = table.intern(self._colouring.keys(block.members, self._game.targets)[:, None])
            rows[position : position + len(numbers)] = numbers
            position += len(numbers)
            fresh = np.flatnonzero(numbers >= size)
            different.append(block.members[fresh[np.unique(numbers[fresh], return_index=True)[1]]])
            if table.size > _MOST_KEYS:
                return None
            if tick is not None:
                tick(len(numbers))
        return Numbering(np.concatenate(different), rows)


def state_worths(game: ModelView, seed: int = 0) -> StateWorths | None:
    """The worths of a model's coalitions by states, or None where the checks fail; the log says why."""
    if game.num_hops < 1:
        _log.info("every coalition is evaluated separately: no message passing was seen in the model")
        return None
    looked_at = game.participants.graph.looked_at(game.runner.forward.uses)
    colouring = Colouring.of(game.participants, looked_at, game.runner.masking, game.num_hops)
    if colouring is None:
        _log.info("every coalition is evaluated separately: the masking is the user's own")
        return None
    sample = _random_coalitions(game, seed)
    build = _by_target_trees if len(game.targets) else _by_pool
    with game.runner.evaluating():
        try:
            return build(game, colouring, sample)
        except UnlikeMessagesError as error:
            _log.info("every coalition is evaluated separately: %s", error)
            return None
        except _FAILURES as error:
            _log.info("states of nodes are not shared: %s", error)
        try:
            return _by_keys(game, colouring, sample)
        except UnlikeMessagesError as error:
            _log.info("every coalition is evaluated separately: %s", error)
            return None


def _random_coalitions(game: ModelView, seed: int) -> Bits:
    """The coalition of all players, then random coalitions with the targets: connected ones and others in turn."""
    generator = np.random.default_rng([seed, 3])
    n, adjacency = game.graph.num_players, game.graph.adjacency
    masks = generator.random((_CHECKS, n)) < generator.uniform(0.3, 1.0, size=(_CHECKS, 1))
    anchors = generator.integers(n, size=_CHECKS)
    targets = game.participants.target_players
    anchors[:] = targets[0] if targets else anchors
    masks[np.arange(_CHECKS), anchors] = True
    masks[:, targets] = True
    connected = np.zeros_like(masks[::2])
    connected[np.arange(len(connected)), anchors[::2]] = True
    for _ in range(n):
        connected |= (connected @ adjacency) & masks[::2]
    masks[::2] = connected
    masks[:, targets] = True
    masks[0] = True
    return packing.pack(masks)


def _by_pool(game: ModelView, colouring: Colouring, sample: Bits) -> StateWorths:
    """Worths from the states of all nodes, by the model's own pool and head."""
    graph = game.participants.graph
    pool_and_head = PoolAndHead(game.runner, graph)
    nodes = game.present(sample[:_WITH_NODES])
    data, place = game.runner.masking(graph, nodes)
    game.runner.num_runs += len(nodes)
    embeddings, outputs = pool_and_head.embeddings(data, len(nodes))
    outputs_of_sample = torch.cat([outputs, game.outputs(sample[_WITH_NODES:])])
    shown = torch.ones_like(nodes) if colouring.keeps_edges else nodes
    coalition, node = torch.nonzero(shown, as_tuple=True)
    expected = embeddings[place[coalition, node]]
    rows, roots = sample[coalition.cpu().numpy()], node.cpu().numpy()
    for candidate in (colouring.without_degrees(), colouring):
        states = NodeStates(StateTrees(game.runner, game.participants, candidate), pool_and_head)
        if game.alike(states.embed(rows, roots), expected):
            break
    else:
        _check_colours(game, colouring.of_nodes(sample[:_WITH_NODES])[coalition, node], expected)
        raise _NoSharedStatesError("the model gives nodes other states in computation trees than in their graphs")
    pool = _checked_pool(game, states, pool_and_head, sample, outputs_of_sample)
    takes_trees = True

    def by_states(coalitions: Bits) -> Tensor:
        nonlocal takes_trees
        rows = None
        if takes_trees:
            try:
                rows = states.rows_if_cheap(coalitions)
            except _FAILURES as error:
                # Some layers cannot run on every tree; PyG's median fails where the last node has no neighbours.
                takes_trees = False
                _log.info("states of nodes are not shared any more: %s", error)
        # Where few nodes share a state, such as nodes that all have different features, whole graphs are less work.
        return game.outputs(coalitions) if rows is None else pool(rows)

    return StateWorths(game, candidate, by_states, pool)


def _check_colours(game: ModelView, colours: Bits, embeddings: Tensor) -> None:
    """Refuse a model that gives different embeddings to nodes of one colour."""
    _, first, rank = np.unique(colours, return_index=True, return_inverse=True)
    if not game.alike(embeddings[torch.from_numpy(first[rank])], embeddings):
        raise UnlikeMessagesError("the model tells nodes apart that messages cannot")


def _checked_pool(
    game: ModelView, states: NodeStates, pool_and_head: PoolAndHead, sample: Bits, answers: Tensor
) -> StatePool:
    """The pool, checked on random coalitions; takes shortcuts (linear head, known reduction) where they agree."""
    pool = StatePool(states, pool_and_head)
    rows = states.rows(sample)
    shuffled = np.random.default_rng(_CHECKS).permuted(rows, axis=1)
    if not game.alike(pool(rows), answers):
        raise _NoSharedStatesError("the states of nodes give other outputs for random coalitions")
    if not game.alike(pool(shuffled), answers):
        raise UnlikeMessagesError("the order of nodes matters to the model")
    shortcuts = [(True, "mean"), (True, "sum")] if pool.may_be_linear else []
    for linear, reduction in [*shortcuts, *((False, name) for name in REDUCTIONS)]:
        pool.linear, pool.reduction = linear, reduction
        if game.alike(pool(rows), answers):
            pool.settle()
            return pool
    pool.reduction = None
    return pool


def _by_target_trees(game: ModelView, colouring: Colouring, sample: Bits) -> StateWorths:
    """Worths of a node-level or link-level output, from the computation trees of the targets alone."""
    targets, answers = game.targets, game.outputs(sample)
    for candidate in (colouring.without_degrees(), colouring):
        trees = StateTrees(game.runner, game.participants, candidate)

        def outputs(coalitions: Bits, trees: StateTrees = trees) -> Tensor:
            count = len(coalitions)
            data = trees(np.tile(coalitions, (len(targets), 1)), np.repeat(targets, count))
            if game.runner.level == "edge":
                data.edge_label_index = torch.arange(2 * count, device=data.edge_index.device).view(2, count)
            game.runner.num_runs += -(-len(data.batch) // game.participants.graph.num_nodes)
            out = game.runner.forward(data, count if game.runner.level == "edge" else 1)
            return (out.unsqueeze(-1) if out.dim() == 1 else out)[:count]

        if game.alike(outputs(sample), answers):
            return StateWorths(game, candidate, outputs, None)
    raise _NoSharedStatesError("the model gives other outputs on computation trees of the targets than on their graphs")


def _by_keys(game: ModelView, colouring: Colouring, sample: Bits) -> StateWorths:
    """Worths from the model's own outputs, one run for all coalitions of one key."""
    graph = game.participants.graph
    with NodeComparisons(graph.num_nodes) as comparisons:
        game.runner.outputs(graph, graph.full_mask, game.participants.target_rows)
    if comparisons.chooses:
        raise UnlikeMessagesError("the model chooses among nodes by comparing all pairs; equal ones by their order")
    candidates = np.unique(np.concatenate([next(game.graph.blocks(_CANDIDATES)).members, sample]), axis=0)
    if len(game.targets):
        candidates = candidates[game.present(candidates)[:, game.participants.target_rows].all(dim=1).cpu().numpy()]
    keys = colouring.keys(candidates, game.targets)
    order = np.argsort(keys, kind="stable")
    equal = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if not len(equal):
        return StateWorths(game, colouring, game.outputs, None)
    checked = equal[np.linspace(0, len(equal) - 1, min(len(equal), _CHECKS)).astype(np.int64)]
    first, second = (game.outputs(candidates[order[checked + step]]) for step in (0, 1))
    if not game.alike(first, second):
        raise UnlikeMessagesError("coalitions that messages cannot tell apart have other outputs")
    return StateWorths(game, colouring, game.outputs, None)
