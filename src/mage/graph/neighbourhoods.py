"""What one player can see within some hops of it, in all coalitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels import neighbourhoods as kernels
from mage.graph import packing
from mage.graph.player_graph import PlayerGraph

if TYPE_CHECKING:
    from mage._core.typing import Masks

_BLOCK_ROWS = 1 << 15


class Neighbourhoods:
    """The sets R = [T]_v, what lies within ``radius`` hops of a root v inside a coalition T, over all T that have v.

    [T]_v is R exactly when R ⊆ T and T misses N_v(R), the players that R's inner layers touch and R has not. Both are
    sets of few players, and named by positions among these.

    Args:
        graph: The graph of all players.
        root: v.
        radius: Hops.

    Attributes:
        players: Those within ``radius`` hops of the root, ascending.
        graph: Their graph.
        root: The root's position among them.
        hops: How far away from the root each is.
        radius: Hops.
    """

    def __init__(self, graph: PlayerGraph, root: int, radius: int) -> None:
        hops = np.full(graph.num_players, radius + 1)
        layer = np.array([root])
        for hop in range(radius + 1):
            hops[layer] = hop
            layer = np.flatnonzero(graph.adjacency[layer].any(axis=0) & (hops > radius))
        self.players: Integers = np.flatnonzero(hops <= radius)
        inside = graph.adjacency[np.ix_(self.players, self.players)]
        self.graph = PlayerGraph(len(self.players), np.argwhere(np.triu(inside)))
        self.root = int(np.searchsorted(self.players, root))
        self.hops: Integers = hops[self.players]
        self.radius = radius
        self._num_players = graph.num_players

    def count(self, cap: int) -> int:
        """Number of neighbourhoods, or ``cap + 1`` as soon as it is known to be more than ``cap``."""
        return _count(self.graph, self.root, self.radius, cap)

    def blocks(self) -> Iterator[tuple[Bits, Bits]]:
        """R and N_v(R) in a fixed order, a block at a time; R comes before sets with more of the same decisions."""
        stack, hops = _start(self.graph, self.root, 5)
        cursor = np.zeros(1, dtype=np.int64)
        words = self.graph.adjacency_bits.shape[1]
        while True:
            members = np.empty((_BLOCK_ROWS, words), dtype=np.uint64)
            rejected = np.empty_like(members)
            written = kernels.next_neighbourhoods(
                self.graph.adjacency_bits, self.radius, stack, hops, cursor, members, rejected
            )
            if written:
                yield members[:written], rejected[:written]
            if written < _BLOCK_ROWS:
                return

    def among_all(self, sets: Bits) -> Bits:
        """The same sets among all players of the graph."""
        masks: Masks = np.zeros((len(sets), self._num_players), dtype=np.bool_)
        masks[:, self.players] = packing.unpack(sets, len(self.players))
        return packing.pack(masks)


def count_neighbourhoods(graph: PlayerGraph, radius: int, cap: int) -> int:
    """How many neighbourhoods all players have together, or ``cap + 1`` where these are more than ``cap``."""
    left = cap
    for root in range(graph.num_players):
        left -= _count(graph, root, radius, left)
        if left < 0:
            return cap + 1
    return cap - left


def _count(graph: PlayerGraph, root: int, radius: int, cap: int) -> int:
    return kernels.count_neighbourhoods(graph.adjacency_bits, radius, *_start(graph, root, 3), cap)


def _start(graph: PlayerGraph, root: int, layers: int) -> tuple[Bits, Integers]:
    """Room for the kernels: sets by size, where only the root may join at first, and the layer of each."""
    return graph.enumeration_stack(layers, root), np.zeros(graph.num_players + 2, dtype=np.int64)
