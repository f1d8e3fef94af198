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
def tree_sums(
    adjacency: Bits,
    worths: Floats,
    coefficients: Floats,
    order: int,
    deepest: int,
    totals: Floats,
    sets: Bits,
    counts: Integers,
    joining: Integers,
    sums: Floats,
    decisions: Integers,
    amounts: Floats,
) -> int:
    """Sum worth · coefficient(|R|, |N(R)|, q) over all connected R, for every S ⊆ R ∪ N(R) of ``order`` members.

    Here q = |S ∩ N(R)| and ``order`` is at most 3. Coalitions of at most ``deepest`` members come in the order of
    :func:`mage._kernels.connected.next_block`, and ``worths`` in the same. Returns how many there are.

    The other arrays are room to work in, see :func:`mage.indices.closed_form.sums_along_the_tree`. By depth, which is
    the size of the coalition under way, they hold: ``sets``, its members, these with their neighbours, players that may
    still join, and players that earlier branches have taken; ``counts``, its number, the decisions when it is complete,
    how many of these last ones were forced, and its branches so far; ``joining`` and ``sums``, the player that joins in
    each branch and the sums over that branch. ``decisions`` lists decided players, and whether they are outside.
    """
    n, words = adjacency.shape
    decided, outside = decisions[0], decisions[1]
    rest, gifts = amounts[0], amounts[1]
    coalitions = 0
    for root in range(n):
        word, bit = root >> 6, _ONE << np.uint64(root & 63)
        decided[0] = root
        outside[0] = 0
        count = 1
        for w in range(words):
            taken = ~_ZERO if w < word else (bit - _ONE if w == word else _ZERO)
            sets[1, 0, w] = bit if w == word else _ZERO
            sets[1, 1, w] = adjacency[root, w] | sets[1, 0, w]
            sets[1, 2, w] = adjacency[root, w] & ~taken
            sets[1, 3, w] = taken
            if deepest == 1:
                taken = ~_ZERO
                sets[1, 2, w] = _ZERO
            count = _list_outside(adjacency[root, w] & taken & ~sets[1, 0, w], w, decided, outside, count)
        counts[1, 0] = coalitions
        counts[1, 1] = count
        counts[1, 2] = count - 1
        counts[1, 3] = 0
        coalitions += 1
        depth = 1
        while depth > 0:
            vertex = -1
            for w in range(words):
                if sets[depth, 2, w] != _ZERO:
                    vertex = (w << 6) + lowest_bit(sets[depth, 2, w])
                    break
            branches = counts[depth, 3]
            if vertex >= 0:
                joining[depth, branches] = vertex
                count = counts[depth, 1] + branches
                if branches:
                    decided[count - 1] = joining[depth, branches - 1]
                    outside[count - 1] = 1
                decided[count] = vertex
                outside[count] = 0
                count += 1
                first = count
                word, bit = vertex >> 6, _ONE << np.uint64(vertex & 63)
                sets[depth, 2, word] ^= bit
                for w in range(words):
                    reach = adjacency[vertex, w]
                    members = sets[depth, 0, w] | (bit if w == word else _ZERO)
                    taken = sets[depth, 3, w]
                    untried = (sets[depth, 2, w] | reach) & ~members & ~taken
                    count = _list_outside(reach & ~sets[depth, 1, w] & taken, w, decided, outside, count)
                    if depth + 1 == deepest:
                        count = _list_outside(untried, w, decided, outside, count)
                        untried = _ZERO
                    sets[depth + 1, 0, w] = members
                    sets[depth + 1, 1, w] = sets[depth, 1, w] | reach
                    sets[depth + 1, 2, w] = untried
                    sets[depth + 1, 3, w] = taken
                sets[depth, 3, word] |= bit
                depth += 1
                counts[depth, 0] = coalitions
                counts[depth, 1] = count
                counts[depth, 2] = count - first
                counts[depth, 3] = 0
                coalitions += 1
                continue
            # All branches are done. First the coalition itself, in which all who might have joined are outside.
            first = counts[depth, 1]
            for j in range(branches):
                decided[first + j] = joining[depth, j]
                outside[first + j] = 1
            worth = worths[counts[depth, 0]]
            for q in range(order + 1):
                rest[q] = worth * coefficients[depth, first + branches - depth, q]
            # Then branch after branch from the last: a player is inside in its own and outside in later ones.
            for j in range(branches - 1, -1, -1):
                for q in range(order):
                    gifts[q] = sums[depth, j, q] + rest[q + 1]
                _give(joining[depth, j], decided, outside, first + j, order, gifts, totals)
                for q in range(order + 1):
                    rest[q] += sums[depth, j, q]
            for q in range(order):
                gifts[q] = rest[q + 1]
            for position in range(first - 1, first - 1 - counts[depth, 2], -1):
                _give(decided[position], decided, outside, position, order, gifts, totals)
            depth -= 1
            if depth:
                for q in range(order + 1):
                    sums[depth, counts[depth, 3], q] = rest[q]
                counts[depth, 3] += 1
            else:
                # Nobody was decided before the root.
                _give(decided[0], decided, outside, outside[0], order, rest, totals)
    return coalitions
