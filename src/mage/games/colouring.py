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
from mage._torch.masking import CUTTING_EDGES, REPLACING_FEATURES, MaskingFunction
from mage.games.participants import Participants
from mage.graph import PlayerGraph, packing

_NO_TARGETS: Integers = np.empty(0, dtype=np.int64)
_NODES, _EDGES = 0, 1  # streams of random words: their products must differ for different pairs
_AT_ONCE = 1 << 17  # words that stay in the processor's cache


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
        if masking not in CUTTING_EDGES | REPLACING_FEATURES:
            return None
        influence, source, salt = _influence(graph)
        return cls(
            column=participants.column.cpu().numpy().astype(np.int64),
            num_players=participants.num_players,
            keeps_edges=masking in REPLACING_FEATURES,
            kinds=_kinds(graph, masking),
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
        return self._coloured(coalitions, 0, targets)[0]

    def of_nodes(self, coalitions: Bits) -> Bits:
        """Colours of all nodes after the last round [q, n]; 0 for nodes that are not there."""
        return np.asarray(self._coloured(coalitions, 1)[1][0])

    def by_round(self, coalitions: Bits) -> Bits:
        """Colours of all nodes after 0, 1, …, L rounds [L + 1, q, n]."""
        return self._coloured(coalitions, self.rounds + 1)[1]

    def of_isolated_nodes(self) -> Bits:
        """The colour of each node where it has no edges, as absent nodes have under the masking ``"split"``."""
        always = np.full_like(self.column, self.num_players)
        lone = replace(self, column=always, influence=np.zeros_like(self.influence), source=self.source[:0])
        nobody = np.zeros((1, packing.num_words(self.num_players)), dtype=np.uint64)
        return np.asarray(lone.of_nodes(nobody)[0])

    def _coloured(self, coalitions: Bits, last_rounds: int, targets: Integers = _NO_TARGETS) -> tuple[Bits, Bits]:
        """Keys of coalitions [q], and colours of all nodes after some last rounds [r, q, n]."""
        n, layers = len(self.column), self.rounds + self.with_degrees + 2
        # More coalitions from which others can be derived take more memory than the processor's cache has.
        levels = min(self.num_players + 1, max(_AT_ONCE // (layers * n), 2))
        keys = np.empty(len(coalitions), dtype=np.uint64)
        colours = np.empty((last_rounds, len(coalitions), n), dtype=np.uint64)
        sets = np.zeros((levels + 1, 2, packing.num_words(n)), dtype=np.uint64)
        always = (self.column == self.num_players)[None]
        sets[0] = packing.pack(np.concatenate([always, always | self.keeps_edges]))
        kernels.colour(
            np.ascontiguousarray(coalitions),
            np.concatenate([self.kinds, kernels.mixed(self.kinds[:1])]),
            *self._nodes_of_players(),
            self.influence.astype(np.uint64),
            self.source.astype(np.uint64),
            self.salt,
            int(self.with_degrees),
            int(self.keeps_edges),
            targets,
            sets,
            np.zeros((levels, coalitions.shape[1] + 1), dtype=np.uint64),
            np.zeros((levels, layers, n), dtype=np.uint64),
            keys,
            colours,
        )
        return keys, colours

    def _nodes_of_players(self) -> tuple[Integers, Integers]:
        """Where the nodes of each player begin, and the nodes sorted by player."""
        first = np.searchsorted(np.sort(self.column), np.arange(self.num_players + 1))
        return first, np.argsort(self.column, kind="stable")


def _kinds(graph: GraphInput, masking: MaskingFunction) -> Bits:
    """Words for what nodes carry when absent and when present [2, n]."""
    n = graph.num_nodes
    present = _row_bytes(graph.node.values(), n)
    absent = dict(graph.node)
    if masking in REPLACING_FEATURES and "x" in absent:
        data, _ = masking(graph, torch.zeros(1, n, dtype=torch.bool, device=graph.device))
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
            # Seen as bytes by torch: there are kinds of numbers that numpy does not know, such as bfloat16.
            values = tensor.detach().cpu().reshape(count, -1).contiguous()
            rows.append(values.view(torch.uint8).numpy().reshape(count, -1))
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
