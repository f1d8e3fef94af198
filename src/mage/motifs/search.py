"""Exact motifs by compiled branch and bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mage._kernels import motif_search as kernels
from mage._typing import Integers
from mage.motifs.problem import MotifProblem

_SPLIT_ROUNDS = 300


class Outcome(NamedTuple):
    """What a solver found: labels ±(1 … m), an upper bound on the objective, and the search nodes it took."""

    labels: Integers | None
    bound: float
    work: int


def search_motifs(problem: MotifProblem, start: Integers | None, node_limit: int) -> Outcome:
    """Grow motifs vertex by vertex, pruning with a Lagrangian bound; exponential at worst, milliseconds as a rule.

    Args:
        problem: What to solve.
        start: A feasible family to beat, or None.
        node_limit: Search nodes to visit at most.

    Returns:
        The best family (``start`` if nothing beats it; None if there is no feasible one) and a bound on any family.
    """
    signs = np.array([problem.has_positive or not problem.has_negative, problem.has_negative])
    shares = np.stack(
        [
            kernels.split_pairs(sign * problem.node, sign * problem.pair, problem.max_nodes, _SPLIT_ROUNDS)
            for sign in (1.0, -1.0)
        ]
    )
    # With required nodes any feasible family is an answer, even a worthless one.
    nothing = -1.0 if problem.required.any() else 0.0
    to_beat = nothing if start is None else problem.objective(start)
    worth, labels, bound, work = kernels.best_family(
        *problem.adjacency_lists,
        problem.node,
        problem.pair,
        problem.triple,
        shares,
        np.argsort(-shares, axis=2, kind="stable"),
        signs,
        problem.required.astype(np.int8),
        problem.forbidden.astype(np.int8),
        problem.one_sign,
        problem.num_motifs,
        problem.max_nodes,
        to_beat,
        problem.tolerance,
        node_limit,
    )
    if worth > to_beat:
        return Outcome(labels, bound, work)
    return Outcome(start if start is not None or problem.required.any() else labels, max(bound, to_beat, 0.0), work)
