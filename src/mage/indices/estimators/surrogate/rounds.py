"""The surrogate estimator: query a few coalitions, predict the others, correct the prediction.

An index is a sum Σ c_S(R) f(R) over connected R. With a regressor g that has not seen whether R was drawn, and R drawn
with chance π_R, the sum Σ c g + Σ over drawn R of c (f − g) / π is the index on average, whatever g is, and the better
g, the smaller its error. Coalitions are divided into folds. The g of a fold learns from the draws of the other folds,
and from all worths known before. Coalitions already known enter with their true worth.

The work is done in rounds. The first one draws by the weight of a coalition in the formula; later ones also by the
error of the regressor on similar coalitions. Each round is an unbiased estimate given the ones before, and the rounds
are averaged by their precision.
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
    """Worths and estimates after the rounds so far."""

    known: Masks
    worths: Floats
    queries: int
    spread: Spread | None = None
    moments: Moments | None = None
    sampling_errors: Floats | None = None


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

    def query(self, rows: Integers) -> None:
        """Evaluate some coalitions."""
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
            # All worths are known, so there is nothing to predict.
            moments = Moments.of(population.index(population.weights * state.worths))
        # All rounds miss the same coalitions, those outside of the population: that error does not average out.
        sampling_errors = np.zeros((0, len(moments.value))) if state.sampling_errors is None else state.sampling_errors
        errors, sampled = np.zeros_like(values), slice(len(values) - len(moments.value), None)
        values[sampled] += moments.value
        errors[sampled] = np.sqrt(moments.std_error**2 + (sampling_errors**2).sum(axis=0))
        deviations = moments.deviations.copy()
        if len(deviations):
            # Deviations of different samples are independent, so any row may be added to any other.
            deviations[: len(sampling_errors)] += sampling_errors
        return Estimate(values, errors, deviations if len(deviations) else None)

    def round(self, size: int) -> int:
        """Draw coalitions, evaluate them, fit regressors and correct the prediction; returns the number evaluated."""
        population, state = self._population, self.state
        open_rows = np.flatnonzero(~state.known)
        importance = self._influence[open_rows]
        if state.spread is not None:
            importance = importance * state.spread(self._size[open_rows])
        fold = self._generator.permutation(len(open_rows)) % _FOLDS
        chances, samples = np.zeros(len(open_rows)), []
        for number in range(_FOLDS):
            fold_rows = np.flatnonzero(fold == number)
            share = size // _FOLDS + (number < size % _FOLDS)
            chances[fold_rows] = inclusion(np.maximum(importance[fold_rows], 1e-300), share)
            samples.append(fold_rows[draw(chances[fold_rows], self._generator)])
        known_rows = np.flatnonzero(state.known)
        sampled_rows = np.concatenate(samples)
        self.query(open_rows[sampled_rows])
        predictions = np.empty(len(open_rows))
        # With small matrices, many threads mostly wait for each other; on a busy machine a hundred times as long.
        with one_blas_thread():
            for number, model in enumerate(self._models(open_rows, chances, samples, known_rows)):
                rows = open_rows[fold == number]
                predictions[fold == number] = model.predict(population.members[rows], population.neighbours[rows])
        self._combine(open_rows, predictions, chances, samples, known_rows)
        return len(sampled_rows)

    def _models(
        self, open_rows: Integers, chances: Floats, samples: list[Integers], known_rows: Integers
    ) -> list[Regressor]:
        """For each fold a regressor that has not seen it: the kind that does best on the other folds."""
        population, state = self._population, self.state
        fitted: dict[str, list[Regressor]] = {}
        costs: dict[str, Floats] = {}
        for name in self._candidates:
            fitted[name], cost = [], []
            for number, held_out in enumerate(samples):
                others = [open_rows[rows] for other, rows in enumerate(samples) if other != number]
                training, testing = np.concatenate([known_rows, *others]), open_rows[held_out]
                model = make(name, population.graph)
                model.fit(population.members[training], population.neighbours[training], state.worths[training])
                errors = state.worths[testing] - model.predict(
                    population.members[testing], population.neighbours[testing]
                )
                squared_weight = (self._influence[testing] / chances[held_out]) ** 2 * (1 - chances[held_out])
                cost.append(float(np.sum(squared_weight * errors**2)))
                fitted[name].append(model)
            costs[name] = np.array(cost)
        best = []
        for number in range(len(samples)):
            cost_elsewhere = {name: float(cost.sum() - cost[number]) for name, cost in costs.items()}
            best.append(fitted[min(cost_elsewhere, key=lambda name: cost_elsewhere[name])][number])
        return best

    def _combine(
        self, open_rows: Integers, predictions: Floats, chances: Floats, samples: list[Integers], known_rows: Integers
    ) -> None:
        """This round's estimate and variance, averaged with those of the rounds before."""
        population, state = self._population, self.state
        worths = np.zeros(len(population))
        worths[known_rows] = state.worths[known_rows]
        worths[open_rows] = predictions
        moments = Moments.of(population.index(population.weights * worths))
        errors = np.zeros(len(open_rows))
        for rows in samples:
            population_rows = open_rows[rows]
            errors[rows] = state.worths[population_rows] - predictions[rows]
            scaled = population.weights[population_rows] * errors[rows] / chances[rows]
            moments.add_draw(population, population_rows, scaled, 1 - chances[rows], self._part_generator)
        sampled_rows = np.concatenate(samples)
        uncertain = sampled_rows[chances[sampled_rows] < 1]
        state.spread = Spread(
            self._size[open_rows[uncertain]],
            errors[uncertain] ** 2,
            self._influence[open_rows[uncertain]] / chances[uncertain],
        )
        worths[open_rows[sampled_rows]] = state.worths[open_rows[sampled_rows]]
        state.sampling_errors = population.sampling_errors(worths)
        state.moments = moments if state.moments is None else state.moments.averaged(moments)
