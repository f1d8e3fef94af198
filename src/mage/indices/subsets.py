"""Subsets of players of one size, in lexicographic order."""

import math
from functools import lru_cache

import numpy as np

from mage._core.typing import Integers

# Beyond this an index no longer fits in the memory of an ordinary machine.
MOST_SUBSETS = 50_000_000


def binomial_table(num_players: int, size: int) -> Integers:
    """C(a, b) for a ≤ num_players and b ≤ size."""
    table = np.zeros((num_players + 1, size + 1), dtype=np.int64)
    table[:, 0] = 1
    for a in range(1, num_players + 1):
        table[a, 1:] = table[a - 1, 1:] + table[a - 1, :-1]
    return table


def subsets_of_size(num_players: int, size: int) -> Integers:
    """All subsets of one size, one per row [C(n, size), size], read-only."""
    # Only small lists are worth keeping, and safe to keep.
    return (_kept if math.comb(num_players, size) <= 20_000 else _listed)(num_players, size)


def _listed(num_players: int, size: int) -> Integers:
    listed = np.zeros((1, 0), dtype=np.int64)
    for _ in range(size):
        # Each subset is followed by all larger players, one after the other.
        first = listed[:, -1] + 1 if listed.shape[1] else np.zeros(1, dtype=np.int64)
        counts = num_players - first
        ends = np.cumsum(counts)
        last = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts - first, counts)
        listed = np.concatenate([np.repeat(listed, counts, axis=0), last[:, None]], axis=1)
    listed.setflags(write=False)
    return listed


_kept = lru_cache(maxsize=64)(_listed)


def ranks(subsets: Integers, num_players: int) -> Integers:
    """Lexicographic rank of each ascending subset among those of its size."""
    size = subsets.shape[1]
    table = binomial_table(num_players, max(size, 1))
    result = np.full(len(subsets), table[num_players, size] - 1 if size else 0, dtype=np.int64)
    for j in range(size):
        result -= table[num_players - 1 - subsets[:, j], size - j]
    return result
