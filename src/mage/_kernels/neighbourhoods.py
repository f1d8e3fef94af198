"""Neighbourhoods of one node in coalitions: all of them."""

import numpy as np

from mage._core.typing import Bits
from mage._kernels.jit import allocating_kernel, lowest_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_WIDEST = 40  # nodes that a layer may offer; more make more subsets than anybody waits for


@allocating_kernel
def neighbourhoods(adjacency: Bits, root: int, radius: int, members: Bits, rejected: Bits, most: int) -> int:
    """All sets R that can be what lies within ``radius`` hops of the root in a coalition, and what then must be absent.

    R is built layer by layer: each takes some of the nodes that the layer before touches, and rejects the others for
    good. Writes up to ``len(members)`` sets and returns how many there are, or −1 where there are more than ``most``.
    """
    words = adjacency.shape[1]
    taken = np.zeros((radius + 2, words), dtype=np.uint64)
    refused = np.zeros((radius + 2, words), dtype=np.uint64)
    offered = np.zeros((radius + 2, _WIDEST), dtype=np.int64)
    width = np.zeros(radius + 2, dtype=np.int64)
    choice = np.zeros(radius + 2, dtype=np.int64)
    taken[0, root >> 6] = _ONE << np.uint64(root & 63)
    count = 0
    depth = 0
    # The layer before is what was taken last; at the start the root.
    fresh = np.zeros((radius + 2, words), dtype=np.uint64)
    fresh[0] = taken[0]
    entering = True
    while depth >= 0:
        if entering:
            width[depth] = 0
            if depth < radius:
                for w in range(words):
                    near = _ZERO
                    for v in range(adjacency.shape[0]):
                        if (fresh[depth, v >> 6] >> np.uint64(v & 63)) & _ONE:
                            near |= adjacency[v, w]
                    near &= ~(taken[depth, w] | refused[depth, w])
                    while near != _ZERO:
                        if width[depth] == _WIDEST:
                            return -1
                        offered[depth, width[depth]] = (w << 6) + lowest_bit(near)
                        near &= near - _ONE
                        width[depth] += 1
            choice[depth] = 0
            entering = False
        if choice[depth] >> width[depth]:
            depth -= 1
            continue
        subset = choice[depth]
        choice[depth] += 1
        below = depth + 1
        taken[below] = taken[depth]
        refused[below] = refused[depth]
        fresh[below, :] = _ZERO
        for j in range(width[depth]):
            v = offered[depth, j]
            bit = _ONE << np.uint64(v & 63)
            if (subset >> j) & 1:
                taken[below, v >> 6] |= bit
                fresh[below, v >> 6] |= bit
            else:
                refused[below, v >> 6] |= bit
        if subset == 0:
            if count < members.shape[0]:
                members[count] = taken[below]
                rejected[count] = refused[below]
            count += 1
            if count > most:
                return -1
        else:
            depth = below
            entering = True
    return count
