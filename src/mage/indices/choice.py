"""Which estimator ``method="auto"`` takes, and why: a decision by counts alone, the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mage.indices.estimators import ESTIMATORS
from mage.indices.estimators.exact import STATES_LIMIT
from mage.indices.problem import Problem

EXACT_LIMIT = 100_000  # connected coalitions that are asked for one by one
LEAST_EXACT_LIMIT = 5_000
EXACT_COST = 10**11  # multiplications that asking for them may take, roughly
SAMPLERS = ("surrogate", "permutation", "multilinear")  # in this order, where exact numbers are out of reach
# Methods whose fields go with "auto". It takes exact-local only where a model shows itself how far its nodes see.
AUTO_METHODS = ("exact", *SAMPLERS)


class Choice(NamedTuple):
    """The name of an estimator, and the reason why it was taken."""

    method: str
    reason: str


def choices(problem: Problem) -> Iterator[Choice]:
    """The estimator that a request names; for ``"auto"`` all that can do it, the best first.

    Exact ones come first. One of them may find out that the game is not of the kind that it needs, so that the next
    one is wanted.
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
            yield Choice("exact", f"{number} connected coalitions, which the model is asked for by states")
            return
        reasons.append(f"not exact by states: about {runs:,} runs of the model")
    if request.budget is None and problem.game.node_contributions is not None:
        yield Choice("exact-local", "; ".join([*reasons, "the output is a sum over nodes"]))


def one_by_one_limit(problem: Problem) -> int:
    """How many coalitions may be asked for one by one: fewer where the model is large."""
    cost = max(problem.game.query_cost, 1)
    return max(LEAST_EXACT_LIMIT, min(EXACT_LIMIT, EXACT_COST // cost))
