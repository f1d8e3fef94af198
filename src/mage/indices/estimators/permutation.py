"""The paper's Algorithms 1 and 2: average discrete derivatives over random orderings of the players."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mage._core.typing import Integers
from mage._kernels import permutation as kernels
from mage.games.memo import CoalitionTable
from mage.indices.boundary import boundary_coalitions
from mage.indices.estimate import Estimate
from mage.indices.estimators.protocol import Estimator
from mage.indices.estimators.sampling import Draws, Terms, average, collected
from mage.indices.families import shapley_taylor
from mage.indices.problem import Problem
from mage.indices.stopping import Monitor
from mage.indices.subsets import binomial_table

DEFAULT_PERMUTATIONS = 200
_PARTS = (8, 24)  # where these draws are cut
_DRAW = 64  # units drawn at a time; fixed, so that the sequence does not depend on anything else


class Permutation(Estimator):
    """Orderings of the players: S gets δ_S f|_E(T), T being the players before the first of S, on average.

    This is the index of a set of k players exactly if its measure is k (1−x)^(k−1) dx. With ``antithetic``, orderings
    come in pairs, one the reverse of the other; a pair is then the unit over which standard errors are taken.
    """

    name = "permutation"
    needs = "an index that is an average over orderings: Shapley, Myerson and their Taylor indices"
    fields = frozenset({"permutations", "orderings", "antithetic"})

    def refusal(self, problem: Problem) -> Exception | None:
        """A reason where the index is not an average over orderings, or orderings do not fit the players."""
        for size, measure in problem.measures.items():
            if measure != shapley_taylor.measure(size, problem.order):
                return ValueError(
                    f"method: the {problem.family.name} index of order {problem.order} is no average over orderings; "
                    "use method='multilinear'"
                )
        orderings, players = problem.request.orderings, problem.num_players
        if orderings is not None and len(orderings[0]) != players:
            shape = [len(orderings), len(orderings[0])]
            return ValueError(f"orderings must have shape [t, {players}] with t ≥ 1, got {shape}")
        return None

    def estimate(self, problem: Problem, monitor: Monitor, progress: bool | None) -> Estimate:
        """Estimate the values of sets of k players; those of smaller sets are exact."""
        request = problem.request
        unit = 2 if request.antithetic and request.orderings is None else 1
        if request.orderings is not None:
            count, source = len(request.orderings), iter([np.array(request.orderings, dtype=np.int64)])
        else:
            # Where the budget covers all coalitions it never stops the sampling; one ordering per query then does.
            most = request.permutations or max(DEFAULT_PERMUTATIONS, request.budget or 0)
            count = -(-most // unit) * unit
            source = random_orderings(problem.num_players, request.antithetic, request.seed)
        name = "pair of orderings" if unit == 2 else "ordering"
        draws = Draws(_batches(problem, source, count, unit), count, unit, name)
        estimate, num_permutations = average(problem, draws, monitor, progress)
        return estimate._replace(num_permutations=num_permutations)


def orderings_fit(problem: Problem, orderings: int, budget: int) -> bool:
    """Whether so many random orderings need at most ``budget`` different coalitions; evaluates none."""
    source = random_orderings(problem.num_players, problem.request.antithetic, problem.request.seed)
    table = CoalitionTable(problem.graph.adjacency_bits.shape[1])
    table.intern(boundary_coalitions(problem.graph, problem.measures).members)
    for batch in _batches(problem, source, orderings, 1):
        for terms in batch:
            table.intern(terms.coalitions)
            if table.size > budget:
                return False
    return True


def random_orderings(num_players: int, antithetic: bool, seed: int) -> Iterator[Integers]:
    """Orderings, in batches that grow, so that there is soon something to show or to keep."""
    generator = np.random.default_rng(seed)
    while True:
        orderings = generator.permuted(np.tile(np.arange(num_players), (_DRAW, 1)), axis=1)
        for part in np.split(orderings, _PARTS):
            yield np.stack([part, part[:, ::-1]], axis=1).reshape(-1, num_players) if antithetic else part


def _batches(problem: Problem, source: Iterator[Integers], count: int, unit: int) -> Iterator[Iterator[Terms]]:
    """The terms of the first ``count`` orderings."""
    bits, order = problem.graph.adjacency_bits, problem.order
    binomials = binomial_table(problem.num_players, order)

    def collect(orderings: Integers, start: int, terms: Terms) -> int:
        return kernels.collect_terms(bits, binomials, orderings, start, order, *terms)

    for batch in source:
        orderings = np.ascontiguousarray(batch[:count])
        yield collected(len(orderings), unit, bits.shape[1], partial(collect, orderings))
        count -= len(orderings)
        if count == 0:
            return
