"""The surrogate estimator: ask for a few coalitions, learn the rest, correct what was learnt.

Ψ_S = Σ c_S(R) f(R) over connected R. With a regressor g that has not seen whether R was drawn, and R drawn with chance
π_R, the sum Σ c g + Σ over drawn R of c (f − g) / π is Ψ_S on average, whatever g is, and the better g, the smaller its
error. Coalitions are dealt into folds; g of a fold learns from what was drawn in the others and from all that was known
before. Coalitions already known enter with their true worth.

Work goes in rounds. The first draws by how much a coalition weighs in the formula; later ones also by how wrong the
regressor was on coalitions like it. Each round is an unbiased estimate given the ones before, and they are averaged by
their precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from mage._core.progress import progress_bar
from mage._core.typing import Floats, Integers, Masks
from mage.games import Game
from mage.graph import CoalitionBlock, PlayerGraph, packing
from mage.indices.errors import Estimate
from mage.indices.estimators.exact import LowerOrders
from mage.indices.estimators.surrogate.design import Spread, draw, essential, inclusion
from mage.indices.estimators.surrogate.moments import Moments
from mage.indices.estimators.surrogate.population import Population, population
from mage.indices.estimators.surrogate.regressors import Regressor, candidates, make
from mage.indices.stopping import Monitor

DEFAULT_SURROGATE_BUDGET = 2_000
_FOLDS = 5
_LEAST_ROUND = 10 * _FOLDS
_WATCHED_PILOT = 200
_GROWTH = 1.5


class SurrogateEstimate(NamedTuple):
    """The estimate, whether nothing was left to estimate, and why the run ended."""

    estimate: Estimate
    exact: bool
    stopped: str


@dataclass
class _State:
    """What is known so far."""

    known: Masks
    worths: Floats
    queries: int
    spread: Spread | None = None
    found: Moments | None = None
    unmet: Floats | None = None


def least_budget(graph: PlayerGraph, order: int) -> int:
    """The smallest budget a surrogate can work with."""
    below = sum(len(block.sizes) for block in graph.blocks(max_size=order - 1)) if order > 1 else 0
    return 1 + below + 2 * _LEAST_ROUND


def surrogate_values(
    game: Game,
    graph: PlayerGraph,
    order: int,
    *,
    budget: int | None,
    regressor: str,
    seed: int,
    monitor: Monitor,
    progress: bool | None,
) -> SurrogateEstimate:
    """Estimate the index of all sets of at most ``order`` players; smaller sets than that are exact.

    Args:
        game: The game.
        graph: Its graph, or the complete one for the structure-blind indices.
        order: k.
        budget: Most distinct coalitions the estimate may rest on, the empty one included.
        regressor: ``"ridge"``, ``"trees"``, ``"mix"``, or ``"auto"`` for the best of them on coalitions not seen.
        seed: Seed of the sampling.
        monitor: When to stop before the budget is spent.
        progress: See :func:`mage._core.progress.progress_bar`.
    """
    budget = DEFAULT_SURROGATE_BUDGET if budget is None else budget
    least = least_budget(graph, order)
    if budget < least and graph.count_connected(cap=budget) >= budget:
        raise ValueError(f"budget: {budget:,} is too small; a surrogate of order {order} needs at least {least:,} here")
    people = population(graph, order, seed)
    runner = _Rounds(game, people, regressor, seed)
    stopped = "budget"
    with progress_bar("surrogate index", budget, progress) as tick:
        first = essential(people, most=(budget - 1) // 2 if len(people) > budget - 1 else len(people))
        if not len(people) > budget - 1 and people.complete:
            first = np.arange(len(people))
        runner.ask(first)
        tick(len(first) + 1)
        try:
            for size in _sizes(budget - 1 - len(first), monitor.watching):
                if runner.finished:
                    break
                asked = runner.round(size)
                tick(asked)
                reason = monitor.verdict(runner.result())
                if reason:
                    stopped = reason
                    break
        except KeyboardInterrupt:
            if runner.state.found is None:
                raise
            stopped = "interrupted"
    exact = runner.finished and people.complete
    return SurrogateEstimate(runner.result(), exact, "" if exact else stopped)


def _sizes(left: int, watched: bool) -> list[int]:
    """How many coalitions each round may ask for: a third, then the rest; in small steps where a run may end early."""
    if left < 2 * _LEAST_ROUND:
        return [left] if left else []
    if not watched:
        return [left // 3, left - left // 3]
    sizes, step = [], min(_WATCHED_PILOT, left // 3)
    while left > 0:
        step = left if left - step < _LEAST_ROUND else step
        sizes.append(step)
        left -= step
        step = min(left, int(_GROWTH * step))
    return sizes


class _Rounds:
    """The rounds of one run."""

    def __init__(self, game: Game, people: Population, regressor: str, seed: int) -> None:
        self._game = game
        self._people = people
        self._candidates = candidates(regressor)
        self._generator = np.random.default_rng([seed, 1])
        self._part_generator = np.random.default_rng([seed, 2])
        self._influence = people.influence()
        self._size = packing.sizes(people.members)
        self.state = _State(np.zeros(len(people), dtype=np.bool_), np.zeros(len(people)), 0)

    @property
    def finished(self) -> bool:
        """Whether every coalition is known."""
        return bool(self.state.known.all())

    def ask(self, rows: Integers) -> None:
        """Ask the game for some coalitions."""
        self.state.worths[rows] = self._game.worth_of_bits(
            np.ascontiguousarray(self._people.members[rows]), all_distinct=True
        )
        self.state.known[rows] = True
        self.state.queries += len(rows)

    def result(self) -> Estimate:
        """Values and standard errors of all sets, smaller ones first."""
        people, state = self._people, self.state
        lower = LowerOrders(people.graph.num_players, people.order)
        small = np.flatnonzero(self._size < people.order)
        if len(small):
            block = CoalitionBlock(people.members[small], people.neighbours[small], self._size[small])
            lower.add(block, state.worths[small])
        below = lower.values()
        found = state.found
        if self.finished or found is None:
            # Nothing is left to guess.
            found = Moments.of(people.index(people.weights * state.worths))
        # Coalitions that the sample never met are the same for all rounds: that error does not average out.
        unmet = np.zeros((0, len(found.value))) if state.unmet is None else state.unmet
        std_error = np.sqrt(found.std_error**2 + (unmet**2).sum(axis=0))
        deviations = found.deviations.copy()
        if len(deviations):
            # Parts of different samples have nothing to do with each other, so any may go together.
            deviations[: len(unmet)] += unmet
        return Estimate(
            np.concatenate([*below, found.value]),
            np.concatenate([*(np.zeros_like(part) for part in below), std_error]),
            deviations if len(deviations) else None,
        )

    def round(self, size: int) -> int:
        """Draw, ask, learn, correct; the number of coalitions asked for."""
        people, state = self._people, self.state
        open_rows = np.flatnonzero(~state.known)
        importance = self._influence[open_rows]
        if state.spread is not None:
            importance = importance * state.spread(self._size[open_rows])
        fold = self._generator.permutation(len(open_rows)) % _FOLDS
        chances, drawn = np.zeros(len(open_rows)), []
        for number in range(_FOLDS):
            inside = np.flatnonzero(fold == number)
            share = size // _FOLDS + (number < size % _FOLDS)
            chances[inside] = inclusion(np.maximum(importance[inside], 1e-300), share)
            drawn.append(inside[draw(chances[inside], self._generator)])
        before = np.flatnonzero(state.known)
        picked = np.concatenate(drawn)
        self.ask(open_rows[picked])
        guesses = np.empty(len(open_rows))
        # Small matrices on many threads spend their time waiting for each other, on a busy machine a hundredfold.
        with threadpool_limits(1, user_api="blas"):
            for number, model in enumerate(self._models(open_rows, chances, drawn, before)):
                inside = np.flatnonzero(fold == number)
                guesses[inside] = model.predict(people.members[open_rows[inside]], people.neighbours[open_rows[inside]])
        self._combine(open_rows, guesses, chances, drawn, before)
        return len(picked)

    def _models(self, open_rows: Integers, chances: Floats, drawn: list[Integers], before: Integers) -> list[Regressor]:
        """For each fold a regressor that has not seen it: the kind that does best on the other folds."""
        people, state = self._people, self.state
        fitted: dict[str, list[Regressor]] = {}
        costs: dict[str, Floats] = {}
        for name in self._candidates:
            fitted[name], cost = [], []
            for number, held_out in enumerate(drawn):
                others = [open_rows[rows] for other, rows in enumerate(drawn) if other != number]
                seen, unseen = np.concatenate([before, *others]), open_rows[held_out]
                model = make(name, people.graph)
                model.fit(people.members[seen], people.neighbours[seen], state.worths[seen])
                errors = state.worths[unseen] - model.predict(people.members[unseen], people.neighbours[unseen])
                price = (self._influence[unseen] / chances[held_out]) ** 2 * (1 - chances[held_out])
                cost.append(float(np.sum(price * errors**2)))
                fitted[name].append(model)
            costs[name] = np.array(cost)
        best = []
        for number in range(len(drawn)):
            elsewhere = {name: float(cost.sum() - cost[number]) for name, cost in costs.items()}
            best.append(fitted[min(elsewhere, key=lambda name: elsewhere[name])][number])
        return best

    def _combine(
        self, open_rows: Integers, guesses: Floats, chances: Floats, drawn: list[Integers], before: Integers
    ) -> None:
        """This round's estimate and variance, averaged with those of the rounds before."""
        people, state = self._people, self.state
        filled = np.zeros(len(people))
        filled[before] = state.worths[before]
        filled[open_rows] = guesses
        moments = Moments.of(people.index(people.weights * filled))
        errors = np.zeros(len(open_rows))
        for rows in drawn:
            places = open_rows[rows]
            errors[rows] = state.worths[places] - guesses[rows]
            scaled = people.weights[places] * errors[rows] / chances[rows]
            moments.add_draw(people, places, scaled, 1 - chances[rows], self._part_generator)
        picked = np.concatenate(drawn)
        uncertain = picked[chances[picked] < 1]
        state.spread = Spread(
            self._size[open_rows[uncertain]],
            errors[uncertain] ** 2,
            self._influence[open_rows[uncertain]] / chances[uncertain],
        )
        filled[open_rows[picked]] = state.worths[open_rows[picked]]
        state.unmet = people.sampling_errors(filled)
        state.found = moments if state.found is None else state.found.averaged(moments)
