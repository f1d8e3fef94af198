"""The closed form of an index, summed along the tree in which connected coalitions are enumerated.

All coalitions R below a vertex of that tree share the decisions made above it: which players are in R, and which are in
N(R). So what they give to a set S is added once, when the last member of S is decided, instead of once per coalition:
about n numbers per coalition for pairs and n²/2 for triples, where one by one it would be n²/2 and n³/6.
"""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.jit import kernel, lowest_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@kernel
def _give(
    player: np.int64, decided: Integers, outside: Integers, count: int, order: int, gifts: Floats, totals: Floats
) -> None:
    """Add to each set of ``player`` and ``order`` − 1 players decided before: ``gifts[q]``, with q of them in N(R).

    The entry of a set is at [player, one, other], in the order in which they were decided, the last one first.
    """
    if order == 1:
        totals[player, 0, 0] += gifts[0]
    elif order == 2:
        row = totals[player, 0]
        for j in range(count):
            row[decided[j]] += gifts[outside[j]]
    else:
        for i in range(1, count):
            row = totals[player, decided[i]]
            inner, outer = gifts[outside[i]], gifts[outside[i] + 1]
            for j in range(i):
                row[decided[j]] += outer if outside[j] else inner


@kernel
def _list_outside(players: np.uint64, word: int, decided: Integers, outside: Integers, count: int) -> int:
    """Note players of one word as decided: outside for good. Returns how many decisions there are then."""
    while players != _ZERO:
        decided[count] = (word << 6) + lowest_bit(players)
        outside[count] = 1
        players &= players - _ONE
        count += 1
    return count


@kernel
def tree_sums(adjacency: Bits, worths: Floats, coefficients: Floats, order: int, totals: Floats) -> int:
    """Sum worth · coefficient(|R|, |N(R)|, q) over all connected R, for every S ⊆ R ∪ N(R) of ``order`` members.

    Here q = |S ∩ N(R)| and ``order`` is at most 3. Coalitions come in the order of
    :func:`mage._kernels.connected.next_block`, and ``worths`` in the same. Returns how many there are.
    """
    n, words = adjacency.shape
    # By depth, which is the size of the coalition under way:
    members = np.zeros((n + 2, words), dtype=np.uint64)
    touched = np.zeros((n + 2, words), dtype=np.uint64)  # members and their neighbours
    untried = np.zeros((n + 2, words), dtype=np.uint64)  # players that may still join
    closed = np.zeros((n + 2, words), dtype=np.uint64)  # players that earlier branches have taken
    number = np.zeros(n + 2, dtype=np.int64)
    entry = np.zeros(n + 2, dtype=np.int64)  # decisions when the coalition is complete
    forced = np.zeros(n + 2, dtype=np.int64)  # of these, the last ones: outside without a choice
    branches = np.zeros(n + 2, dtype=np.int64)
    joining = np.zeros((n + 2, n), dtype=np.int64)  # the player that joins in each branch
    sums = np.zeros((n + 2, n, order + 1))  # of the coalitions of each branch
    decided = np.zeros(n + 1, dtype=np.uintp)
    outside = np.zeros(n + 1, dtype=np.uintp)
    rest = np.zeros(order + 1)
    gifts = np.zeros(order + 1)
    coalitions = 0
    for root in range(n):
        word, bit = root >> 6, _ONE << np.uint64(root & 63)
        decided[0], outside[0] = root, 0
        count = 1
        for w in range(words):
            closed[1, w] = ~_ZERO if w < word else (bit - _ONE if w == word else _ZERO)
            members[1, w] = bit if w == word else _ZERO
            touched[1, w] = adjacency[root, w] | members[1, w]
            untried[1, w] = adjacency[root, w] & ~closed[1, w]
            count = _list_outside(adjacency[root, w] & closed[1, w], w, decided, outside, count)
        number[1], entry[1], forced[1], branches[1] = coalitions, count, count - 1, 0
        coalitions += 1
        depth = 1
        while depth > 0:
            vertex = -1
            for w in range(words):
                if untried[depth, w] != _ZERO:
                    vertex = (w << 6) + lowest_bit(untried[depth, w])
                    break
            if vertex >= 0:
                branch = branches[depth]
                joining[depth, branch] = vertex
                count = entry[depth] + branch
                if branch:
                    decided[count - 1], outside[count - 1] = joining[depth, branch - 1], 1
                decided[count], outside[count] = vertex, 0
                count += 1
                first = count
                word, bit = vertex >> 6, _ONE << np.uint64(vertex & 63)
                untried[depth, word] ^= bit
                for w in range(words):
                    reach = adjacency[vertex, w]
                    members[depth + 1, w] = members[depth, w] | (bit if w == word else _ZERO)
                    touched[depth + 1, w] = touched[depth, w] | reach
                    untried[depth + 1, w] = (untried[depth, w] | reach) & ~members[depth + 1, w] & ~closed[depth, w]
                    closed[depth + 1, w] = closed[depth, w]
                    count = _list_outside(reach & ~touched[depth, w] & closed[depth, w], w, decided, outside, count)
                closed[depth, word] |= bit
                depth += 1
                number[depth], entry[depth], forced[depth], branches[depth] = coalitions, count, count - first, 0
                coalitions += 1
                continue
            # All branches are done. First the coalition itself, in which all who might have joined are outside.
            first, last = entry[depth], entry[depth] + branches[depth]
            for j in range(branches[depth]):
                decided[first + j], outside[first + j] = joining[depth, j], 1
            for q in range(order + 1):
                rest[q] = worths[number[depth]] * coefficients[depth, last - depth, q]
            # Then branch after branch from the last: a player is inside in its own and outside in later ones.
            for j in range(branches[depth] - 1, -1, -1):
                for q in range(order):
                    gifts[q] = sums[depth, j, q] + rest[q + 1]
                _give(joining[depth, j], decided, outside, first + j, order, gifts, totals)
                for q in range(order + 1):
                    rest[q] += sums[depth, j, q]
            for q in range(order):
                gifts[q] = rest[q + 1]
            for position in range(first - 1, first - 1 - forced[depth], -1):
                _give(np.int64(decided[position]), decided, outside, position, order, gifts, totals)
            depth -= 1
            if depth:
                for q in range(order + 1):
                    sums[depth, branches[depth], q] = rest[q]
                branches[depth] += 1
            else:
                _give(np.int64(root), decided, outside, 0, order, rest, totals)
    return coalitions
