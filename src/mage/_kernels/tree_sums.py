"""The closed form of an index, summed along the tree in which connected coalitions are enumerated.

All coalitions R below a vertex of that tree share the decisions made above it: which players are in R, and which are in
N(R). So what they give to a set S is added once, when the last member of S is decided, instead of once per coalition:
about n numbers per coalition for pairs and n²/2 for triples, where one by one it would be n²/2 and n³/6.
"""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.connected import next_untried
from mage._kernels.jit import inner, kernel, lowest_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@inner
def _give(
    decided: Integers, outside: Integers, count: int | np.int64, order: int, gifts: Floats, totals: Floats
) -> None:
    """Add to each set of a player and ``order`` − 1 of the ``count`` decided before: ``gifts[q]``, q of them in N(R).

    The entry of a set is at [player, one, other], in the order in which they were decided, the last one first.
    """
    player = decided[count]
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
    the size of the coalition under way, they hold: ``sets``, players that may still join, players that earlier branches
    have taken, its members, and these with their neighbours; ``counts``, its number, the decisions when it is complete,
    how many of these last ones were forced, and its branches so far; ``joining`` and ``sums``, the player that joins in
    each branch and the sums over that branch. ``decisions`` lists decided players, and whether they are outside.
    """
    decided, outside = decisions[0], decisions[1]
    rest, gifts = amounts[0], amounts[1]
    _, words = adjacency.shape
    coalitions, depth = 0, np.int64(0)
    while True:
        vertex = next_untried(sets, depth)
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
            sets[depth, 0, word] ^= bit
            for w in range(words):
                reach = adjacency[vertex, w]
                taken = sets[depth, 1, w]
                members = sets[depth, 2, w] | (bit if w == word else _ZERO)
                untried = (reach | (sets[depth, 0, w] if depth > 0 else _ZERO)) & ~members & ~taken
                # Who may not join any more is outside for good.
                forced = reach & ~sets[depth, 3, w] & taken
                if depth + 1 == deepest:
                    forced |= untried
                    untried = _ZERO
                while forced != _ZERO:
                    decided[count] = (w << 6) + lowest_bit(forced)
                    outside[count] = 1
                    forced &= forced - _ONE
                    count += 1
                sets[depth + 1, 0, w] = untried
                sets[depth + 1, 1, w] = taken
                sets[depth + 1, 2, w] = members
                sets[depth + 1, 3, w] = sets[depth, 3, w] | reach | members
            sets[depth, 1, word] |= bit
            depth += 1
            counts[depth, 0] = coalitions
            counts[depth, 1] = count
            counts[depth, 2] = count - first
            counts[depth, 3] = 0
            coalitions += 1
            continue
        if depth == 0:
            return coalitions
        # All branches are done. First the coalition itself, in which all who might have joined are outside.
        first = counts[depth, 1]
        for j in range(branches):
            decided[first + j] = joining[depth, j]
            outside[first + j] = 1
        worth = worths[counts[depth, 0]]
        for q in range(order + 1):
            rest[q] = worth * coefficients[depth, first + branches - depth, q]
        # Then branch after branch from the last, where a player is inside in its own and outside in later ones, and
        # last the players that were forced outside.
        for position in range(first + branches - 1, first - 1 - counts[depth, 2], -1):
            branch = position - first
            for q in range(order):
                gifts[q] = rest[q + 1] + (sums[depth, branch, q] if branch >= 0 else 0.0)
            _give(decided, outside, position, order, gifts, totals)
            if branch >= 0:
                for q in range(order + 1):
                    rest[q] += sums[depth, branch, q]
        depth -= 1
        if depth > 0:
            for q in range(order + 1):
                sums[depth, counts[depth, 3], q] = rest[q]
            counts[depth, 3] += 1
        else:
            # Nobody was decided before the root.
            _give(decided, outside, depth, order, rest, totals)
