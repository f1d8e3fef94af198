"""What a message-passing model can tell of a coalition's masked graph, as colours of its nodes.

After L layers a node knows no more than L rounds of colour refinement: what it carries, what its neighbours carry and
the edges between them, and so on. Coalitions whose nodes have the same colours are the same to such a model, whatever
its weights are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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
from mage.graph import PlayerGraph, packing

_NO_TARGETS: Integers = np.empty(0, dtype=np.int64)
_OF_GRAPH = np.uint64(0x9E3779B97F4A7C15)  # keeps the key of a graph apart from the colours that it is made of
_THREE = np.uint64(3)
_NODES, _EDGES = 0, 1  # streams of random words: their products must differ for different pairs
_AT_ONCE = 1 << 17  # nodes of coalitions that are coloured at once, so that they stay in the processor's cache


@dataclass(frozen=True)
class Colouring:
    """How nodes in coalitions are told apart.

    A node's colour starts as what it carries (with its edges, where a model divides by degrees), and takes in the
    colours of its neighbours once per round.

    Attributes:
        column: The player that each node follows; ``num_players`` for nodes that are always present, and one more for
            nodes that never are.
        num_players: Number of players.
        keeps_edges: Whether absent nodes keep their edges and only carry something else.
        kinds: What absent and present nodes carry, as random words [2, n].
        influence: Where the neighbours of each node begin in ``source``.
        source: The neighbours whose messages reach a node.
        salt: What the edge to each of them carries, as odd words.
        with_degrees: Whether nodes know their edges before the first round.
        rounds: Rounds of refinement: hops that messages travel.
    """

    column: Integers
    num_players: int
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
        influence, source, salt = _influence(graph)
        return cls(
            column=participants.column.cpu().numpy().astype(np.int64),
            num_players=participants.num_players,
            keeps_edges=name in ("zero", "mean"),
            kinds=_kinds(graph, name),
            influence=influence,
            source=source,
            salt=salt,
            with_degrees=True,
            rounds=rounds,
        )

    @classmethod
    def of_players(cls, graph: PlayerGraph, kinds: Integers, rounds: int, with_degrees: bool) -> Colouring:
        """The colouring of players on their graph, whose edges are alike; absent players have no edges.

        Args:
            graph: The graph.
            kinds: A number for each player, equal for those that carry the same.
            rounds: Hops that messages travel.
            with_degrees: Whether players know their number of neighbours before the first round.
        """
        n, ends = graph.num_players, np.concatenate([graph.edges, graph.edges[:, ::-1]]).astype(np.int64)
        influence, source, salt = _by_target(ends[:, 0], ends[:, 1], _salt(np.zeros(len(ends), dtype=np.int64)), n)
        words = np.tile(_words(kinds, _NODES), (2, 1))
        return cls(np.arange(n), n, False, words, influence, source, salt, with_degrees, rounds)

    def without_degrees(self) -> Colouring:
        """The colouring of nodes that do not know their edges before the first round."""
        return replace(self, with_degrees=False)

    def keys(self, coalitions: Bits, targets: Integers = _NO_TARGETS) -> Bits:
        """A word for each coalition, equal where nothing tells their graphs apart, or what the targets know of them."""
        keys = np.zeros(len(coalitions), dtype=np.uint64)
        for part in self._parts(coalitions):
            present = self._present(coalitions[part])
            linked, colours = self._linked(present), self._last(present)
            if len(targets):
                for node in targets:
                    keys[part] = kernels.mixed(keys[part] * _THREE + colours[:, node] * present[:, node])
            else:
                # What absent nodes carry is the same for all coalitions but for those present: their part is taken out.
                words = kernels.mixed(colours ^ _OF_GRAPH) - kernels.mixed(self.kinds[0])
                keys[part] = (words * linked).sum(axis=1)
        return keys

    def of_nodes(self, coalitions: Bits) -> Bits:
        """Colours of all nodes after the last round [q, n]; 0 for nodes that are not there."""
        colours = np.empty((len(coalitions), len(self.column)), dtype=np.uint64)
        for part in self._parts(coalitions):
            colours[part] = self._last(self._present(coalitions[part]))
        return colours

    def of_roots(self, coalitions: Bits, roots: Integers) -> Bits:
        """The colour of one node of each coalition [q]."""
        colours = np.empty(len(coalitions), dtype=np.uint64)
        for part in self._parts(coalitions):
            last = self._last(self._present(coalitions[part]))
            colours[part] = last[np.arange(len(last)), roots[part]]
        return colours

    def by_round(self, coalitions: Bits) -> Bits:
        """Colours of all nodes after 0, 1, …, L rounds [L + 1, q, n]."""
        colours = np.empty((self.rounds + 1, len(coalitions), len(self.column)), dtype=np.uint64)
        for part in self._parts(coalitions):
            for number, words in enumerate(self._by_round(self._present(coalitions[part]))):
                colours[number, part] = words
        return colours

    def of_lone_nodes(self) -> Bits:
        """The colour of each node where it has no edges, as absent nodes have under the masking ``"split"``."""
        lone = replace(self, influence=np.zeros_like(self.influence), source=self.source[:0], salt=self.salt[:0])
        return np.asarray(lone._last(np.ones((1, len(self.column)), dtype=np.uint64))[0])

    def _parts(self, coalitions: Bits) -> Iterator[slice]:
        """Coalitions that are coloured together."""
        step = max(_AT_ONCE // len(self.column), 1)
        return (slice(start, start + step) for start in range(0, len(coalitions), step))

    def _present(self, coalitions: Bits) -> Bits:
        """1 for the nodes that are present in each coalition, 0 for others [q, n]."""
        masks = np.zeros((len(coalitions), self.num_players + 2), dtype=np.uint64)
        masks[:, :-2] = packing.unpack(coalitions, self.num_players)
        masks[:, -2] = 1
        return np.take(masks, self.column, axis=1)

    def _linked(self, present: Bits) -> Bits:
        """1 for the nodes that have their edges."""
        return np.ones_like(present) if self.keeps_edges else present

    def _by_round(self, present: Bits) -> Iterator[Bits]:
        """Colours [q, n] after 0, 1, …, L rounds; 0 for nodes that are not there."""
        linked = self._linked(present)
        colours = np.where(present, self.kinds[1], self.kinds[0]) * linked
        if self.with_degrees:
            colours = self._refined(linked, colours, linked)
        yield colours
        for _ in range(self.rounds):
            colours = self._refined(linked, colours, colours)
            yield colours

    def _last(self, present: Bits) -> Bits:
        """Colours after the last round."""
        *_, colours = self._by_round(present)
        return colours

    def _refined(self, linked: Bits, colours: Bits, shown: Bits) -> Bits:
        """Colours after one more round."""
        result = np.empty_like(colours)
        kernels.refine(linked, colours, shown, self.influence, self.source, self.salt, result)
        return result


def _kinds(graph: GraphInput, masking: str) -> Bits:
    """Words for what nodes carry when absent and when present [2, n]."""
    n = graph.num_nodes
    present = _row_bytes(graph.node.values(), n)
    absent = dict(graph.node)
    if masking in ("zero", "mean") and "x" in absent:
        data, _ = MASKINGS[masking](graph, torch.zeros(1, n, dtype=torch.bool, device=graph.device))
        absent["x"] = data.x
    kinds = _numbered(np.concatenate([_row_bytes(absent.values(), n), present]))
    return _words(kinds, _NODES).reshape(2, n)


def _influence(graph: GraphInput) -> tuple[Integers, Integers, Bits]:
    """Whose messages reach each node, and over what edges; against their direction too unless all run both ways."""
    source, target = graph.edge_index.cpu().numpy().astype(np.int64)
    kinds = _numbered(_row_bytes(graph.edge.values(), len(source)))
    forth = Counter(zip(source.tolist(), target.tolist(), kinds.tolist(), strict=True))
    back = Counter(zip(target.tolist(), source.tolist(), kinds.tolist(), strict=True))
    salt = _salt(2 * kinds)
    if forth != back:
        # A model may look at either direction; telling both apart is never wrong.
        salt = np.concatenate([salt, _salt(2 * kinds + 1)])
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    return _by_target(source, target, salt, graph.num_nodes)


def _by_target(source: Integers, target: Integers, salt: Bits, num_nodes: int) -> tuple[Integers, Integers, Bits]:
    """Edges sorted by target: where those to each node begin, their sources, and what they carry."""
    order = np.argsort(target, kind="stable")
    influence = np.zeros(num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(target, minlength=num_nodes), out=influence[1:])
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


def _salt(kinds: Integers) -> Bits:
    """Odd random words for kinds of edges. They also keep neighbours apart from the node itself."""
    return _words(kinds, _EDGES) | np.uint64(1)


def _words(numbers: Integers, stream: int) -> Bits:
    """Random words for numbers 0, 1, …, the same in every process; those of one stream say nothing of another's."""
    generator = np.random.Generator(np.random.PCG64([20240627, stream]))
    words = generator.integers(0, 1 << 64, size=int(numbers.max(initial=0)) + 1, dtype=np.uint64)
    return np.asarray(words[numbers])
