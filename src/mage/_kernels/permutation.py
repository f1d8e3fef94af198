"""Algorithm 1 of the paper: which components does each ordering need, and with what sign?"""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.derivatives import link, write_unions
from mage._kernels.jit import allocating_kernel, inner, lowest_bit
from mage._kernels.subsets import advance, rank

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@inner
def _touched(adjacency: Bits, placed: Bits, component: Bits, owner: Integers, player: int, out: Bits) -> None:
    """The player with all components of T that it is adjacent to."""
    words = adjacency.shape[1]
    for w in range(words):
        out[w] = _ZERO
    for w in range(words):
        near = adjacency[player, w] & placed[w] & ~out[w]
        while near != _ZERO:
            other = (w << 6) + lowest_bit(near)
            for u in range(words):
                out[u] |= component[owner[other], u]
            near &= ~out[w]
    out[player >> 6] |= _ONE << np.uint64(player & 63)


@inner
def _sort(players: Integers) -> None:
    for a in range(1, players.shape[0]):
        moving = players[a]
        b = a - 1
        while b >= 0 and players[b] > moving:
            players[b + 1] = players[b]
            b -= 1
        players[b + 1] = moving


@allocating_kernel
def collect_terms(
    adjacency: Bits,
    binomials: Integers,
    orderings: Integers,
    start: int,
    order: int,
    coalitions: Bits,
    signs: Floats,
    targets: Integers,
    ends: Integers,
) -> int:
    """Write δ_S f|_E(T) of every ordering and every S, |S| = order, as signed terms ±f(coalition).

    T holds the players before the first of S; see :mod:`mage._kernels.derivatives`.

    Args:
        adjacency: The graph.
        binomials: C(a, b).
        orderings: Orderings of the players, one per row.
        start: First ordering to take.
        order: k.
        coalitions: Output: coalition of each term.
        signs: Output: its sign.
        targets: Output: lexicographic rank of S.
        ends: Output: number of terms up to and with ordering start, start + 1, …

    Returns:
        The number of orderings written whole; fewer than there are when the output is full.
    """
    num_players, words = adjacency.shape
    capacity = coalitions.shape[0]
    placed = np.empty(words, dtype=np.uint64)
    component = np.empty((num_players, words), dtype=np.uint64)
    owner = np.empty(num_players, dtype=np.int64)
    touch = np.empty((num_players, words), dtype=np.uint64)
    subset = np.empty(order, dtype=np.int64)
    ascending = np.empty(order, dtype=np.int64)
    picks = np.empty(max(order - 1, 1), dtype=np.int64)
    links = np.empty(order, dtype=np.int64)
    union = np.empty(words, dtype=np.uint64)
    written = 0
    for t in range(start, len(orderings)):
        for w in range(words):
            placed[w] = _ZERO
        for p in range(num_players - order + 1):
            player = orderings[t, p]
            for place in range(p, num_players):
                j = orderings[t, place]
                _touched(adjacency, placed, component, owner, j, touch[j])
            later = num_players - p - 1
            for j in range(order - 1):
                picks[j] = j
            more = True
            while more:
                subset[0] = player
                for j in range(order - 1):
                    subset[j + 1] = orderings[t, p + 1 + picks[j]]
                more = advance(picks, order - 1, later) if order > 1 else False
                if not link(adjacency, touch, subset, subset, links):
                    continue
                for j in range(order):
                    ascending[j] = subset[j]
                _sort(ascending)
                target = rank(ascending, order, num_players, binomials)
                written = write_unions(links, touch, subset, 1.0, target, written, coalitions, signs, targets)
                if written < 0:
                    return t - start
                for w in range(words):
                    union[w] = placed[w]
                    for a in range(order):
                        union[w] &= touch[subset[a], w]
                for w in range(words):
                    while union[w] != _ZERO:
                        k = (w << 6) + lowest_bit(union[w])
                        if written == capacity:
                            return t - start
                        for u in range(words):
                            coalitions[written, u] = component[owner[k], u]
                            union[u] &= ~component[owner[k], u]
                        signs[written] = 1.0 if order % 2 == 0 else -1.0
                        targets[written] = target
                        written += 1
            # The player joins T: its components merge, and all their members now belong to the player's.
            for w in range(words):
                component[player, w] = touch[player, w]
            for w in range(words):
                rest = touch[player, w]
                while rest != _ZERO:
                    owner[(w << 6) + lowest_bit(rest)] = player
                    rest &= rest - _ONE
            placed[player >> 6] |= _ONE << np.uint64(player & 63)
        ends[t - start] = written
    return len(orderings) - start
