"""Connected coalitions: enumeration, counting, components, neighbours."""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.jit import kernel, lowest_bit

ONE = np.uint64(1)
ZERO = np.uint64(0)
SIX = np.uint64(6)
LOW_SIX = np.uint64(63)


@kernel
def next_block(
    adjacency: Bits,
    stack: Bits,
    cursor: Integers,
    max_size: int,
    members: Bits,
    neighbours: Bits,
    sizes: Integers,
) -> int:
    """Write the next connected coalitions, in a fixed order, until the output is full or none is left.

    A coalition is reached once: from its smallest member, by adding one vertex of the frontier at a time, where a
    vertex that an earlier branch has taken is forbidden to the later ones. ``stack[d]`` holds, for the coalition of
    ``d`` members under way, its members, neighbours, vertices still to try, and forbidden vertices; ``cursor`` holds
    the depth and the next root, so that a call takes up where the last one stopped.

    Returns:
        The number of rows written to ``members``, ``neighbours`` and ``sizes``.
    """
    num_players, words = adjacency.shape
    capacity = members.shape[0]
    depth, root = cursor[0], cursor[1]
    written = 0
    while written < capacity:
        if depth == 0:
            if root == num_players:
                break
            word, bit = root >> 6, ONE << np.uint64(root & 63)
            for w in range(words):
                if w < word:
                    forbidden = ~ZERO
                elif w == word:
                    forbidden = bit - ONE
                else:
                    forbidden = ZERO
                stack[1, 0, w] = ZERO
                stack[1, 1, w] = adjacency[root, w]
                stack[1, 2, w] = adjacency[root, w] & ~forbidden
                stack[1, 3, w] = forbidden
            stack[1, 0, word] = bit
            root += 1
            depth = 1
        else:
            vertex = -1
            if depth < max_size:
                for w in range(words):
                    if stack[depth, 2, w] != ZERO:
                        vertex = (w << 6) + lowest_bit(stack[depth, 2, w])
                        break
            if vertex < 0:
                depth -= 1
                continue
            word, bit = vertex >> 6, ONE << np.uint64(vertex & 63)
            stack[depth, 2, word] ^= bit
            for w in range(words):
                own = stack[depth, 0, w]
                if w == word:
                    own |= bit
                reach = adjacency[vertex, w]
                stack[depth + 1, 0, w] = own
                stack[depth + 1, 1, w] = (stack[depth, 1, w] | reach) & ~own
                stack[depth + 1, 2, w] = (stack[depth, 2, w] | reach) & ~own & ~stack[depth, 3, w]
                stack[depth + 1, 3, w] = stack[depth, 3, w]
            stack[depth, 3, word] |= bit
            depth += 1
        for w in range(words):
            members[written, w] = stack[depth, 0, w]
            neighbours[written, w] = stack[depth, 1, w]
        sizes[written] = depth
        written += 1
    cursor[0], cursor[1] = depth, root
    return written


@kernel
def count(adjacency: Bits, stack: Bits, cap: int) -> int:
    """Number of connected coalitions, or ``cap + 1`` as soon as it is known to be more than ``cap``."""
    num_players, words = adjacency.shape
    total = 0
    for root in range(num_players):
        total += 1
        root_word, root_bit = root >> 6, ONE << np.uint64(root & 63)
        for w in range(words):
            if w < root_word:
                blocked = ~ZERO
            elif w == root_word:
                blocked = root_bit | (root_bit - ONE)
            else:
                blocked = ZERO
            stack[1, 0, w] = blocked
            stack[1, 1, w] = adjacency[root, w] & ~blocked
        depth = 1
        while depth > 0:
            if total > cap:
                return cap + 1
            vertex = -1
            for w in range(words):
                if stack[depth, 1, w] != ZERO:
                    vertex = (w << 6) + lowest_bit(stack[depth, 1, w])
                    break
            if vertex < 0:
                depth -= 1
                continue
            # "blocked" is members and forbidden vertices in one: neither may be added again.
            word, bit = vertex >> 6, ONE << np.uint64(vertex & 63)
            stack[depth, 1, word] ^= bit
            stack[depth, 0, word] |= bit
            for w in range(words):
                stack[depth + 1, 0, w] = stack[depth, 0, w]
                stack[depth + 1, 1, w] = (stack[depth, 1, w] | adjacency[vertex, w]) & ~stack[depth, 0, w]
            depth += 1
            total += 1
    return total


@kernel
def label_components(adjacency: Bits, coalitions: Bits, labels: Integers) -> None:
    """Label each member by the rank of its component (0, 1, … by smallest member); −1 for players outside."""
    num_players, words = adjacency.shape
    remaining = np.empty(words, dtype=np.uint64)
    frontier = np.empty(words, dtype=np.uint64)
    for row in range(coalitions.shape[0]):
        for w in range(words):
            remaining[w] = coalitions[row, w]
            frontier[w] = ZERO
        for player in range(num_players):
            labels[row, player] = -1
        label = 0
        for player in range(num_players):
            if (remaining[player >> 6] >> np.uint64(player & 63)) & ONE == ZERO:
                continue
            frontier[player >> 6] |= ONE << np.uint64(player & 63)
            pending = True
            while pending:
                pending = False
                for w in range(words):
                    while frontier[w] != ZERO:
                        vertex = (w << 6) + lowest_bit(frontier[w])
                        frontier[w] &= frontier[w] - ONE
                        remaining[w] &= ~(ONE << np.uint64(vertex & 63))
                        labels[row, vertex] = label
                        for u in range(words):
                            frontier[u] |= adjacency[vertex, u] & remaining[u]
                        pending = True
            label += 1


@kernel
def open_neighbourhoods(adjacency: Bits, coalitions: Bits, neighbours: Bits) -> None:
    """N(R) of each coalition R: the players outside R that are adjacent to it."""
    words = adjacency.shape[1]
    for row in range(coalitions.shape[0]):
        for w in range(words):
            neighbours[row, w] = ZERO
        for w in range(words):
            rest = coalitions[row, w]
            while rest != ZERO:
                vertex = (w << 6) + lowest_bit(rest)
                rest &= rest - ONE
                for u in range(words):
                    neighbours[row, u] |= adjacency[vertex, u]
        for w in range(words):
            neighbours[row, w] &= ~coalitions[row, w]
