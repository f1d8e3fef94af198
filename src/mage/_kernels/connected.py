"""Connected coalitions: enumeration, counting, components, neighbours."""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.jit import allocating_kernel, inner, kernel, lowest_bit

ZERO = np.uint64(0)
ONE = np.uint64(1)


@inner
def pop_untried(stack: Bits, depth: int | np.int64) -> int:
    """Take the first player that may still join the coalition under way at a depth, or −1; the first layer has them."""
    _, _, words = stack.shape
    for w in range(words):
        rest = stack[depth, 0, w]
        if rest != ZERO:
            stack[depth, 0, w] = rest & (rest - ONE)
            return (w << 6) + lowest_bit(rest)
    return -1


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
    ``d`` members under way, vertices still to try, forbidden vertices, its members and its neighbours; with no member
    under way, all vertices are to try. ``cursor`` holds the depth, so that a call takes up where the last one stopped.

    Returns:
        The number of rows written to ``members``, ``neighbours`` and ``sizes``.
    """
    capacity, words = members.shape
    depth = cursor[0]
    written = 0
    while written < capacity:
        vertex = pop_untried(stack, depth) if depth < max_size else -1
        if vertex < 0:
            if depth == 0:
                break
            depth -= 1
            continue
        word, bit = vertex >> 6, ONE << np.uint64(vertex & 63)
        for w in range(words):
            reach = adjacency[vertex, w]
            inside = stack[depth, 2, w] | (bit if w == word else ZERO)
            around = (stack[depth, 3, w] | reach) & ~inside
            # Players that were to try before stay so, but not as neighbours of nobody.
            untried = reach | (stack[depth, 0, w] if depth > 0 else ZERO)
            stack[depth + 1, 0, w] = untried & ~inside & ~stack[depth, 1, w]
            stack[depth + 1, 1, w] = stack[depth, 1, w]
            stack[depth + 1, 2, w] = inside
            stack[depth + 1, 3, w] = around
            members[written, w] = inside
            neighbours[written, w] = around
        stack[depth, 1, word] |= bit
        depth += 1
        sizes[written] = depth
        written += 1
    cursor[0] = depth
    return written


@kernel
def count(adjacency: Bits, stack: Bits, cap: int) -> int:
    """Number of connected coalitions, or ``cap + 1`` as soon as it is known to be more than ``cap``."""
    _, words = adjacency.shape
    total, depth = 0, np.int64(0)
    while depth >= 0 and total <= cap:
        vertex = pop_untried(stack, depth)
        if vertex < 0:
            depth -= 1
            continue
        # The second layer is members and forbidden vertices in one: neither may be added again.
        word, bit = vertex >> 6, ONE << np.uint64(vertex & 63)
        stack[depth, 1, word] |= bit
        for w in range(words):
            untried = adjacency[vertex, w] | (stack[depth, 0, w] if depth > 0 else ZERO)
            stack[depth + 1, 0, w] = untried & ~stack[depth, 1, w]
            stack[depth + 1, 1, w] = stack[depth, 1, w]
        depth += 1
        total += 1
    return min(total, cap + 1)


@allocating_kernel
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
