"""The exact index: the worths of all connected coalitions, and one formula."""

from __future__ import annotations

import math

from mage._core.progress import progress_bar
from mage.indices.closed_form import ClosedForm
from mage.indices.estimate import Estimate
from mage.indices.estimators.protocol import Estimator
from mage.indices.problem import Problem
from mage.indices.stopping import Monitor

DEFAULT_BUDGET = 10_000_000
STATES_LIMIT = 10_000_000  # connected coalitions that are listed to save runs of a message-passing model


class TooManyCoalitionsError(ValueError):
    """The exact index needs more queries than allowed."""


class Exact(Estimator):
    """The closed form over all connected coalitions.

    Cost: one query per connected coalition that the game does not know yet, and far fewer for message-passing models,
    which cannot tell most of them apart (:mod:`mage.games.state_worths`); 8 bytes of memory for each.
    """

    name = "exact"
    needs = "as many queries as there are connected coalitions"

    def refusal(self, problem: Problem) -> Exception | None:
        """A reason where there are too many connected coalitions: their number, and alternatives."""
        graph, budget = problem.graph, problem.request.budget or DEFAULT_BUDGET
        if graph.count_connected(cap=budget) <= budget or fits_by_states(problem, budget):
            return None
        exact = graph.count_connected_quickly()
        number = f"more than {budget:,}" if exact is None else readable(exact)
        other = "group players" if problem.family.sees_graph else "use an index that sees the graph"
        return TooManyCoalitionsError(
            f"method='exact' needs one query for each of {number} connected coalitions, and budget allows {budget:,}. "
            f"Raise budget, sample with method='surrogate', 'permutation' or 'multilinear', or {other}."
        )

    def estimate(self, problem: Problem, monitor: Monitor, progress: bool | None) -> Estimate:  # noqa: ARG002 (no sampling to stop)
        """The values of all sets by the closed form."""
        budget = max(problem.request.budget or DEFAULT_BUDGET, STATES_LIMIT)
        total = ClosedForm(problem.num_players, problem.measures)
        with progress_bar("exact index", problem.graph.count_connected(cap=budget), progress) as tick:
            worths = problem.game.connected_worths(problem.graph, tick)
        total.add_all(problem.graph, worths)
        return Estimate.certain(total.values())


def fits_by_states(problem: Problem, budget: int) -> bool:
    """Whether states of nodes bring all connected coalitions within a budget of runs of the model."""
    if problem.graph.count_connected(cap=STATES_LIMIT) > STATES_LIMIT or problem.game.states is None:
        return False
    return problem.game.states.expected_runs(problem.graph, budget) <= budget


def readable(number: int) -> str:
    """A count as text: digits while they can be read, then a power of ten (of any size)."""
    if number < 10**12:
        return f"{number:,}"
    if number.bit_length() < 1000:
        return f"about {number:.2e}"
    return f"about 10^{math.floor(number.bit_length() * math.log10(2))}"
