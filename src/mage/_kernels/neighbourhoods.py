"""Neighbourhoods of one node in coalitions: all of them, in the order of a tree, and what colour the node has there."""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.colours import mixed_word
from mage._kernels.connected import next_untried
from mage._kernels.jit import kernel

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_THREE = np.uint64(3)


@kernel
def next_neighbourhoods(
    adjacency: Bits, radius: int, stack: Bits, hops: Integers, cursor: Integers, members: Bits, rejected: Bits
) -> int:
    """Write the next sets R that can be what lies within ``radius`` hops of a root in a coalition; and N(R).

    R is built layer by layer: each takes some of the nodes that the layer before touches, and rejects the others for
    good, N(R). A set comes before those that the same decisions and further members lead to. By |R|, ``stack`` holds
    nodes of the layer under way that may still join, nodes rejected, members, nodes that the layer under way touches,
    and members with all that layers before the last touch; ``hops`` the number of the layer. At first only the root may
    join. ``cursor`` holds |R|, so that a call takes up where the last one stopped.

    Returns:
        The number of rows written to ``members`` and ``rejected``.
    """
    capacity, words = members.shape
    depth = cursor[0]
    written = 0
    while written < capacity:
        vertex = next_untried(stack, depth)
        if vertex < 0:
            more = _ZERO
            for w in range(words):
                stack[depth, 0, w] = stack[depth, 3, w] & ~stack[depth, 2, w] & ~stack[depth, 1, w]
                stack[depth, 3, w] = _ZERO
                more |= stack[depth, 0, w]
            if more != _ZERO:
                hops[depth] += 1
                continue
            if depth == 0:
                break
            depth -= 1
            continue
        word, bit = vertex >> 6, _ONE << np.uint64(vertex & 63)
        stack[depth, 0, word] ^= bit
        inside = hops[depth] < radius
        for w in range(words):
            joined = bit if w == word else _ZERO
            reach = adjacency[vertex, w] if inside else _ZERO
            own = stack[depth, 2, w] | joined
            touched = stack[depth, 4, w] | reach | joined
            stack[depth + 1, 0, w] = stack[depth, 0, w]
            stack[depth + 1, 1, w] = stack[depth, 1, w]
            stack[depth + 1, 2, w] = own
            stack[depth + 1, 3, w] = stack[depth, 3, w] | reach
            stack[depth + 1, 4, w] = touched
            members[written, w] = own
            rejected[written, w] = touched & ~own
        stack[depth, 1, word] |= bit
        hops[depth + 1] = hops[depth]
        depth += 1
        written += 1
    cursor[0] = depth
    return written


@kernel
def count_neighbourhoods(adjacency: Bits, radius: int, stack: Bits, hops: Integers, cap: int) -> int:
    """How many :func:`next_neighbourhoods` lists, or ``cap + 1`` as soon as it is known to be more than ``cap``."""
    _, words = adjacency.shape
    total, depth = 0, np.int64(0)
    while depth >= 0 and total <= cap:
        vertex = next_untried(stack, depth)
        if vertex < 0:
            more = _ZERO
            for w in range(words):
                stack[depth, 0, w] = stack[depth, 2, w] & ~stack[depth, 1, w]
                stack[depth, 2, w] = _ZERO
                more |= stack[depth, 0, w]
            if more != _ZERO:
                hops[depth] += 1
            else:
                depth -= 1
            continue
        # The second set is members and rejected nodes in one: neither may join again. The third is touched now.
        word, bit = vertex >> 6, _ONE << np.uint64(vertex & 63)
        stack[depth, 0, word] ^= bit
        stack[depth, 1, word] |= bit
        inside = hops[depth] < radius
        for w in range(words):
            stack[depth + 1, 0, w] = stack[depth, 0, w]
            stack[depth + 1, 1, w] = stack[depth, 1, w]
            stack[depth + 1, 2, w] = stack[depth, 2, w] | (adjacency[vertex, w] if inside else _ZERO)
        hops[depth + 1] = hops[depth]
        depth += 1
        total += 1
    return total


@kernel
def root_colours(
    members: Bits,
    root: int,
    kinds: Bits,
    near: Integers,
    first_near: Integers,
    influence: Integers,
    source: Integers,
    salt: Bits,
    with_degrees: int,
    work: Bits,
    colours: Bits,
) -> None:
    """The colour of the root in each of its neighbourhoods, as :func:`mage._kernels.colours` has it.

    A node's colour after r rounds reaches the root only where it is at most L − r hops away, in the whole graph at
    least: ``near[first_near[r] : first_near[r + 1]]`` are these nodes. ``kinds`` are words for what nodes carry;
    ``influence``, ``source`` and ``salt`` are the edges to each; ``work`` is room [2, n].
    """
    rows, _ = members.shape
    stages = len(first_near) - 2
    for row in range(rows):
        for place in range(first_near[0], first_near[1]):
            v = near[place]
            work[0, v] = kinds[v] * ((members[row, v >> 6] >> np.uint64(v & 63)) & _ONE)
        for stage in range(1, stages + 1):
            old, new = work[(stage - 1) & 1], work[stage & 1]
            by_links = stage == 1 and with_degrees != 0
            for place in range(first_near[stage], first_near[stage + 1]):
                v = near[place]
                word = _ZERO
                if (members[row, v >> 6] >> np.uint64(v & 63)) & _ONE != _ZERO:
                    word = old[v] * _THREE
                    for edge in range(influence[v], influence[v + 1]):
                        u = source[edge]
                        if by_links:
                            word += salt[edge] * ((members[row, u >> 6] >> np.uint64(u & 63)) & _ONE)
                        else:
                            word += salt[edge] * old[u]
                    word = mixed_word(word)
                new[v] = word
        colours[row] = work[stages & 1, root]
