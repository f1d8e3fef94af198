"""The surrogate estimator: query a few coalitions, predict the others, correct the prediction.

An index is a sum Σ c_S(R) f(R) over connected R. With a regressor g that has not seen whether R was drawn, and R drawn
with chance π_R, the sum Σ c g + Σ over drawn R of c (f − g) / π is the index on average, whatever g is, and the better
g, the smaller its error. Coalitions are dealt into folds; g of a fold learns from what was drawn in the others and from
all that was known before. Coalitions already known enter with their true worth.

Work goes in rounds. The first draws by how much a coalition weighs in the formula; later ones also by how wrong the
regressor was on coalitions like it. Each round is an unbiased estimate given the ones before, and they are averaged by
their precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mage._core.threads import one_blas_thread
from mage._core.typing import Floats, Integers, Masks
from mage.games import Game
from mage.graph import packing
from mage.indices.estimate import Estimate
from mage.indices.estimators.surrogate.design import Spread, draw, inclusion
from mage.indices.estimators.surrogate.moments import Moments
from mage.indices.estimators.surrogate.population import Population
from mage.indices.estimators.surrogate.regressors import Regressor, candidates, make

_FOLDS = 5
LEAST_ROUND = 10 * _FOLDS
_WATCHED_PILOT = 200
_GROWTH = 1.5


@dataclass
class _State:
    """What is known so far."""

    known: Masks
    worths: Floats
    queries: int
    spread: Spread | None = None
    moments: Moments | None = None
    unmet: Floats | None = None


def round_sizes(left: int, watched: bool) -> list[int]:
    """How many coalitions each round may query: a third, then the rest; in small steps where a run may end early."""
    if left < 2 * LEAST_ROUND:
        return [left] if left else []
    if not watched:
        return [left // 3, left - left // 3]
    sizes, step = [], min(_WATCHED_PILOT, left // 3)
    while left > 0:
        step = left if left - step < LEAST_ROUND else step
        sizes.append(step)
        left -= step
        step = min(left, int(_GROWTH * step))
    return sizes


class Rounds:
    """The rounds of one run."""

    def __init__(self, game: Game, population: Population, regressor: str, seed: int) -> None:
        self._game = game
        self._population = population
        self._candidates = candidates(regressor)
        self._generator = np.random.default_rng([seed, 1])
        self._part_generator = np.random.default_rng([seed, 2])
        self._influence = population.influence()
        self._size = packing.sizes(population.members)
        self.state = _State(np.zeros(len(population), dtype=np.bool_), np.zeros(len(population)), 0)

    @property
    def finished(self) -> bool:
        """Whether every coalition is known."""
        return bool(self.state.known.all())

    def ask(self, rows: Integers) -> None:
        """Ask the game for some coalitions."""
        self.state.worths[rows] = self._game.worth_of_bits(
            np.ascontiguousarray(self._population.members[rows]), all_distinct=True
        )
        self.state.known[rows] = True
        self.state.queries += len(rows)

    def result(self) -> Estimate:
        """Values and standard errors of all sets, smaller ones first."""
        population, state = self._population, self.state
        values = population.boundary_values(state.worths)
        moments = state.moments
        if self.finished or moments is None:
            # Nothing is left to guess.
            moments = Moments.of(population.index(population.weights * state.worths))
        # Coalitions that the sample never met are the same for all rounds: that error does not average out.
        unmet = np.zeros((0, len(moments.value))) if state.unmet is None else state.unmet
        errors, sampled = np.zeros_like(values), slice(len(values) - len(moments.value), None)
        values[sampled] += moments.value
        errors[sampled] = np.sqrt(moments.std_error**2 + (unmet**2).sum(axis=0))
        deviations = moments.deviations.copy()
        if len(deviations):
            # Parts of different samples have nothing to do with each other, so any may go together.
            deviations[: len(unmet)] += unmet
        return Estimate(values, errors, deviations if len(deviations) else None)

    def round(self, size: int) -> int:
        """Draw, ask, learn, correct; the number of coalitions asked for."""
        population, state = self._population, self.state
        open_rows = np.flatnonzero(~state.known)
        importance = self._influence[open_rows]
        if state.spread is not None:
            importance = importance * state.spread(self._size[open_rows])
        fold = self._generator.permutation(len(open_rows)) % _FOLDS
        chances, samples = np.zeros(len(open_rows)), []
        for number in range(_FOLDS):
            inside = np.flatnonzero(fold == number)
            share = size // _FOLDS + (number < size % _FOLDS)
            chances[inside] = inclusion(np.maximum(importance[inside], 1e-300), share)
            samples.append(inside[draw(chances[inside], self._generator)])
        before = np.flatnonzero(state.known)
        picked = np.concatenate(samples)
        self.ask(open_rows[picked])
        guesses = np.empty(len(open_rows))
        # Small matrices on many threads spend their time waiting for each other, on a busy machine a hundredfold.
        with one_blas_thread():
            for number, model in enumerate(self._models(open_rows, chances, samples, before)):
                rows = open_rows[fold == number]
                guesses[fold == number] = model.predict(population.members[rows], population.neighbours[rows])
        self._combine(open_rows, guesses, chances, samples, before)
        return len(picked)

    def _models(
        self, open_rows: Integers, chances: Floats, samples: list[Integers], before: Integers
    ) -> list[Regressor]:
        """For each fold a regressor that has not seen it: the kind that does best on the other folds."""
        population, state = self._population, self.state
        fitted: dict[str, list[Regressor]] = {}
        costs: dict[str, Floats] = {}
        for name in self._candidates:
            fitted[name], cost = [], []
            for number, held_out in enumerate(samples):
                others = [open_rows[rows] for other, rows in enumerate(samples) if other != number]
                training, testing = np.concatenate([before, *others]), open_rows[held_out]
                model = make(name, population.graph)
                model.fit(population.members[training], population.neighbours[training], state.worths[training])
                errors = state.worths[testing] - model.predict(
                    population.members[testing], population.neighbours[testing]
                )
                price = (self._influence[testing] / chances[held_out]) ** 2 * (1 - chances[held_out])
                cost.append(float(np.sum(price * errors**2)))
                fitted[name].append(model)
            costs[name] = np.array(cost)
        best = []
        for number in range(len(samples)):
            elsewhere = {name: float(cost.sum() - cost[number]) for name, cost in costs.items()}
            best.append(fitted[min(elsewhere, key=lambda name: elsewhere[name])][number])
        return best

    def _combine(
        self, open_rows: Integers, guesses: Floats, chances: Floats, samples: list[Integers], before: Integers
    ) -> None:
        """This round's estimate and variance, averaged with those of the rounds before."""
        population, state = self._population, self.state
        filled = np.zeros(len(population))
        filled[before] = state.worths[before]
        filled[open_rows] = guesses
        moments = Moments.of(population.index(population.weights * filled))
        errors = np.zeros(len(open_rows))
        for rows in samples:
            places = open_rows[rows]
            errors[rows] = state.worths[places] - guesses[rows]
            scaled = population.weights[places] * errors[rows] / chances[rows]
            moments.add_draw(population, places, scaled, 1 - chances[rows], self._part_generator)
        picked = np.concatenate(samples)
        uncertain = picked[chances[picked] < 1]
        state.spread = Spread(
            self._size[open_rows[uncertain]],
            errors[uncertain] ** 2,
            self._influence[open_rows[uncertain]] / chances[uncertain],
        )
        filled[open_rows[picked]] = state.worths[open_rows[picked]]
        state.unmet = population.sampling_errors(filled)
        state.moments = moments if state.moments is None else state.moments.averaged(moments)
