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
def find(coalitions: Bits, keys: Bits, slots: Integers, rows: Integers) -> None:
    """For each coalition the row of ``keys`` that equals it, or −1."""
    words = keys.shape[1]
    modulus = np.uint64(slots.shape[0] - 1)
    for query in range(coalitions.shape[0]):
        slot = _slot(coalitions, query, modulus)
        rows[query] = -1
        while slots[slot] >= 0:
            candidate = slots[slot]
            same = True
            for w in range(words):
                if keys[candidate, w] != coalitions[query, w]:
                    same = False
                    break
            if same:
                rows[query] = candidate
                break
            slot = (slot + 1) & np.int64(modulus)


@kernel
def intern(coalitions: Bits, keys: Bits, slots: Integers, size: int, rows: Integers) -> int:
    """Like ``find``, but append what is missing to ``keys``; the caller has made room. Returns the new size."""
    words = keys.shape[1]
    modulus = np.uint64(slots.shape[0] - 1)
    for query in range(coalitions.shape[0]):
        slot = _slot(coalitions, query, modulus)
        found = -1
        while slots[slot] >= 0:
            candidate = slots[slot]
            same = True
            for w in range(words):
                if keys[candidate, w] != coalitions[query, w]:
                    same = False
                    break
            if same:
                found = candidate
                break
            slot = (slot + 1) & np.int64(modulus)
        if found < 0:
            found = size
            slots[slot] = size
            for w in range(words):
                keys[size, w] = coalitions[query, w]
            size += 1
        rows[query] = found
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
