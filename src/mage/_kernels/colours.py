"""Colour refinement of the masked graphs of many coalitions: what a message-passing model can tell of them.

Colours are 64-bit hashes: sums over neighbours of well-mixed words, so that the order of neighbours does not matter and
their number does.
"""

from collections.abc import Callable
from typing import cast

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.jit import inner, kernel

_ZERO = np.uint64(0)
_THREE = np.uint64(3)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def mixed(words: Bits) -> Bits:
    """Words that look random, and change in half of their bits where one bit of the given words changes."""
    words = (words ^ (words >> _S30)) * _FIRST
    words = (words ^ (words >> _S27)) * _SECOND
    return words ^ (words >> _S31)


mixed_word = cast("Callable[[np.uint64], np.uint64]", inner(mixed))  # for other kernels


@kernel
def refine(
    linked: Bits, colours: Bits, shown: Bits, influence: Integers, source: Integers, salt: Bits, result: Bits
) -> None:
    """One round in each coalition [q, n]: nodes take in what their neighbours show; 0 for nodes that are not linked.

    The nodes whose messages reach node v are ``source[influence[v] : influence[v + 1]]``, and ``salt`` is a word for
    what the edge carries. Nodes that are not linked must show 0.
    """
    rows, n = linked.shape
    for row in range(rows):
        for v in range(n):
            word = _ZERO
            if linked[row, v] != _ZERO:
                word = colours[row, v] * _THREE
                for edge in range(influence[v], influence[v + 1]):
                    word += salt[edge] * shown[row, source[edge]]
                word = mixed_word(word)
            result[row, v] = word
