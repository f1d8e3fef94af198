"""Random sets of players: any index from discrete derivatives of the game's multilinear extension.

Let T take every player with one chance x. Then F_S(x) = E δ_S f|_E(T∖S) is a polynomial in x: Σ m(T) x^(|T|−|S|) over
T ⊇ S, with m the Harsanyi dividends, the derivative by the players of S of the game's multilinear extension (Owen 1972)
on its diagonal. So the index with measure μ is ∫ F_S dμ. Chances x are drawn evenly and weighted by the density of μ,
or taken where μ has a point; what μ does at 0 and at 1 few coalitions tell exactly. One set serves all S. (Okhrati and
Lipani 2021 estimate the Shapley value this way.)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from mage._core.typing import Bits, Floats
from mage._kernels import random_sets as kernels
from mage.graph import packing
from mage.indices.estimate import Estimate
from mage.indices.estimators.protocol import Estimator
from mage.indices.estimators.sampling import Draws, Terms, average, collected
from mage.indices.problem import Problem
from mage.indices.stopping import Monitor
from mage.indices.subsets import binomial_table

DEFAULT_SAMPLES = 200
_PARTS = (8, 24)  # where these draws are cut
_DRAW = 64  # units drawn at a time; fixed, so that the sequence does not depend on anything else


class Multilinear(Estimator):
    """Random sets T for every index: S gets δ_S f|_E(T∖S), weighted, on average.

    With ``antithetic``, sets come in pairs: with chance x a set, with chance 1 − x the set of all others; a pair is
    then the unit over which standard errors are taken.
    """

    name = "multilinear"
    needs = "nothing: it works for every game and index"
    fields = frozenset({"samples", "antithetic"})

    def estimate(self, problem: Problem, monitor: Monitor, progress: bool | None) -> Estimate:
        """Estimate the values of all sets that few coalitions do not tell."""
        request = problem.request
        unit = (2 if request.antithetic else 1) * max(len(_places(problem)), 1)
        most = request.samples or max(DEFAULT_SAMPLES, request.budget or 0)
        count = -(-most // unit) * unit
        source = random_sets(problem, request.antithetic, request.seed)
        name = "random set" if unit == 1 else f"group of {unit} random sets"
        draws = Draws(_batches(problem, source, count, unit), count, unit, name)
        estimate, num_samples = average(problem, draws, monitor, progress)
        return estimate._replace(num_samples=num_samples)


class RandomSets(NamedTuple):
    """Sets of players, and the weight of each for sets S of each sampled size [sets, sizes]."""

    sets: Bits
    weights: Floats


def _places(problem: Problem) -> list[float | None]:
    """Where chances are taken: None for all of (0, 1), and points."""
    measures = [problem.measures[size].inner for size in problem.sampled_sizes]
    everywhere: list[float | None] = [None] if any(measure.densities for measure in measures) else []
    return everywhere + sorted({point.place for measure in measures for point in measure.points})


def random_sets(problem: Problem, antithetic: bool, seed: int) -> Iterator[RandomSets]:
    """Random sets, in batches that grow, so that there is soon something to show or to keep."""
    generator = np.random.default_rng(seed)
    places = _places(problem)
    while True:
        uniform = generator.random((_DRAW, len(places), problem.num_players + 1))
        for part in np.split(uniform, _PARTS):
            numbers = np.concatenate([part, 1 - part], axis=1) if antithetic else part
            yield _weighted(problem, numbers, places * (2 if antithetic else 1), len(places))


def _weighted(problem: Problem, numbers: Floats, places: list[float | None], num_places: int) -> RandomSets:
    """Sets by even random numbers [units, places, 1 + n]: the first one is the chance, unless the place is."""
    chances = numbers[:, :, 0].copy()
    weights = np.empty((*chances.shape, len(problem.sampled_sizes)))
    for column, place in enumerate(places):
        if place is not None:
            chances[:, column] = place
        for row, size in enumerate(problem.sampled_sizes):
            measure = problem.measures[size]
            if place is None:
                weights[:, column, row] = measure.density(chances[:, column])
            else:
                weights[:, column, row] = sum(point.weight for point in measure.points if point.place == place)
    # Places add up, and draws of one place are averaged.
    sets = packing.pack((numbers[:, :, 1:] < chances[:, :, None]).reshape(-1, problem.num_players))
    return RandomSets(sets, num_places * weights.reshape(len(sets), -1))


def _batches(problem: Problem, source: Iterator[RandomSets], count: int, unit: int) -> Iterator[Iterator[Terms]]:
    """The terms of the first ``count`` sets."""
    bits, sizes = problem.graph.adjacency_bits, problem.sampled_sizes
    binomials = binomial_table(problem.num_players, problem.order)

    def collect(batch: RandomSets, start: int, terms: Terms) -> int:
        sets, weights = batch
        return kernels.collect_terms(bits, binomials, sets, weights, start, sizes.start, *terms)

    for batch in source:
        part = RandomSets(np.ascontiguousarray(batch.sets[:count]), np.ascontiguousarray(batch.weights[:count]))
        yield collected(len(part.sets), unit, bits.shape[1], partial(collect, part))
        count -= len(part.sets)
        if count == 0:
            return
