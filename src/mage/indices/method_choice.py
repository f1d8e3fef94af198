"""Which estimator ``method="auto"`` takes, and why: a decision by counts alone, the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mage.indices.estimators import ESTIMATORS
from mage.indices.estimators.exact import STATES_LIMIT
from mage.indices.estimators.permutation import orderings_fit
from mage.indices.problem import Problem

EXACT_LIMIT = 100_000  # connected coalitions that are evaluated one by one, where the cost of one is unknown
MODEL_LIMIT = 450_000  # the same where the size of a model tells the cost
LEAST_EXACT_LIMIT = 5_000
EXACT_COST = 10**11  # multiplications that evaluating them may take, roughly
NEIGHBOURHOOD_COST = 4  # a neighbourhood costs about as much as so many coalitions
ORDERINGS = 32  # a sample must have at least so many orderings: fewer say little
SAMPLE_BUDGET = 80_000  # coalitions that orderings may need, where they are cheap
LEAST_SAMPLE_BUDGET = 20_000
SAMPLE_COST = 6 * 10**10  # multiplications that evaluating them may take, roughly
SAMPLERS = ("surrogate", "permutation", "multilinear")  # in this order, where exact numbers are out of reach
# Methods whose fields go with "auto". It takes exact-local only where the model itself shows the radius.
AUTO_METHODS = ("exact", *SAMPLERS)


class Choice(NamedTuple):
    """An estimator.

    Attributes:
        method: Its name.
        reason: Why it was taken.
        budget: Most coalitions for it, where the request leaves that open and other estimators come next.
    """

    method: str
    reason: str
    budget: int | None = None


def choices(problem: Problem) -> Iterator[Choice]:
    """The estimator that a request names; for ``"auto"`` all that may be used, the best first.

    Exact ones come first. One of them may find out that the game does not have the property it needs; then the next
    one is tried.
    """
    request = problem.request
    if request.method != "auto":
        yield Choice(request.method, "named in the request")
        return
    for field, method in (("orderings", "permutation"), ("permutations", "permutation"), ("samples", "multilinear")):
        if getattr(request, field) is not None:
            yield Choice(method, f"{field} is given")
            return
    reasons: list[str] = []
    for choice in exact_choices(problem, reasons):
        yield choice
        if choice.method == "exact":
            return
    budget = _sample_budget(problem)
    if budget:
        sample = f"{ORDERINGS} orderings and more are within {budget:,} coalitions"
        yield Choice("permutation", "; ".join([*reasons, sample]), budget)
        return
    for method in SAMPLERS:
        refusal = ESTIMATORS[method].refusal(problem)
        if refusal is None:
            yield Choice(method, "; ".join(reasons))
            return
        reasons.append(f"not {method}: {refusal}")
    raise ValueError(f"method: no estimator can do it; {'; '.join(reasons)}")


def exact_choices(problem: Problem, reasons: list[str] | None = None) -> Iterator[Choice]:
    """The exact estimators that are within reach, the best first.

    Args:
        problem: The game and the index.
        reasons: Why those that were not yielded are out of reach; filled while choices are read.
    """
    request, reasons = problem.request, [] if reasons is None else reasons
    limit = request.budget or one_by_one_limit(problem)
    count = problem.graph.count_connected(cap=max(limit, STATES_LIMIT))
    if count <= limit:
        yield Choice("exact", f"{count:,} connected coalitions, limit {limit:,}")
        return
    number = f"more than {STATES_LIMIT:,}" if count > STATES_LIMIT else f"{count:,}"
    reasons.append(f"{number} connected coalitions, limit {limit:,}")
    if count <= STATES_LIMIT and problem.game.states is not None:
        runs = problem.game.states.expected_runs(problem.graph, limit)
        if runs <= limit:
            yield Choice("exact", f"{number} connected coalitions, which are evaluated by states")
            return
        reasons.append(f"not exact by states: about {runs:,} runs of the model")
    if request.budget is None and problem.game.node_contributions is not None:
        reason = "; ".join([*reasons, "the output is a sum over nodes"])
        yield Choice("exact-local", reason, limit // NEIGHBOURHOOD_COST)


def one_by_one_limit(problem: Problem) -> int:
    """How many coalitions may be evaluated one by one: fewer where the model is large."""
    cost = problem.game.query_cost
    return max(LEAST_EXACT_LIMIT, min(MODEL_LIMIT, EXACT_COST // cost)) if cost else EXACT_LIMIT


def _sample_budget(problem: Problem) -> int:
    """Coalitions for random orderings, where a small model makes them cheaper than a surrogate's fits; else 0."""
    if problem.request.budget is not None or not problem.game.query_cost:
        return 0
    budget = min(SAMPLE_BUDGET, SAMPLE_COST // problem.game.query_cost)
    if budget < LEAST_SAMPLE_BUDGET or ESTIMATORS["permutation"].refusal(problem) is not None:
        return 0
    return budget if orderings_fit(problem, ORDERINGS, budget) else 0
