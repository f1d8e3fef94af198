"""The closed form of an index, summed along the tree in which connected coalitions or neighbourhoods are enumerated.

All coalitions R below a place of that tree share the decisions made above it: which players are in R, and which are in
N(R). The sums for a set S are therefore built from its last decided member upwards: below each decision there are sums
for nobody, for each player decided there, and for each pair of them, by how many of the other members of S are in N(R).
Deciding one more player turns sums for pairs into the value of a triple, those for single players into sums for pairs,
and so on. Most places of the tree have few decisions below them, so that a coalition costs a few dozen additions,
whatever the order is; one by one it would be n²/2 or n³/6.
"""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.connected import pop_untried
from mage._kernels.jit import inner, kernel, lowest_bit
from mage._kernels.neighbourhoods import open_layer

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@inner
def _decide(
    player: np.uint64,
    outside: int,
    order: int,
    source: int | np.int64,
    target: int | np.int64,
    below: Bits,
    listed: Bits,
    nobody: Floats,
    singles: Floats,
    pairs: Floats,
    totals: Floats,
) -> None:
    """Take a player into the sums below its decision: from ``source``, which is empty afterwards, into ``target``.

    The entry of a set is at [player, larger, smaller], where the player is the one that is decided first.
    """
    _, words = below.shape
    count = 0
    for w in range(words):
        rest = below[source, w]
        if source != target:
            below[target, w] |= rest
            below[source, w] = _ZERO
        while rest != _ZERO:
            listed[count] = (w << 6) + lowest_bit(rest)
            rest &= rest - _ONE
            count += 1
    below[target, player >> np.uint64(6)] |= _ONE << (player & np.uint64(63))
    if order == 1:
        totals[player, 0, 0] += nobody[source, outside]
    for i in range(count):
        one = listed[i]
        single = singles[source, one]
        if order == 2:
            totals[player, 0, one] += single[outside]
        elif order == 3:
            for j in range(i):
                other = listed[j]
                pair = pairs[source, one, other]
                totals[player, one, other] += pair[outside]
                if source != target:
                    for q in range(2):
                        pairs[target, one, other, q] += pair[q]
                        pair[q] = 0.0
            for q in range(2):
                pairs[target, max(one, player), min(one, player), q] += single[q + outside]
        if source != target:
            for q in range(order):
                singles[target, one, q] += single[q]
                single[q] = 0.0
    if order > 1:
        for q in range(order):
            singles[target, player, q] += nobody[source, q + outside]
    if source != target:
        for q in range(order + 1):
            nobody[target, q] += nobody[source, q]
            nobody[source, q] = 0.0


@kernel
def tree_sums(
    adjacency: Bits,
    worths: Floats,
    coefficients: Floats,
    order: int,
    deepest: int,
    radius: int,
    totals: Floats,
    sets: Bits,
    counts: Integers,
    slots: Integers,
    decided: Bits,
    listed: Bits,
    below: Bits,
    nobody: Floats,
    singles: Floats,
    pairs: Floats,
) -> int:
    """Sum worth · coefficient(|R|, |N(R)|, q) over all connected R, for every S ⊆ R ∪ N(R) of ``order`` members.

    Here q = |S ∩ N(R)| and ``order`` is at most 3. Coalitions of at most ``deepest`` members come in the order of
    :func:`mage._kernels.connected.next_block`, and ``worths`` in the same. Returns how many there are.

    With ``radius`` ≥ 0 the coalitions are the neighbourhoods of one root, who alone may join at first, and N(R) is what
    they reject: those of :func:`mage._kernels.neighbourhoods.next_neighbourhoods`, in its order.

    The other arrays are room to work in, see :func:`mage.indices.closed_form.sums_along_the_tree`. By depth, which is
    the size of the coalition under way, ``sets`` holds players that may still join, players that earlier branches have
    taken, its members, who may join in the next layer, and members with their neighbours; ``counts`` its number, the
    decisions when it is complete, how many of these last ones were forced, its branches so far, and the layer. By the
    number of decisions, ``decided`` holds the players, and ``slots`` where the sums below are: ``below``, which players
    are decided there, and their sums.
    """
    _, words = adjacency.shape
    coalitions, depth = 0, np.int64(0)
    while True:
        vertex = pop_untried(sets, depth)
        branches = counts[depth, 3]
        if vertex >= 0:
            count = counts[depth, 1] + branches
            decided[count] = vertex
            count += 1
            first = count
            word, bit = vertex >> 6, _ONE << np.uint64(vertex & 63)
            layer = counts[depth, 4]
            for w in range(words):
                reach = adjacency[vertex, w]
                rejected = sets[depth, 1, w]
                members = sets[depth, 2, w] | (bit if w == word else _ZERO)
                untried = sets[depth, 0, w] if depth > 0 else _ZERO
                if radius < 0:
                    untried |= reach & ~members & ~rejected
                else:
                    sets[depth + 1, 3, w] = sets[depth, 3, w] | (reach if layer < radius else _ZERO)
                # Who may not join any more is outside for good.
                forced = reach & ~sets[depth, 4, w] & rejected
                if depth + 1 == deepest:
                    forced |= untried
                    untried = _ZERO
                while forced != _ZERO:
                    decided[count] = (w << 6) + lowest_bit(forced)
                    forced &= forced - _ONE
                    count += 1
                sets[depth + 1, 0, w] = untried
                sets[depth + 1, 1, w] = rejected
                sets[depth + 1, 2, w] = members
                sets[depth + 1, 4, w] = sets[depth, 4, w] | reach | members
            sets[depth, 1, word] |= bit
            depth += 1
            counts[depth, 0] = coalitions
            counts[depth, 1] = count
            counts[depth, 2] = count - first
            counts[depth, 3] = 0
            counts[depth, 4] = layer
            coalitions += 1
            continue
        if radius >= 0 and open_layer(sets, depth):
            counts[depth, 4] += 1
            continue
        if depth == 0:
            return coalitions
        # All branches are done. First the coalition itself, in which all who might have joined are outside.
        first = counts[depth, 1]
        forced_from = first - counts[depth, 2]
        last = first + branches
        worth = worths[counts[depth, 0]]
        for q in range(order + 1):
            nobody[slots[last], q] = worth * coefficients[depth, last - depth, q]
        # Then its decisions from the last: a player that was inside in its branch is outside in later ones, others were
        # forced outside, and the first has joined.
        for position in range(last - 1, forced_from - 2, -1):
            source, target = slots[position + 1], slots[position]
            if position < first and position > 0:
                # Nothing is there yet: what is below stays where it is.
                slots[position + 1], slots[position] = target, source
                target = source
            outside = 1 if position >= forced_from else 0
            _decide(decided[position], outside, order, source, target, below, listed, nobody, singles, pairs, totals)
        depth -= 1
        if depth > 0:
            counts[depth, 3] += 1
