"""What a message-passing model can tell of a coalition's masked graph, as colours of its nodes.

After L layers a node knows no more than L rounds of colour refinement: what it carries, what its neighbours carry and
the edges between them, and so on. Coalitions whose nodes have the same colours are the same to such a model, whatever
its weights are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Bits, Integers
from mage._kernels import colours as kernels
from mage._torch.graph_input import GraphInput
from mage._torch.masking import MASKINGS, MaskingFunction
from mage.games.participants import Participants

_Parts = tuple[tuple[Integers, Integers], Bits, tuple[Integers, Integers, Bits], tuple[int, bool, bool, int]]
_NO_TARGETS: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Colouring:
    """How nodes in coalitions are told apart; the parts are those that the kernels take.

    Attributes:
        starts: Where the nodes of each player begin in ``nodes``, and where the last one's end.
        nodes: First the nodes that are always present, then those of each player.
        fixed: How many nodes are always present.
        keeps_edges: Whether absent nodes keep their edges and only carry something else.
        kinds: What absent and present nodes carry, as words [2, n].
        influence: Where the neighbours of each node begin in ``source``.
        source: The neighbours whose messages reach a node.
        salt: What the edge to each of them carries, as odd words.
        with_degrees: Whether nodes know their edges before the first round.
        rounds: Rounds of refinement: hops that messages travel.
    """

    starts: Integers
    nodes: Integers
    fixed: int
    keeps_edges: bool
    kinds: Bits
    influence: Integers
    source: Integers
    salt: Bits
    with_degrees: bool
    rounds: int

    @classmethod
    def of(
        cls, participants: Participants, graph: GraphInput, masking: MaskingFunction, rounds: int
    ) -> Colouring | None:
        """The colouring of a game's nodes, or None where what a masking does is not known.

        Args:
            participants: Nodes in play and the players they follow.
            graph: Their graph with the tensors that the model looks at.
            masking: What absence means.
            rounds: Hops that messages travel.
        """
        names = {function: name for name, function in MASKINGS.items()}
        name = names.get(masking)
        if name is None:
            return None
        column = participants.column.cpu().numpy()
        count = participants.num_players
        always = np.flatnonzero(column == count)
        order = np.argsort(column, kind="stable")
        sorted_column = column[order]
        starts = len(always) + np.searchsorted(sorted_column, np.arange(count + 1))
        nodes = np.concatenate([always, order[: starts[-1] - len(always)]])
        influence, source, salt = _influence(graph)
        return cls(
            starts=starts.astype(np.int64),
            nodes=nodes.astype(np.int64),
            fixed=len(always),
            keeps_edges=name in ("zero", "mean"),
            kinds=_kinds(graph, name),
            influence=influence,
            source=source,
            salt=salt,
            with_degrees=True,
            rounds=rounds,
        )

    @property
    def _parts(self) -> _Parts:
        players, links = (self.starts, self.nodes), (self.influence, self.source, self.salt)
        return players, self.kinds, links, (self.fixed, self.keeps_edges, self.with_degrees, self.rounds)

    @property
    def _room(self) -> tuple[Bits, Integers]:
        n = self.kinds.shape[1]
        return np.zeros((4, n), dtype=np.uint64), np.zeros(n, dtype=np.int64)

    def without_degrees(self) -> Colouring:
        """The colouring of nodes that do not know their edges before the first round."""
        return replace(self, with_degrees=False)

    def keys(self, coalitions: Bits, targets: Integers = _NO_TARGETS) -> Bits:
        """A word for each coalition, equal where nothing tells their graphs apart, or what the targets know of them."""
        keys = np.empty(len(coalitions), dtype=np.uint64)
        kernels.coalition_keys(coalitions, *self._parts, targets, *self._room, keys)
        return keys

    def of_nodes(self, coalitions: Bits, rounds: int = 1) -> Bits:
        """Colours of all nodes after the last rounds [rounds, q, n]; 0 for nodes that are not there."""
        colours = np.empty((rounds, len(coalitions), self.kinds.shape[1]), dtype=np.uint64)
        kernels.node_colours(coalitions, *self._parts, *self._room, colours)
        return colours

    def by_round(self, coalitions: Bits) -> Bits:
        """Colours of all nodes after 0, 1, …, L rounds [L + 1, q, n]."""
        return self.of_nodes(coalitions, self.rounds + 1)

    def of_lone_nodes(self) -> Bits:
        """The colour of each node where it has no edges, as absent nodes have under the masking ``"split"``."""
        n = self.kinds.shape[1]
        lone = replace(
            self,
            starts=np.arange(n + 1),
            nodes=np.arange(n),
            fixed=0,
            influence=np.zeros_like(self.influence),
            source=self.source[:0],
            salt=self.salt[:0],
        )
        words = -(-n // 64)
        alone = np.zeros((n, words), dtype=np.uint64)
        everyone = np.arange(n)
        alone[everyone, everyone // 64] = np.uint64(1) << (everyone % 64).astype(np.uint64)
        return np.ascontiguousarray(np.diagonal(lone.of_nodes(alone)[0]))


def _kinds(graph: GraphInput, masking: str) -> Bits:
    """Words for what nodes carry when absent and when present [2, n]."""
    n = graph.num_nodes
    present = _row_bytes(graph.node.values(), n)
    absent = dict(graph.node)
    if masking in ("zero", "mean") and "x" in absent:
        data, _ = MASKINGS[masking](graph, torch.zeros(1, n, dtype=torch.bool, device=graph.device))
        absent["x"] = data.x
    kinds = _numbered(np.concatenate([_row_bytes(absent.values(), n), present]))
    return _words(kinds).reshape(2, n)


def _influence(graph: GraphInput) -> tuple[Integers, Integers, Bits]:
    """Whose messages reach each node, and over what edges; against their direction too unless all run both ways."""
    source, target = graph.edge_index.cpu().numpy().astype(np.int64)
    kinds = _numbered(_row_bytes(graph.edge.values(), len(source)))
    forth = Counter(zip(source.tolist(), target.tolist(), kinds.tolist(), strict=True))
    back = Counter(zip(target.tolist(), source.tolist(), kinds.tolist(), strict=True))
    salt = _words(2 * kinds) | np.uint64(1)
    if forth != back:
        # A model may look at either direction; telling both apart is never wrong.
        salt = np.concatenate([salt, _words(2 * kinds + 1) | np.uint64(1)])
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    order = np.argsort(target, kind="stable")
    influence = np.zeros(graph.num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(target, minlength=graph.num_nodes), out=influence[1:])
    return influence, source[order], salt[order]


def _row_bytes(tensors: Any, count: int) -> Bits:
    """What tensors hold in each row, as bytes [count, width]; bytes tell apart all that arithmetic can."""
    rows = [np.zeros((count, 1), dtype=np.uint8)]
    for tensor in tensors:
        if isinstance(tensor, Tensor) and tensor.numel():
            values = np.ascontiguousarray(tensor.detach().cpu().reshape(count, -1).numpy())
            rows.append(values.view(np.uint8).reshape(count, -1))
    return np.concatenate(rows, axis=1)


def _numbered(rows: Bits) -> Integers:
    """A number for each row, equal for equal rows."""
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _words(numbers: Integers) -> Bits:
    """Random words for numbers 0, 1, …, the same in every process."""
    generator = np.random.Generator(np.random.PCG64(20240627))
    words = generator.integers(0, 1 << 64, size=int(numbers.max(initial=0)) + 1, dtype=np.uint64)
    return np.asarray(words[numbers])
