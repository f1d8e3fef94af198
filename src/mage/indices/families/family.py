"""What an index family is: what it gives on unanimity games, and whether it sees the graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from mage.indices.measures import Measure

MeasureOf = Callable[[int, int], Measure]


@dataclass(frozen=True)
class IndexFamily:
    """An interaction index of any order.

    Attributes:
        name: What users call it.
        symbol: Its letter, for titles.
        sees_graph: Whether players act together only through the graph (f|_E instead of f).
        measure: μ of the sets of a size in an index of an order, ``measure(size, order)``; see
            :mod:`mage.indices.measures`.
        shapiq_name: What shapiq calls it, or a name that shapiq does not know.
        largest_order: The highest order that is defined; None for no limit.
    """

    name: str
    symbol: str
    sees_graph: bool
    measure: MeasureOf
    shapiq_name: str
    largest_order: int | None = None

    def measures(self, order: int) -> tuple[Measure, ...]:
        """The measures of sets of 1, 2, …, ``order`` players."""
        return tuple(self.measure(size, order) for size in range(1, order + 1))

    def on_unanimity(self, size: int, order: int, carrier: int) -> float:
        """a_s(t): what a set of ``size`` players gets on the unanimity game of ``carrier`` players that include it."""
        return float(self.measure(size, order).moments(carrier - size)[-1]) if carrier >= size else 0.0

    def is_efficient(self, order: int) -> bool:
        """Whether all values together make up the worth of all players (of each component of the graph)."""
        return _is_efficient(self.measure, order)


@cache
def _is_efficient(measure: MeasureOf, order: int) -> bool:
    # Each unanimity game must be given away whole. What goes wrong does so soon beyond the order.
    largest = 2 * order + 4
    moments = [measure(size, order).moments(largest) for size in range(1, order + 1)]
    totals = [
        sum(math.comb(carrier, size) * moments[size - 1][carrier - size] for size in range(1, min(order, carrier) + 1))
        for carrier in range(1, largest + 1)
    ]
    return all(math.isclose(total, 1.0, abs_tol=1e-9) for total in totals)


class Names(NamedTuple):
    """What one form of an index is called: by users, in titles, and by shapiq."""

    name: str
    symbol: str
    shapiq_name: str


def two_forms(
    blind: Names, restricted: Names, measure: MeasureOf, largest_order: int | None = None
) -> tuple[IndexFamily, IndexFamily]:
    """An index that ignores the graph, and the same through the graph."""
    return (
        IndexFamily(blind.name, blind.symbol, False, measure, blind.shapiq_name, largest_order),
        IndexFamily(restricted.name, restricted.symbol, True, measure, restricted.shapiq_name, largest_order),
    )
