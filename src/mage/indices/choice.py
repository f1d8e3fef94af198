"""Which estimator ``method="auto"`` takes, and why: a decision by counts alone, the same on every machine."""

from __future__ import annotations

from typing import NamedTuple

from mage.indices.estimators import ESTIMATORS
from mage.indices.problem import Problem

EXACT_LIMIT = 100_000  # connected coalitions
SAMPLERS = ("surrogate", "permutation", "multilinear")  # in this order, where exact numbers are out of reach
AUTO_METHODS = ("exact", *SAMPLERS)


class Choice(NamedTuple):
    """The name of an estimator, and the reason why it was taken."""

    method: str
    reason: str


def choose(problem: Problem) -> Choice:
    """The estimator that a request names; for ``"auto"`` exact where that is within reach, else the first that can."""
    request = problem.request
    if request.method != "auto":
        return Choice(request.method, "named in the request")
    for field, method in (("orderings", "permutation"), ("permutations", "permutation"), ("samples", "multilinear")):
        if getattr(request, field) is not None:
            return Choice(method, f"{field} is given")
    limit = request.budget or EXACT_LIMIT
    count = problem.graph.count_connected(cap=limit)
    number = f"more than {limit:,}" if count > limit else f"{count:,}"
    reasons = [f"{number} connected coalitions, limit {limit:,}"]
    if count <= limit:
        return Choice("exact", reasons[0])
    for method in SAMPLERS:
        refusal = ESTIMATORS[method].refusal(problem)
        if refusal is None:
            return Choice(method, "; ".join(reasons))
        reasons.append(f"not {method}: {refusal}")
    raise ValueError(f"method: no estimator can do it; {'; '.join(reasons)}")
