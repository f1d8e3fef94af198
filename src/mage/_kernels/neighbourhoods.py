"""Neighbourhoods of one node in coalitions: all of them, in the order of a tree, and what colour the node has there."""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.colours import mixed_word
from mage._kernels.connected import pop_untried
from mage._kernels.jit import inner, kernel, lowest_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_THREE = np.uint64(3)
_SIX, _LOW = np.uint64(6), np.uint64(63)


@inner
def open_layer(stack: Bits, depth: int | np.int64) -> bool:
    """Let the nodes that the layer under way touches join in the next layer, and say whether there are any.

    By place, ``stack`` holds nodes that may join, nodes rejected, members, and nodes that the layer under way touches.
    """
    _, _, words = stack.shape
    more = _ZERO
    for w in range(words):
        stack[depth, 0, w] = stack[depth, 3, w] & ~stack[depth, 2, w] & ~stack[depth, 1, w]
        stack[depth, 3, w] = _ZERO
        more |= stack[depth, 0, w]
    return bool(more != _ZERO)


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
        vertex = pop_untried(stack, depth)
        if vertex < 0:
            if open_layer(stack, depth):
                hops[depth] += 1
                continue
            if depth == 0:
                break
            depth -= 1
            continue
        word, bit = vertex >> 6, _ONE << np.uint64(vertex & 63)
        inside = hops[depth] < radius
        for w in range(words):
            joined = bit if w == word else _ZERO
            reach = adjacency[vertex, w] if inside else _ZERO
            inside_set = stack[depth, 2, w] | joined
            touched = stack[depth, 4, w] | reach | joined
            stack[depth + 1, 0, w] = stack[depth, 0, w]
            stack[depth + 1, 1, w] = stack[depth, 1, w]
            stack[depth + 1, 2, w] = inside_set
            stack[depth + 1, 3, w] = stack[depth, 3, w] | reach
            stack[depth + 1, 4, w] = touched
            members[written, w] = inside_set
            rejected[written, w] = touched & ~inside_set
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
        vertex = pop_untried(stack, depth)
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
    adjacency: Bits,
    root: int,
    near: Bits,
    kinds: Bits,
    influence: Bits,
    source: Bits,
    salt: Bits,
    with_degrees: int,
    members: Bits,
    sets: Bits,
    work: Bits,
    colours: Bits,
) -> None:
    """The colour of the root in each of its neighbourhoods, that of :mod:`mage._kernels.colours`.

    After each round it is computed anew only where it is not what it was in the set before, and only for nodes from
    where it still reaches the root.

    Args:
        adjacency: The graph.
        root: The root.
        near: By stage (what nodes carry, then rounds), the nodes whose colour matters: those near enough to the root.
        kinds: Words for what nodes carry.
        influence: Where the neighbours of each node begin in ``source``.
        source: Neighbours.
        salt: Words for what the edges to them carry.
        with_degrees: Whether the first round only counts edges.
        members: The neighbourhoods, best in the order in which they are enumerated.
        sets: The neighbourhood before, nodes that change, and those that change next [3, words]; kept between calls.
        work: Colours by stage in the neighbourhood before [stages, n]; kept between calls.
        colours: Output [q].
    """
    rows, words = members.shape
    stages, _ = work.shape
    for row in range(rows):
        for w in range(words):
            sets[1, w] = members[row, w] ^ sets[0, w]
            sets[0, w] = members[row, w]
        for stage in range(stages):
            new = work[stage]
            old = work[max(stage - 1, 0)]
            by_links = stage == 1 and with_degrees != 0
            for w in range(words):
                sets[2, w] = _ZERO
            for w in range(words):
                rest = sets[1, w] & near[stage, w]
                while rest != _ZERO:
                    bit = rest & (~rest + _ONE)
                    node = np.uint64(w << 6) + np.uint64(lowest_bit(rest))
                    rest ^= bit
                    word = _ZERO
                    if members[row, w] & bit != _ZERO:
                        word = kinds[node]
                        if stage > 0:
                            word = old[node] * _THREE
                            for edge in range(influence[node], influence[node + _ONE]):
                                other = source[edge]
                                if by_links:
                                    there = members[row, other >> _SIX] >> (other & _LOW)
                                    word += salt[edge] * (there & _ONE)
                                else:
                                    word += salt[edge] * old[other]
                            word = mixed_word(word)
                    if word != new[node]:
                        new[node] = word
                        sets[2, w] |= bit
                        for u in range(words):
                            sets[2, u] |= adjacency[node, u] & members[row, u]
            for w in range(words):
                sets[1, w] = sets[2, w]
        colours[row] = work[stages - 1, root]
