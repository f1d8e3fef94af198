"""A hash index over coalitions: which row of a list holds this coalition?"""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.colours import mixed_word
from mage._kernels.jit import inner, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ZERO = np.uint64(0)


@inner
def _place(coalitions: Bits, row: int, keys: Bits, slots: Integers) -> np.int64:
    """The slot of a coalition: the one that names it, or the free one where it belongs."""
    _, words = keys.shape
    state = _ZERO
    for w in range(words):
        state = mixed_word((state ^ coalitions[row, w]) + _GOLDEN)
    last = len(slots) - 1
    slot = np.int64(state) & last
    while slots[slot] >= 0:
        same = True
        for w in range(words):
            if keys[slots[slot], w] != coalitions[row, w]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & last
    return slot


@kernel
def find(coalitions: Bits, keys: Bits, slots: Integers, rows: Integers) -> None:
    """For each coalition the row of ``keys`` that equals it, or −1."""
    for row in range(len(coalitions)):
        rows[row] = slots[_place(coalitions, row, keys, slots)]


@kernel
def intern(coalitions: Bits, keys: Bits, slots: Integers, size: int, rows: Integers) -> int:
    """Like ``find``, but append what is missing to ``keys``; the caller has made room. Returns the new size."""
    count, words = coalitions.shape
    for row in range(count):
        slot = _place(coalitions, row, keys, slots)
        if slots[slot] < 0:
            slots[slot] = size
            for w in range(words):
                keys[size, w] = coalitions[row, w]
            size += 1
        rows[row] = slots[slot]
    return size
