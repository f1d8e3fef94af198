"""Harsanyi dividends of a family of coalitions outside of which all dividends are zero."""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels.jit import kernel

_ZERO = np.uint64(0)


@kernel
def subtract_smaller(members: Bits, first_larger: Integers, dividends: Floats) -> None:
    """Turn worths into dividends: from each coalition subtract the dividends of its proper subsets in the family.

    Args:
        members: The family, sorted by size.
        first_larger: For each size, the row at which larger coalitions begin.
        dividends: Worths on entry, dividends on return.
    """
    rows, words = members.shape
    for row in range(rows):
        size = 0
        for w in range(words):
            word = members[row, w]
            while word != _ZERO:
                word &= word - np.uint64(1)
                size += 1
        total = 0.0
        for other in range(first_larger[size - 1]):
            inside = True
            for w in range(words):
                if members[other, w] & ~members[row, w] != _ZERO:
                    inside = False
                    break
            if inside:
                total += dividends[other]
        dividends[row] -= total


@kernel
def sum_inside(members: Bits, dividends: Floats, coalitions: Bits, sums: Floats) -> None:
    """For each coalition the sum of the dividends of all members of the family inside it."""
    for row in range(coalitions.shape[0]):
        total = 0.0
        for other in range(members.shape[0]):
            inside = True
            for w in range(members.shape[1]):
                if members[other, w] & ~coalitions[row, w] != _ZERO:
                    inside = False
                    break
            if inside:
                total += dividends[other]
        sums[row] = total
