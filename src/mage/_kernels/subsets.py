"""Subsets of a given size in lexicographic order, and their ranks in it."""

import numpy as np

from mage._core.typing import Integers
from mage._kernels.jit import kernel


@kernel
def rank(subset: Integers, size: int, num_players: int, binomials: Integers) -> int:
    """Lexicographic rank of an ascending subset; ``binomials[a, b]`` is C(a, b)."""
    result = int(binomials[num_players, size]) - 1
    for j in range(size):
        result -= int(binomials[num_players - 1 - subset[j], size - j])
    return result


@kernel
def advance(subset: Integers, size: int, num_players: int) -> bool:
    """Step to the next subset in lexicographic order; False after the last."""
    j = size - 1
    while j >= 0 and subset[j] == num_players - size + j:
        j -= 1
    if j < 0:
        return False
    subset[j] += 1
    for later in range(j + 1, size):
        subset[later] = subset[later - 1] + 1
    return True


@kernel
def fill(subsets: Integers, num_players: int) -> None:
    """Write all subsets, one a row."""
    size = subsets.shape[1]
    current = np.arange(size)
    for row in range(subsets.shape[0]):
        subsets[row] = current
        advance(current, size, num_players)
