"""The estimator ``"surrogate"``: few queries, a regressor, an unbiased correction."""

from __future__ import annotations

import numpy as np

from mage._core.progress import progress_bar
from mage.indices.boundary import boundary_coalitions
from mage.indices.estimate import Estimate
from mage.indices.estimators.protocol import Estimator
from mage.indices.estimators.surrogate.design import essential
from mage.indices.estimators.surrogate.population import connected_population
from mage.indices.estimators.surrogate.regressors import check_library
from mage.indices.estimators.surrogate.rounds import LEAST_ROUND, Rounds, round_sizes
from mage.indices.problem import Problem
from mage.indices.stopping import Monitor

DEFAULT_BUDGET = 2_000


class Surrogate(Estimator):
    """A regressor that learns the game from few queries, and an unbiased correction of what it learnt."""

    name = "surrogate"
    needs = "a budget for some 100 queries and those of the smaller sets; LightGBM, unless regressor='ridge'"
    fields = frozenset({"regressor"})

    def refusal(self, problem: Problem) -> Exception | None:
        """A reason where the budget is too small or a library is missing."""
        budget = problem.request.budget or DEFAULT_BUDGET
        least = least_budget(problem)
        if budget < least and problem.graph.count_connected(cap=budget) >= budget:
            return ValueError(
                f"budget: {budget:,} is too small; a surrogate of order {problem.order} needs at least {least:,} here"
            )
        try:
            check_library(problem.request.regressor)
        except ImportError as error:
            return error
        return None

    def estimate(self, problem: Problem, monitor: Monitor, progress: bool | None) -> Estimate:
        """Estimate the values of all sets that few coalitions do not tell."""
        budget, seed = problem.request.budget or DEFAULT_BUDGET, problem.request.seed
        population = connected_population(problem.graph, problem.measures, seed)
        runner = Rounds(problem.game, population, problem.request.regressor, seed)
        stopped = "budget"
        with progress_bar("surrogate index", budget, progress) as tick:
            first = essential(population, most=(budget - 1) // 2 if len(population) > budget - 1 else len(population))
            if not len(population) > budget - 1 and population.complete:
                first = np.arange(len(population))
            runner.query(first)
            tick(len(first) + 1)
            try:
                for size in round_sizes(budget - 1 - len(first), monitor.watching):
                    if runner.finished:
                        break
                    tick(runner.round(size))
                    reason = monitor.verdict(runner.result())
                    if reason:
                        stopped = reason
                        break
            except KeyboardInterrupt:
                if runner.state.moments is None:
                    raise
                stopped = "interrupted"
        exact = runner.finished and population.complete
        return runner.result()._replace(exact=exact, stopped="" if exact else stopped)


def least_budget(problem: Problem) -> int:
    """The smallest budget a surrogate can work with."""
    return 1 + len(boundary_coalitions(problem.graph, problem.measures).sizes) + 2 * LEAST_ROUND
