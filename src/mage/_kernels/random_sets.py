"""Discrete derivatives at random sets of players: which coalitions do they need, and with what weight?"""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.derivatives import link, write_unions
from mage._kernels.jit import allocating_kernel, inner, lowest_bit
from mage._kernels.subsets import advance, rank

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@inner
def _flood(adjacency: Bits, base: Bits, player: int, out: Bits, fresh: Bits) -> None:
    """The player with all components of ``base`` that it is adjacent to; ``fresh`` is scratch space."""
    words = adjacency.shape[1]
    for w in range(words):
        fresh[w] = adjacency[player, w] & base[w]
        out[w] = fresh[w]
    out[player >> 6] |= _ONE << np.uint64(player & 63)
    while True:
        word = -1
        missing = _ZERO
        for w in range(words):
            missing |= base[w] & ~out[w]
            if word < 0 and fresh[w] != _ZERO:
                word = w
        if word < 0 or missing == _ZERO:
            return
        vertex = (word << 6) + lowest_bit(fresh[word])
        fresh[word] &= fresh[word] - _ONE
        for w in range(words):
            near = adjacency[vertex, w] & base[w] & ~out[w]
            out[w] |= near
            fresh[w] |= near


@allocating_kernel
def collect_terms(
    adjacency: Bits,
    binomials: Integers,
    sets: Bits,
    weights: Floats,
    start: int,
    first_size: int,
    coalitions: Bits,
    signs: Floats,
    targets: Integers,
    ends: Integers,
) -> int:
    """Write weight · δ_S f|_E(T∖S) of every set T and every S of some sizes as terms ±weight · f(coalition).

    See :mod:`mage._kernels.derivatives`.

    Args:
        adjacency: The graph.
        binomials: C(a, b).
        sets: The sets T, one per row.
        weights: The weight of each set for S of ``first_size`` players, one more, … [sets, sizes].
        start: First set to take.
        first_size: The smallest size of S.
        coalitions: Output: coalition of each term.
        signs: Output: its weight, with its sign.
        targets: Output: the place of S, by size and then in lexicographic order.
        ends: Output: number of terms up to and with set start, start + 1, …

    Returns:
        The number of sets written whole; fewer than there are when the output is full.
    """
    num_players, words = adjacency.shape
    capacity = coalitions.shape[0]
    largest = first_size + weights.shape[1] - 1
    members = np.empty(largest, dtype=np.int64)
    links = np.empty(largest, dtype=np.int64)
    rows = np.arange(largest)
    touch = np.empty((largest, words), dtype=np.uint64)
    base = np.empty(words, dtype=np.uint64)
    union = np.empty(words, dtype=np.uint64)
    component = np.empty(words, dtype=np.uint64)
    fresh = np.empty(words, dtype=np.uint64)
    written = 0
    for t in range(start, len(sets)):
        offset = 0
        for size in range(first_size, min(largest, num_players) + 1):
            weight = weights[t, size - first_size]
            for j in range(size):
                members[j] = j
            more = weight != 0.0
            while more:
                for w in range(words):
                    base[w] = sets[t, w]
                for a in range(size):
                    base[members[a] >> 6] &= ~(_ONE << np.uint64(members[a] & 63))
                for a in range(size):
                    _flood(adjacency, base, members[a], touch[a], fresh)
                if link(adjacency, touch, rows[:size], members[:size], links[:size]):
                    target = offset + rank(members, size, num_players, binomials)
                    written = write_unions(
                        links[:size], touch, rows, weight, target, written, coalitions, signs, targets
                    )
                    if written < 0:
                        return t - start
                    for w in range(words):
                        union[w] = base[w]
                        for a in range(size):
                            union[w] &= touch[a, w]
                    for w in range(words):
                        while union[w] != _ZERO:
                            if written == capacity:
                                return t - start
                            _flood(adjacency, base, (w << 6) + lowest_bit(union[w]), component, fresh)
                            for u in range(words):
                                coalitions[written, u] = component[u]
                                union[u] &= ~component[u]
                            signs[written] = weight if size % 2 == 0 else -weight
                            targets[written] = target
                            written += 1
                more = advance(members, size, num_players)
            offset += binomials[num_players, size]
        ends[t - start] = written
    return len(sets) - start
