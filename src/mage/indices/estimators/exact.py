"""The exact index: one query per connected coalition, streamed."""

import math

from mage._core.progress import progress_bar
from mage._core.typing import Floats
from mage.games import Game
from mage.graph import CoalitionBlock, PlayerGraph
from mage.indices.closed_form import Accumulator, dividend_coefficients, top_order_coefficients


class TooManyCoalitionsError(ValueError):
    """An exact index was asked for that needs more queries than allowed."""


def checked_count(graph: PlayerGraph, budget: int, index: str) -> int:
    """The number of connected coalitions, or an error with that number and the ways out."""
    count = graph.count_connected(cap=budget)
    if count <= budget:
        return count
    exact = graph.count_connected_quickly()
    number = f"more than {budget:,}" if exact is None else readable(exact)
    other = "use a structure-aware index, which skips disconnected ones" if "shapley" in index else "group players"
    raise TooManyCoalitionsError(
        f"method='exact' needs one query for each of {number} connected coalitions, and budget allows {budget:,}. "
        f"Raise budget, sample with method='permutation', or {other}."
    )


def readable(number: int) -> str:
    """A count for people: digits while they can be read, then a power of ten (of any size)."""
    if number < 10**12:
        return f"{number:,}"
    if number.bit_length() < 1000:
        return f"about {number:.2e}"
    return f"about 10^{math.floor(number.bit_length() * math.log10(2))}"


class LowerOrders:
    """δ_S f|_E(∅) for all S smaller than the order of an index; needs connected coalitions of such sizes only."""

    def __init__(self, num_players: int, order: int) -> None:
        self._order = order
        self._sums = [
            Accumulator(num_players, size, dividend_coefficients(num_players, size)) for size in range(1, order)
        ]

    def add(self, block: CoalitionBlock, worths: Floats) -> None:
        """Add a block of distinct connected coalitions; large ones are passed over."""
        small = block.sizes < self._order
        if small.any():
            for accumulator in self._sums:
                accumulator.add(block.members[small], block.neighbours[small], worths[small])

    def values(self) -> list[Floats]:
        """Values by size, each in lexicographic order."""
        return [accumulator.values() for accumulator in self._sums]


def exact_values(game: Game, graph: PlayerGraph, order: int, count: int, progress: bool | None) -> list[Floats]:
    """The index of all sets of at most ``order`` players, a list by size, by the closed form.

    Cost: one query per connected coalition that the game does not know yet; memory independent of their number.
    """
    lower = LowerOrders(game.num_players, order)
    top = Accumulator(game.num_players, order, top_order_coefficients(game.num_players, order))
    with progress_bar("exact index", count, progress) as tick:
        for block in graph.blocks():
            worths = game.worth_of_bits(block.members, all_distinct=True)
            lower.add(block, worths)
            top.add(block.members, block.neighbours, worths)
            tick(len(worths))
    return [*lower.values(), top.values()]
