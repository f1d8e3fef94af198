"""The paper's Algorithms 1 and 2: average discrete derivatives over random orderings of the players."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mage._core.progress import progress_bar
from mage._core.typing import Bits, Floats, Integers
from mage._kernels import permutation as kernels
from mage.games import Game
from mage.games.memo import CoalitionTable
from mage.graph import PlayerGraph
from mage.indices.errors import Estimate, num_parts, widening
from mage.indices.estimators.exact import LowerOrders
from mage.indices.stopping import Monitor
from mage.indices.subsets import binomial_table, subsets_of_size

DEFAULT_PERMUTATIONS = 200
_PARTS = (8, 24)  # where these draws are cut
_LOOK_GROWTH = 1.25
_DRAW = 64  # units drawn at a time; fixed, so that the sequence does not depend on anything else


class PermutationEstimate(NamedTuple):
    """The estimate, the number of orderings it rests on, and what ended the run early."""

    estimate: Estimate
    num_permutations: int
    stopped: str


class _Moments(NamedTuple):
    """Running sums over units: mean, squares and cubes of deviations, the largest value, and sums over parts."""

    mean: Floats
    spread: Floats
    cubes: Floats
    largest: Floats
    parts: Floats

    @classmethod
    def of(cls, sets: int) -> "_Moments":
        """Of no units yet."""
        return cls(np.zeros(sets), np.zeros(sets), np.zeros(sets), np.zeros(1), np.zeros((num_parts(sets), sets)))

    def deviations(self, units: int) -> Floats | None:
        """How far each part of the sample, every so many-th unit, is off; as shares of the error of the whole."""
        if not len(self.parts) or units < 2:
            return None
        counts = np.bincount(np.arange(units) % len(self.parts), minlength=len(self.parts))
        sums, counts = self.parts[counts > 0], counts[counts > 0][:, None]
        return np.asarray((sums / counts - self.mean) * np.sqrt(counts / (units * (len(counts) - 1))))


class _Terms(NamedTuple):
    """δ_S f|_E(T) of some orderings as signed worths; ``ends[t]`` closes the terms of ordering t."""

    coalitions: Bits
    signs: Floats
    targets: Integers
    ends: Integers


def checked_orderings(orderings: Any, num_players: int) -> Integers:
    """Orderings given by the user, [t, n], each a permutation of the players."""
    array = np.ascontiguousarray(orderings)
    if array.ndim != 2 or array.shape[1] != num_players or len(array) == 0:
        raise ValueError(f"orderings must have shape [t, {num_players}] with t ≥ 1, got {list(array.shape)}")
    if not np.array_equal(np.sort(array, axis=1), np.broadcast_to(np.arange(num_players), array.shape)):
        raise ValueError("orderings: each row must name every player once")
    return array.astype(np.int64)


def permutation_values(
    game: Game,
    graph: PlayerGraph,
    order: int,
    *,
    permutations: int | None,
    budget: int | None,
    antithetic: bool,
    orderings: Integers | None,
    seed: int,
    monitor: Monitor,
    progress: bool | None,
) -> PermutationEstimate:
    """Estimate the index of all sets of at most ``order`` players; smaller sets than that are exact.

    All components that some orderings need are collected first, the distinct new ones are evaluated in batches, then
    the signed worths are summed. With ``antithetic``, orderings come in pairs, one the reverse of the other; a pair is
    then the unit over which standard errors are taken.

    Args:
        game: The game.
        graph: Its graph, or the complete one for the structure-blind indices.
        order: k.
        permutations: Number of orderings, rounded up to whole units; None for as many as the budget allows.
        budget: Stop before more distinct coalitions than this are needed, the empty one included. What the game already
            knows counts as well, so that the result does not depend on what was asked before.
        antithetic: Whether to draw pairs.
        orderings: Take these instead of random ones.
        seed: Seed of the orderings.
        monitor: When to stop before all orderings are done; asked after a few, and each time a quarter more is done.
        progress: See :func:`mage._core.progress.progress_bar`.
    """
    unit = 2 if antithetic and orderings is None else 1
    if orderings is not None:
        wanted, source = len(orderings), iter([orderings])
    else:
        # Where the budget covers all coalitions it never stops the sampling; one ordering per query then does.
        most = max(DEFAULT_PERMUTATIONS, budget or 0) if permutations is None else permutations
        wanted, source = -(-most // unit) * unit, _random_orderings(game.num_players, antithetic, seed)
    needed = _Needed(graph, order, budget)
    moments = _Moments.of(math.comb(game.num_players, order))
    lower: list[Floats] | None = None
    done, stop, stopped, look = 0, False, "", 0.0

    def estimate() -> Estimate:
        values = [*(lower if lower is not None else _lower_orders(game, graph, order)), moments.mean]
        top = _standard_errors(graph, order, moments, done // unit)
        errors = [*(np.zeros_like(part) for part in values[:-1]), top]
        return Estimate(np.concatenate(values), np.concatenate(errors), moments.deviations(done // unit))

    with progress_bar("sampled index", wanted if budget is None else budget, progress) as tick:
        try:
            for batch in source:
                for terms in _collected(graph, batch[: wanted - done], unit, order):
                    before = needed.count
                    fitting = needed.units(terms, unit)
                    stop = fitting < len(terms.ends) // unit
                    if done + fitting == 0:
                        raise ValueError(
                            f"budget: {budget:,} is too small; the smaller sets and one {'pair of ' * (unit - 1)}"
                            f"ordering{'s' * (unit - 1)} need {needed.at_least:,} coalitions"
                        )
                    if lower is None:
                        lower = _lower_orders(game, graph, order)
                    last = terms.ends[fitting * unit - 1] if fitting else 0
                    contributions = terms.signs[:last] * game.worth_of_bits(terms.coalitions[:last])
                    kernels.add_units(terms.ends, unit, fitting, terms.targets, contributions, done // unit, *moments)
                    done += fitting * unit
                    tick(fitting * unit if budget is None else needed.count - before)
                    if stop:
                        stopped = "budget"
                        break
                if stop or done >= wanted:
                    break
                if done >= look:
                    look = done * _LOOK_GROWTH
                    stopped = monitor.verdict(estimate())
                    if stopped:
                        break
        except KeyboardInterrupt:
            # What was paid for is worth keeping, once there is enough of it to tell the error.
            if done < 2 * unit:
                raise
            stopped = "interrupted"
    return PermutationEstimate(estimate(), done, stopped)


def _standard_errors(graph: PlayerGraph, order: int, moments: _Moments, units: int) -> Floats:
    """Sample standard errors, wider where units are few or lopsided, and cautious ones where all orderings agree.

    Not to have seen a thing in u units says that it happens in no more than about one of u; had it happened once, with
    the largest effect seen anywhere, the standard error would be that effect / u. Sets across components of the graph
    are zero for certain.
    """
    spread, largest = moments.spread, moments.largest[0]
    if units < 2:
        return np.full_like(spread, np.nan)
    errors = widening(moments.cubes**2, spread**3, units) * np.sqrt(spread / (units - 1) / units)
    component = graph.component_labels(np.ones((1, graph.num_players), dtype=np.bool_))[0]
    subsets = component[subsets_of_size(graph.num_players, order)]
    apart = (subsets != subsets[:, :1]).any(axis=1)
    agreed = errors <= 1e-12 * largest
    return np.asarray(np.where(agreed, np.where(apart, 0.0, largest / units), errors))


def _lower_orders(game: Game, graph: PlayerGraph, order: int) -> list[Floats]:
    lower = LowerOrders(game.num_players, order)
    for block in graph.blocks(max_size=order - 1):
        lower.add(block, game.worth_of_bits(block.members, all_distinct=True))
    return lower.values()


class _Needed:
    """The distinct coalitions that the estimate rests on so far, held against a budget."""

    def __init__(self, graph: PlayerGraph, order: int, budget: int | None) -> None:
        self._budget = budget
        self._table = CoalitionTable(graph.adjacency_bits.shape[1])
        self.at_least = 0
        if budget is not None:
            self._table.intern(np.zeros((1, graph.adjacency_bits.shape[1]), dtype=np.uint64))
            for block in graph.blocks(max_size=order - 1):
                self._table.intern(block.members)
        self.count = self._table.size

    def units(self, terms: _Terms, unit: int) -> int:
        """How many of the next units the budget allows; they are then counted."""
        total = len(terms.ends) // unit
        if self._budget is None:
            return total
        # Rows are numbered as they come, so the largest number up to a unit's end tells how many there are.
        known = self._table.size
        rows = np.maximum(np.maximum.accumulate(self._table.intern(terms.coalitions)) + 1, known)
        ends = terms.ends[unit - 1 :: unit]
        costs = np.concatenate([[known], rows])[ends]
        self.at_least = self.at_least or int(costs[0])
        fitting = int(np.searchsorted(costs, self._budget, side="right"))
        self.count = int(costs[fitting - 1]) if fitting else known
        return fitting


def _random_orderings(num_players: int, antithetic: bool, seed: int) -> Iterator[Integers]:
    generator = np.random.default_rng(seed)
    while True:
        drawn = generator.permuted(np.tile(np.arange(num_players), (_DRAW, 1)), axis=1)
        # In parts that grow, so that there is soon something to show or to keep.
        for part in np.split(drawn, _PARTS):
            yield np.stack([part, part[:, ::-1]], axis=1).reshape(-1, num_players) if antithetic else part


def _collected(
    graph: PlayerGraph, orderings: Integers, unit: int, order: int, capacity: int = 1 << 17
) -> Iterator[_Terms]:
    """Terms of the orderings, whole units at a time, in buffers that grow only where a single unit needs it."""
    words = graph.adjacency_bits.shape[1]
    binomials = binomial_table(graph.num_players, order)
    orderings = np.ascontiguousarray(orderings)
    start = 0
    while start < len(orderings):
        terms = _Terms(
            np.empty((capacity, words), dtype=np.uint64),
            np.empty(capacity),
            np.empty(capacity, dtype=np.int64),
            np.zeros(len(orderings) - start, dtype=np.int64),
        )
        done, written = kernels.collect_terms(graph.adjacency_bits, orderings, start, unit, order, binomials, *terms)
        if done == 0:
            capacity *= 2
            continue
        start += done
        yield _Terms(terms.coalitions[:written], terms.signs[:written], terms.targets[:written], terms.ends[:done])
