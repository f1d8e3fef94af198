"""A hash index over coalitions: which row of a list holds this coalition?"""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_ZERO = np.uint64(0)


@kernel
def _slot(words: Bits, row: int, modulus: np.uint64) -> np.int64:
    state = _ZERO
    for w in range(words.shape[1]):
        state = (state ^ words[row, w]) + _GOLDEN
        state = (state ^ (state >> _S30)) * _MIX_1
        state = (state ^ (state >> _S27)) * _MIX_2
        state = state ^ (state >> _S31)
    return np.int64(state & modulus)


@kernel
def _place(coalitions: Bits, row: int, keys: Bits, slots: Integers) -> np.int64:
    """The slot of a coalition: the one that names it, or the free one where it belongs."""
    modulus = np.uint64(slots.shape[0] - 1)
    slot = _slot(coalitions, row, modulus)
    while slots[slot] >= 0:
        same = True
        for w in range(keys.shape[1]):
            if keys[slots[slot], w] != coalitions[row, w]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & np.int64(modulus)
    return slot


@kernel
def find(coalitions: Bits, keys: Bits, slots: Integers, rows: Integers) -> None:
    """For each coalition the row of ``keys`` that equals it, or −1."""
    for row in range(coalitions.shape[0]):
        rows[row] = slots[_place(coalitions, row, keys, slots)]


@kernel
def intern(coalitions: Bits, keys: Bits, slots: Integers, size: int, rows: Integers) -> int:
    """Like ``find``, but append what is missing to ``keys``; the caller has made room. Returns the new size."""
    for row in range(coalitions.shape[0]):
        slot = _place(coalitions, row, keys, slots)
        if slots[slot] < 0:
            slots[slot] = size
            for w in range(keys.shape[1]):
                keys[size, w] = coalitions[row, w]
            size += 1
        rows[row] = slots[slot]
    return size


@kernel
def rebuild(keys: Bits, size: int, slots: Integers) -> None:
    """Fill empty ``slots`` with the first ``size`` keys, all distinct."""
    modulus = np.uint64(slots.shape[0] - 1)
    for row in range(size):
        slot = _slot(keys, row, modulus)
        while slots[slot] >= 0:
            slot = (slot + 1) & np.int64(modulus)
        slots[slot] = row
