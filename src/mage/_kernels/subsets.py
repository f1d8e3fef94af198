"""Subsets of a given size in lexicographic order, and their ranks in it."""

from mage._core.typing import Integers
from mage._kernels.jit import inner


@inner
def rank(subset: Integers, size: int, num_players: int, binomials: Integers) -> int:
    """Lexicographic rank of an ascending subset; ``binomials[a, b]`` is C(a, b)."""
    result = int(binomials[num_players, size]) - 1
    for j in range(size):
        result -= int(binomials[num_players - 1 - subset[j], size - j])
    return result


@inner
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
