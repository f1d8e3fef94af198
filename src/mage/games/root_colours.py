"""The colours of one node in all of its neighbourhoods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mage._core.typing import Bits
from mage._kernels import neighbourhoods as kernels
from mage.graph import Neighbourhoods, packing

if TYPE_CHECKING:
    from mage.games.colouring import Colouring  # needs PyTorch, and this module is imported with mage


class RootColours:
    """The colour that a root has in each of its neighbourhoods: that of :meth:`Colouring.of_nodes`, for one node.

    Args:
        colouring: How players are told apart; every node is a player, and absent players have no edges. There must not
            be more rounds, with that of degrees, than hops of the neighbourhoods.
        sets: The neighbourhoods.
    """

    def __init__(self, colouring: Colouring, sets: Neighbourhoods) -> None:
        players, n = sets.players, len(sets.players)
        place = np.full(len(colouring.column), -1)
        place[players] = np.arange(n)
        target = place[np.repeat(np.arange(len(place)), np.diff(colouring.influence))]
        source = place[colouring.source]
        inside = (target >= 0) & (source >= 0)
        influence = np.zeros(n + 1, dtype=np.uint64)
        influence[1:] = np.cumsum(np.bincount(target[inside], minlength=n))
        stages = colouring.rounds + colouring.with_degrees
        self._tables = (
            *(sets.graph.adjacency_bits, sets.root),
            packing.pack(sets.hops <= np.arange(stages, -1, -1)[:, None]),
            *(colouring.kinds[1, players], influence, source[inside].astype(np.uint64), colouring.salt[inside]),
            int(colouring.with_degrees),
        )
        self._before = (
            np.zeros((3, packing.num_words(n)), dtype=np.uint64),
            np.zeros((stages + 1, n), dtype=np.uint64),
        )

    def __call__(self, members: Bits) -> Bits:
        """The root's colour in neighbourhoods, given as sets of positions [q]."""
        colours = np.empty(len(members), dtype=np.uint64)
        kernels.root_colours(*self._tables, members, *self._before, colours)
        return colours
