"""The exact index: one query per connected coalition, streamed."""

import numpy as np

from mage._progress import progress_bar
from mage._typing import Floats
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices._closed_form import Accumulator, dividend_coefficients, top_order_coefficients


class TooManyCoalitionsError(ValueError):
    """An exact index was asked for that needs more queries than allowed."""


def checked_count(graph: PlayerGraph, budget: int, index: str) -> int:
    """The number of connected coalitions, or an error with that number and the ways out."""
    count = graph.count_connected(cap=budget)
    if count <= budget:
        return count
    exact = graph.count_connected_quickly()
    number = f"more than {budget:,}" if exact is None else _readable(exact)
    raise TooManyCoalitionsError(
        f"method='exact' needs one query for each of {number} connected coalitions, and budget allows {budget:,}. "
        f"Raise budget, sample with method='permutation', "
        + (
            "or use a structure-aware index, which skips disconnected coalitions"
            if "shapley" in index
            else "or group players"
        )
        + "."
    )


def _readable(number: int) -> str:
    return f"{number:,}" if number < 10**12 else f"about {number:.2e}"


def lower_orders(game: Game, graph: PlayerGraph, order: int) -> list[Floats]:
    """δ_S f|_E(∅) for all S smaller than ``order``, a list by size; exact, from small coalitions only."""
    sums = [
        Accumulator(game.num_players, size, dividend_coefficients(game.num_players, size)) for size in range(1, order)
    ]
    for block in graph.blocks(max_size=order - 1):
        worths = game.worth_of_bits(block.members, all_distinct=True)
        for accumulator in sums:
            accumulator.add(block.members, block.neighbours, worths)
    return [accumulator.values() for accumulator in sums]


def exact_top_order(game: Game, graph: PlayerGraph, order: int, count: int, progress: bool | None) -> Floats:
    """The index of all sets of ``order`` players, by the closed form over all connected coalitions.

    Cost: one query per connected coalition that the game does not know yet; memory independent of their number.
    """
    accumulator = Accumulator(game.num_players, order, top_order_coefficients(game.num_players, order))
    with progress_bar("exact index", count, progress) as tick:
        for block in graph.blocks():
            worths = game.worth_of_bits(block.members, all_distinct=True)
            accumulator.add(block.members, block.neighbours, worths)
            tick(len(worths))
    return np.asarray(accumulator.values())
