"""The closed form of all four indices, summed over a block of connected coalitions."""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.jit import allocating_kernel, lowest_bit
from mage._kernels.subsets import advance, rank

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@allocating_kernel
def accumulate(
    members: Bits,
    neighbours: Bits,
    worths: Floats,
    coefficients: Floats,
    order: int,
    binomials: Integers,
    totals: Floats,
) -> None:
    """Add f(R) · coefficient(|R|, |N(R)|, q) to every S ⊆ R ∪ N(R) with |S| = order and q = |S ∩ N(R)|.

    ``totals[rank(S without its largest member), largest member]`` is the entry of S, so that the innermost loop stays
    within one row.
    """
    words = members.shape[1]
    num_players = totals.shape[1]
    # Unsigned, because numba checks signed indices for wrapping round.
    involved = np.empty(num_players, dtype=np.uintp)
    outside = np.empty(num_players, dtype=np.uintp)
    # shares[q, j]: what a set gets whose largest member is involved[j] and which has q others in N(R).
    shares = np.empty((order, num_players))
    whole = np.empty((order, num_players))
    picks = np.empty(max(order - 1, 1), dtype=np.int64)
    prefix = np.empty(max(order - 1, 1), dtype=np.int64)
    for coalition in range(members.shape[0]):
        worth = worths[coalition]
        if worth == 0.0:
            continue
        count = 0
        size = np.int64(0)
        for w in range(words):
            inside = members[coalition, w]
            rest = inside | neighbours[coalition, w]
            while rest != _ZERO:
                bit = lowest_bit(rest)
                rest &= rest - _ONE
                member = np.int64((inside >> np.uint64(bit)) & _ONE)
                involved[count] = (w << 6) + bit
                outside[count] = 1 - member
                size += member
                count += 1
        for q in range(order):
            for j in range(count):
                shares[q, j] = worth * coefficients[size, count - size, q + np.int64(outside[j])]
        if order == 1:
            for j in range(count):
                totals[0, involved[j]] += shares[0, j]
        elif order == 2:
            for a in range(count):
                row, share = totals[involved[a]], shares[outside[a]]
                for j in range(a + 1, count):
                    row[involved[j]] += share[j]
        elif order == 3:
            # Whole rows are added faster than places in them. What this writes below the diagonal nobody reads.
            wide = 4 * count > num_players
            if wide:
                for q in range(3):
                    for j in range(num_players):
                        whole[q, j] = 0.0
                    for j in range(count):
                        whole[q, involved[j]] = shares[q, j]
            for a in range(count):
                # Rank of the pair (i, i + 1), less i + 1: the rank of (i, j) is this plus j.
                first = np.int64(involved[a])
                offset = first * (2 * num_players - first - 1) // 2 - first - 1
                for b in range(a + 1, count):
                    row = totals[np.uintp(offset + np.int64(involved[b]))]
                    num_outside = outside[a] + outside[b]
                    if wide:
                        share = whole[num_outside]
                        for j in range(involved[b] + _ONE, np.uintp(num_players)):
                            row[j] += share[j]
                    else:
                        share = shares[num_outside]
                        for j in range(b + 1, count):
                            row[involved[j]] += share[j]
        elif count >= order:
            for j in range(order - 1):
                picks[j] = j
            more = True
            while more:
                others = np.int64(0)
                for j in range(order - 1):
                    prefix[j] = np.int64(involved[picks[j]])
                    others += np.int64(outside[picks[j]])
                row, share = totals[rank(prefix, order - 1, num_players, binomials)], shares[others]
                for j in range(picks[order - 2] + 1, count):
                    row[involved[j]] += share[j]
                more = advance(picks, order - 1, count)
