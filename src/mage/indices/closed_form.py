"""One formula for every index: a weighted sum of the worths of connected coalitions.

Where an index gives a set S of s players on unanimity games the moments of a measure μ (:mod:`mage.indices.measures`),
its value is, with N(R) the neighbours of R outside R and q = |S ∩ N(R)|,

    Σ over connected R with S ⊆ R ∪ N(R) of (−1)^q · ∫ x^(|R|+q−s) (1−x)^(|N(R)|−q) dμ(x) · f(R).

On the complete graph N(R) = V∖R, and the same line gives the indices that ignore the graph.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mage._core.typing import Bits, Floats, Integers, Masks
from mage._kernels import closed_form as kernels
from mage._kernels.tree_sums import tree_sums
from mage.graph import CoalitionBlock, Neighbourhoods, PlayerGraph, packing
from mage.indices.measures import Measure
from mage.indices.subsets import binomial_table, ranks, subsets_of_size

_MOST_PLAYERS_OF_TRIPLES = 200  # the sums of triples take n³ numbers


def coefficients(measure: Measure, num_players: int, size: int) -> Floats:
    """(−1)^q ∫ x^(r+q−s) (1−x)^(b−q) dμ, indexed by r = |R|, b = |N(R)| and q; zero where S cannot exist."""
    r = np.arange(num_players + 1)[:, None, None]
    b = np.arange(num_players + 1)[None, :, None]
    q = np.arange(size + 1)[None, None, :]
    possible = (r + q >= size) & (q <= b) & (r >= 1)
    integrals = measure.integrals(num_players)
    present, absent = np.where(possible, r + q - size, 0), np.where(possible, b - q, 0)
    signs = np.where(q % 2 == 0, 1.0, -1.0)
    return np.asarray(np.where(possible, signs * integrals[present, absent], 0.0))


class Accumulator:
    """The sum of the formula for sets of one size over the coalitions added so far.

    Args:
        num_players: Number of players n.
        size: Size s of the sets S.
        coefficients: By |R|, |N(R)| and q, see above.
    """

    def __init__(self, num_players: int, size: int, coefficients: Floats) -> None:
        self._size = size
        self._num_players = num_players
        self._coefficients = np.ascontiguousarray(coefficients)
        self._binomials = binomial_table(num_players, size)
        self._totals: Floats = np.zeros((math.comb(num_players, size - 1), num_players))

    def add(self, members: Bits, neighbours: Bits, worths: Floats) -> None:
        """Add a block of distinct connected coalitions."""
        # A sum per block, then a sum of sums: rounding errors grow with the block, not with the run.
        block = np.zeros_like(self._totals)
        kernels.accumulate(members, neighbours, worths, self._coefficients, self._size, self._binomials, block)
        self._totals += block

    def add_all(self, graph: PlayerGraph, worths: Floats, largest: int | None = None) -> None:
        """Add all connected coalitions of a graph, or those of at most so many members, in the order of its blocks."""
        sums = sums_along_the_tree(graph, worths, self._coefficients, self._size, largest)
        self._add_sums(sums, np.arange(self._num_players))

    def add_neighbourhoods(self, sets: Neighbourhoods, worths: Floats) -> None:
        """Add all neighbourhoods of a root, in the order of their blocks."""
        sums = sums_along_the_tree(sets.graph, worths, self._coefficients, self._size, around=(sets.root, sets.radius))
        self._add_sums(sums, sets.players)

    def _add_sums(self, sums: Floats, players: Integers) -> None:
        """Add what sets of these players have in each of their orders."""
        n, size = self._num_players, self._size
        subsets = subsets_of_size(len(players), size)
        values = np.zeros(len(subsets))
        for member in range(size):
            others = np.delete(subsets, member, axis=1)
            larger = others[:, 1] if size == 3 else 0
            smaller = others[:, 0] if size > 1 else 0
            values += sums[subsets[:, member], larger, smaller]
        subsets = players[subsets]
        self._totals[ranks(subsets[:, :-1], n), subsets[:, -1]] += values

    def values(self) -> Floats:
        """The value of every S of this size, in lexicographic order."""
        subsets = subsets_of_size(self._num_players, self._size)
        rows = ranks(subsets[:, :-1], self._num_players)
        return self._totals[rows, subsets[:, -1]]


class ClosedForm:
    """The sums of the formula for sets of several sizes.

    Args:
        num_players: Number of players n.
        measures: A measure for each size of sets.
    """

    def __init__(self, num_players: int, measures: Mapping[int, Measure]) -> None:
        self._num_players = num_players
        self._measures = dict(sorted(measures.items()))
        self._sums = {
            size: Accumulator(num_players, size, coefficients(measure, num_players, size))
            for size, measure in self._measures.items()
            if measure and size <= num_players
        }

    def add(self, block: CoalitionBlock, worths: Floats) -> None:
        """Add a block of distinct connected coalitions."""
        for size in self._sums:
            self._add(size, block, worths)

    def _add(self, size: int, block: CoalitionBlock, worths: Floats) -> None:
        rows = self._needed(size, block)
        if len(rows):
            self._sums[size].add(block.members[rows], block.neighbours[rows], worths[rows])

    def _needed(self, size: int, block: CoalitionBlock) -> Integers:
        """The coalitions of a block that count for sets of a size."""
        if self._measures[size].inner:
            return np.arange(len(block.members))
        # What happens at the ends concerns few coalitions.
        return np.flatnonzero(at_an_end(block, size, self._measures[size]))

    def add_all(self, graph: PlayerGraph, worths: Floats) -> None:
        """Add all connected coalitions of a graph, in the order of its blocks."""
        in_blocks, small = [], {}
        for size, accumulator in self._sums.items():
            measure = self._measures[size]
            if not fits_a_tree(graph, size) or (not measure.inner and math.isfinite(measure.highest_derivative(1.0))):
                in_blocks.append(size)
            elif measure.inner:
                accumulator.add_all(graph, worths)
            else:
                small[size] = int(size + measure.highest_derivative(0.0))
        if not in_blocks and not small:
            return
        parts: dict[int, list[Floats]] = {size: [] for size in small}
        start = 0
        for block in graph.blocks():
            part = worths[start : start + len(block.members)]
            start += len(part)
            for size in in_blocks:
                self._add(size, block, part)
            for size, largest in small.items():
                parts[size].append(part[block.sizes <= largest])
        for size, largest in small.items():
            self._sums[size].add_all(graph, np.concatenate(parts[size]), largest)

    def add_neighbourhoods(self, sets: Neighbourhoods, worths: Floats) -> None:
        """Add all neighbourhoods of a root, in the order of their blocks."""
        in_blocks = []
        for size, accumulator in self._sums.items():
            if self._measures[size].inner and fits_a_tree(sets.graph, size):
                accumulator.add_neighbourhoods(sets, worths)
            else:
                in_blocks.append(size)
        start = 0
        for members, rejected in sets.blocks() if in_blocks else ():
            part = worths[start : start + len(members)]
            start += len(members)
            block = CoalitionBlock(members, rejected, packing.sizes(members))
            for size in in_blocks:
                rows = self._needed(size, block)
                if len(rows):
                    whole = sets.among_all(members[rows]), sets.among_all(rejected[rows])
                    self._sums[size].add(*whole, part[rows])

    def values(self) -> Floats:
        """The values of all sets, by size, each size in lexicographic order."""
        return np.concatenate([self._values(size) for size in self._measures])

    def _values(self, size: int) -> Floats:
        if size in self._sums:
            return self._sums[size].values()
        return np.zeros(math.comb(self._num_players, size))


def sums_along_the_tree(
    graph: PlayerGraph,
    worths: Floats,
    coefficients: Floats,
    size: int,
    largest: int | None = None,
    around: tuple[int, int] | None = None,
) -> Floats:
    """The sum of the formula over all connected coalitions, for sets of up to three players in each of their orders.

    With ``largest`` only coalitions of at most so many members count, and ``worths`` are theirs. With a root and a
    radius to be ``around``, the neighbourhoods of the root take the place of the coalitions.

    What a set has from coalitions where i is decided first of it is at [i, larger, smaller] of the others; a set of two
    has [i, 0, other], one of one [i, 0, 0]. Its value is the sum over its members i.
    """
    n = graph.num_players
    words = graph.adjacency_bits.shape[1]
    root, radius = around or (None, -1)
    totals = np.zeros((n, n if size == 3 else 1, n if size > 1 else 1))
    # Room to work in: numba takes seconds to compile what makes arrays.
    room = (
        graph.enumeration_stack(5, root),
        np.zeros((n + 2, 5), dtype=np.int64),
        np.arange(n + 1),
        np.zeros(n + 1, dtype=np.uint64),
        np.zeros(n, dtype=np.uint64),
        np.zeros((n + 1, words), dtype=np.uint64),
        np.zeros((n + 1, size + 1)),
        np.zeros((n + 1, n, size)),
        np.zeros((n + 1, n, n, 2) if size == 3 else (1, 1, 1, 2)),
    )
    deepest = n if largest is None else largest
    tree_sums(graph.adjacency_bits, worths, coefficients, size, deepest, radius, totals, *room)
    return totals


def fits_a_tree(graph: PlayerGraph, size: int) -> bool:
    """Whether sums along the enumeration tree are made for sets of this size, in memory that there is."""
    return size < 3 or (size == 3 and graph.num_players <= _MOST_PLAYERS_OF_TRIPLES)


def at_an_end(block: CoalitionBlock, size: int, measure: Measure) -> Masks:
    """Which coalitions the boundary part of a measure needs for sets of a size: small ones, or with few neighbours."""
    needed = block.sizes <= size + measure.highest_derivative(0.0)
    if math.isfinite(measure.highest_derivative(1.0)):
        needed |= packing.sizes(block.neighbours) <= size + measure.highest_derivative(1.0)
    return np.asarray(needed)
