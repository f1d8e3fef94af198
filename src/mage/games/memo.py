"""Coalitions met before, and what they are worth."""

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage._kernels import coalition_table as kernels


class CoalitionTable:
    """Distinct coalitions in the order of arrival, found again by hashing."""

    def __init__(self, words: int) -> None:
        self.size = 0
        self._keys: Bits = np.empty((256, words), dtype=np.uint64)
        self._slots: Integers = np.full(1024, -1, dtype=np.int64)

    @property
    def keys(self) -> Bits:
        """The distinct coalitions, one per row."""
        return self._keys[: self.size]

    def find(self, coalitions: Bits) -> Integers:
        """Row of each coalition, −1 where it has not been met."""
        rows = np.empty(len(coalitions), dtype=np.int64)
        kernels.find(coalitions, self._keys, self._slots, rows)
        return rows

    def intern(self, coalitions: Bits) -> Integers:
        """Row of each coalition, new rows for new coalitions."""
        self._reserve(self.size + len(coalitions))
        rows = np.empty(len(coalitions), dtype=np.int64)
        self.size = kernels.intern(coalitions, self._keys, self._slots, self.size, rows)
        return rows

    def _reserve(self, size: int) -> None:
        if size > len(self._keys):
            larger = np.empty((max(size, 2 * len(self._keys)), self._keys.shape[1]), dtype=np.uint64)
            larger[: self.size] = self.keys
            self._keys = larger
        if 2 * size > len(self._slots):
            self._slots = np.full(1 << (2 * size).bit_length(), -1, dtype=np.int64)
            # All are new to empty slots, and stay where they are.
            kernels.intern(self.keys, self._keys, self._slots, 0, np.empty(self.size, dtype=np.int64))


def distinct(coalitions: Bits) -> tuple[Bits, Integers]:
    """The distinct coalitions in the order of first appearance, and for each given row which of them it is."""
    table = CoalitionTable(coalitions.shape[1])
    rows = table.intern(coalitions)
    return table.keys, rows


class Memo:
    """Worths of coalitions that were evaluated before, up to a fixed number of them.

    Args:
        words: 64-bit words a coalition takes.
        capacity: How many coalitions are kept; later ones are not remembered, so that memory stays bounded.
    """

    def __init__(self, words: int, capacity: int) -> None:
        self.capacity = capacity
        self._table = CoalitionTable(words)
        self._worths: Floats = np.empty(0)

    def __len__(self) -> int:
        return self._table.size

    def recall(self, coalitions: Bits) -> tuple[Floats, Integers]:
        """Worth of each coalition (NaN where unknown) and the rows that are unknown."""
        rows = self._table.find(coalitions)
        worths = np.full(len(rows), np.nan)
        stored = (rows >= 0) & (rows < len(self._worths))
        worths[stored] = self._worths[rows[stored]]
        return worths, np.flatnonzero(np.isnan(worths))

    def remember(self, coalitions: Bits, worths: Floats) -> None:
        """Keep new, distinct coalitions while there is room."""
        room = self.capacity - len(self)
        if room <= 0:
            return
        # Room first, NaN in it, then keys, then worths: stopped in between, a key without a worth is still unknown.
        size = len(self) + min(room, len(coalitions))
        if size > len(self._worths):
            larger = np.full(min(max(size, 2 * len(self._worths)), self.capacity), np.nan)
            larger[: len(self._worths)] = self._worths
            self._worths = larger
        rows = self._table.intern(coalitions[:room])
        self._worths[rows] = worths[:room]
