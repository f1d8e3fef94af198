"""The discrete derivative δ_S f|_E(T) as signed worths of connected coalitions.

Call two members of S linked if they are adjacent or touch one component of T, and let C_A be A ⊆ S with all components
of T that A touches. What is left of the inclusion-exclusion is

    δ_S f|_E(T) = Σ (−1)^(k−|A|) f(C_A)  +  (−1)^k Σ f(K),

over A ⊆ S, A ≠ ∅, held together by links and linked to each of S∖A, and over components K of T that touch all of S.
"""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.jit import inner

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@inner
def hold_together(links: Integers, subset: int) -> bool:
    """Whether the positions set in ``subset`` form one piece under ``links``."""
    reached = subset & -subset
    grew = True
    while grew:
        before = reached
        for a in range(links.shape[0]):
            if (reached >> a) & 1:
                reached |= links[a] & subset
        grew = reached != before
    return reached == subset


@inner
def link(adjacency: Bits, touch: Bits, rows: Integers, players: Integers, links: Integers) -> bool:
    """Find which members of S are linked, as bits; whether they all hold together (otherwise δ is zero).

    Args:
        adjacency: The graph.
        touch: C_{i} of single players, in the rows that ``rows`` names.
        rows: The row of ``touch`` for each member of S.
        players: The members of S.
        links: Output: for each member the members that it is linked to.
    """
    size = players.shape[0]
    for a in range(size):
        links[a] = 0
    for a in range(size):
        for b in range(a + 1, size):
            other = players[b]
            linked = (adjacency[players[a], other >> 6] >> np.uint64(other & 63)) & _ONE != _ZERO
            w = 0
            while not linked and w < adjacency.shape[1]:
                linked = touch[rows[a], w] & touch[rows[b], w] != _ZERO
                w += 1
            if linked:
                links[a] |= 1 << b
                links[b] |= 1 << a
    return hold_together(links, (1 << size) - 1)


@inner
def write_unions(
    links: Integers,
    touch: Bits,
    rows: Integers,
    weight: float,
    target: int,
    written: int,
    coalitions: Bits,
    signs: Floats,
    targets: Integers,
) -> int:
    """Write the terms (−1)^(k−|A|) f(C_A), times a weight; the number of terms then, or −1 where the output is full."""
    size = links.shape[0]
    everyone = (1 << size) - 1
    for subset in range(1, everyone + 1):
        count = 0
        around = 0
        for a in range(size):
            if (subset >> a) & 1:
                count += 1
                around |= links[a]
        if (around | subset) != everyone or not hold_together(links, subset):
            continue
        if written == coalitions.shape[0]:
            return -1
        for w in range(coalitions.shape[1]):
            coalitions[written, w] = _ZERO
        for a in range(size):
            if (subset >> a) & 1:
                for w in range(coalitions.shape[1]):
                    coalitions[written, w] |= touch[rows[a], w]
        signs[written] = weight if (size - count) % 2 == 0 else -weight
        targets[written] = target
        written += 1
    return written
