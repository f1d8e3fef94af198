"""Averages of discrete derivatives over random draws, with standard errors: what the sampling estimators share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mage._core.progress import progress_bar
from mage._core.typing import Bits, Floats, Integers
from mage._kernels import moments as kernels
from mage.games.memo import CoalitionTable
from mage.graph import CoalitionBlock, PlayerGraph
from mage.indices.boundary import boundary_coalitions, boundary_values
from mage.indices.estimate import Estimate
from mage.indices.problem import Problem
from mage.indices.standard_errors import num_parts, widening
from mage.indices.stopping import Monitor
from mage.indices.subsets import subsets_of_size

_log = logging.getLogger("mage")

DEFAULT_BUDGET = 200_000  # coalitions where the request says nothing: orders above 2 need many for each draw
_LOOK_GROWTH = 1.25
_CAPACITY = 1 << 17


class Terms(NamedTuple):
    """Discrete derivatives of some draws as weighted worths; ``ends[t]`` closes the terms of draw t.

    Attributes:
        coalitions: Coalitions, one for each term.
        weights: The weight of each, with its sign.
        targets: Which set each term is for, among those that are sampled.
        ends: Number of terms up to and with each draw.
    """

    coalitions: Bits
    weights: Floats
    targets: Integers
    ends: Integers


# Writes whole units of draws, from one on, into terms; how many draws and terms it wrote before they were full.
Collect = Callable[[int, Terms], int]


def collected(count: int, unit: int, words: int, collect: Collect, capacity: int = _CAPACITY) -> Iterator[Terms]:
    """Terms of ``count`` draws, whole units at a time, in buffers that grow only where a single unit needs it."""
    start = 0
    while start < count:
        terms = Terms(
            np.empty((capacity, words), dtype=np.uint64),
            np.empty(capacity),
            np.empty(capacity, dtype=np.int64),
            np.zeros(count - start, dtype=np.int64),
        )
        num_draws = collect(start, terms) // unit * unit
        if num_draws == 0:
            capacity *= 2
            continue
        start, written = start + num_draws, terms.ends[num_draws - 1]
        yield Terms(
            terms.coalitions[:written], terms.weights[:written], terms.targets[:written], terms.ends[:num_draws]
        )


@dataclass(frozen=True)
class Draws:
    """Random draws whose average is the index.

    Attributes:
        batches: Terms of the draws, in batches; the monitor is called after each.
        count: How many draws there are in all.
        unit: Draws that belong together; units are independent of each other.
        name: What one unit is called.
    """

    batches: Iterable[Iterable[Terms]]
    count: int
    unit: int
    name: str


class _Moments(NamedTuple):
    """Running sums over units: mean, squares and cubes of deviations, the largest value, and sums over parts."""

    mean: Floats
    spread: Floats
    cubes: Floats
    largest: Floats
    parts: Floats

    @classmethod
    def of(cls, sets: int) -> _Moments:
        """Of no units yet."""
        return cls(np.zeros(sets), np.zeros(sets), np.zeros(sets), np.zeros(1), np.zeros((num_parts(sets), sets)))

    def deviations(self, units: int) -> Floats | None:
        """How far each part of the sample, every so many-th unit, is off; as shares of the error of the whole."""
        if not len(self.parts) or units < 2:
            return None
        counts = np.bincount(np.arange(units) % len(self.parts), minlength=len(self.parts))
        sums, counts = self.parts[counts > 0], counts[counts > 0][:, None]
        return np.asarray((sums / counts - self.mean) * np.sqrt(counts / (units * (len(counts) - 1))))


def average(problem: Problem, draws: Draws, monitor: Monitor, progress: bool | None) -> tuple[Estimate, int]:
    """Average draws until they end, the budget is spent or the monitor says so; what few coalitions tell is exact.

    All coalitions that some draws need are collected first, the distinct new ones are evaluated in batches, then the
    weighted worths are summed. The budget counts all distinct coalitions that the estimate rests on, the empty one
    included, and those that the game already knows too: the result does not depend on what was asked before.

    Args:
        problem: The game and the index.
        draws: The draws.
        monitor: When to stop early; asked after a few draws, and each time a quarter more is done.
        progress: See :func:`mage._core.progress.progress_bar`.

    Returns:
        The estimate, and the number of draws that it rests on.
    """
    budget, unit = problem.request.budget or DEFAULT_BUDGET, draws.unit
    ends = boundary_coalitions(problem.graph, problem.measures)
    if not problem.num_sampled:
        return Estimate.certain(boundary_values(problem.game, problem.measures, ends)), 0
    needed = _Needed(ends, budget)
    moments = _Moments.of(problem.num_sampled)
    certain: Floats | None = None
    num_draws, stop, stopped, look = 0, False, "", 0.0

    def estimate() -> Estimate:
        values = boundary_values(problem.game, problem.measures, ends) if certain is None else certain.copy()
        errors, sampled = np.zeros_like(values), slice(len(values) - len(moments.mean), None)
        values[sampled] += moments.mean
        errors[sampled] = _standard_errors(problem, moments, num_draws // unit)
        return Estimate(values, errors, moments.deviations(num_draws // unit), stopped=stopped)

    limited = problem.request.budget is not None
    with progress_bar("sampled index", budget if limited else draws.count, progress) as tick:
        try:
            for batch in draws.batches:
                for terms in batch:
                    before = needed.count
                    # Without a word from the user one draw is always made, whatever it costs.
                    fitting = needed.units(terms, unit, least=0 if limited or num_draws else 1)
                    stop = fitting < len(terms.ends) // unit
                    if num_draws + fitting == 0:
                        raise ValueError(
                            f"budget: {budget:,} is too small; the smaller sets and one {draws.name} need "
                            f"{needed.at_least:,} coalitions"
                        )
                    if certain is None:
                        certain = boundary_values(problem.game, problem.measures, ends)
                    last = terms.ends[fitting * unit - 1] if fitting else 0
                    contributions = terms.weights[:last] * problem.game.worth_of_bits(terms.coalitions[:last])
                    kernels.add_units(
                        terms.ends, unit, fitting, terms.targets, contributions, num_draws // unit, *moments
                    )
                    num_draws += fitting * unit
                    tick(needed.count - before if limited else fitting * unit)
                    if stop:
                        stopped = "budget"
                        if not limited:
                            _log.info(
                                "sampling ends at %s coalitions after %d draws; budget= allows more", budget, num_draws
                            )
                        break
                if stop or num_draws >= draws.count:
                    break
                if num_draws >= look:
                    look = num_draws * _LOOK_GROWTH
                    stopped = monitor.verdict(estimate())
                    if stopped:
                        break
        except KeyboardInterrupt:
            # What was paid for is worth keeping, once there is enough of it to tell the error.
            if num_draws < 2 * unit:
                raise
            stopped = "interrupted"
    return estimate(), num_draws


def _standard_errors(problem: Problem, moments: _Moments, units: int) -> Floats:
    """Sample standard errors, wider where units are few or lopsided, and cautious ones where all draws agree.

    Not to have seen a thing in u units says that it happens in no more than about one of u; had it happened once, with
    the largest effect seen anywhere, the standard error would be that effect / u. Sets across components of the graph
    are zero for certain.
    """
    spread, largest = moments.spread, moments.largest[0]
    if units < 2:
        return np.full_like(spread, np.nan)
    errors = widening(moments.cubes**2, spread**3, units) * np.sqrt(spread / (units - 1) / units)
    agreed = errors <= 1e-12 * largest
    apart = _across_components(problem.graph, problem.sampled_sizes)
    return np.asarray(np.where(agreed, np.where(apart, 0.0, largest / units), errors))


def _across_components(graph: PlayerGraph, sizes: range) -> Bits:
    """Whether each set of some sizes has members in several components of the graph."""
    component = graph.component_labels(np.ones((1, graph.num_players), dtype=np.bool_))[0]
    members = [component[subsets_of_size(graph.num_players, size)] for size in sizes]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *((rows != rows[:, :1]).any(axis=1) for rows in members)])


class _Needed:
    """The distinct coalitions that the estimate rests on so far, held against a budget."""

    def __init__(self, ends: CoalitionBlock, budget: int) -> None:
        words = ends.members.shape[1]
        self._budget = budget
        self._table = CoalitionTable(words)
        self.at_least = 0
        self._table.intern(np.zeros((1, words), dtype=np.uint64))
        self._table.intern(ends.members)
        self.count = self._table.size

    def units(self, terms: Terms, unit: int, least: int) -> int:
        """How many of the next units the budget allows, or the least to take; they are then counted."""
        # Rows are numbered as they come, so the largest number up to a unit's end tells how many there are.
        size = self._table.size
        rows = np.maximum(np.maximum.accumulate(self._table.intern(terms.coalitions)) + 1, size)
        ends = terms.ends[unit - 1 :: unit]
        costs = np.concatenate([[size], rows])[ends]
        self.at_least = self.at_least or int(costs[0])
        fitting = max(least, int(np.searchsorted(costs, self._budget, side="right")))
        self.count = int(costs[fitting - 1]) if fitting else size
        return fitting
