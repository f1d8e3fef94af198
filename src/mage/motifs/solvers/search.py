"""Exact motifs by compiled branch and bound."""

from __future__ import annotations

import numpy as np

from mage._core.typing import Integers
from mage._kernels import motif_search as kernels
from mage.motifs.problem import MotifProblem
from mage.motifs.solvers.protocol import Outcome

_SPLIT_ROUNDS = 300
_EASY = 2_000  # search nodes that the plain bound is given


def search_motifs(problem: MotifProblem, start: Integers | None, node_limit: int) -> Outcome:
    """Grow motifs vertex by vertex, pruning with a Lagrangian bound; exponential at worst, milliseconds as a rule.

    Args:
        problem: What to solve.
        start: A feasible family to beat, or None.
        node_limit: Search nodes to visit at most.

    Returns:
        The best family (``start`` if nothing beats it; None if there is no feasible one) and a bound on any family.
    """
    nothing = -1.0 if problem.required.any() else 0.0  # with required nodes even a worthless family is an answer
    best, worth = start, nothing if start is None else problem.objective(start)
    bound, work = np.inf, 0
    # Most problems fall to the plain bound at once; only the others are worth the better one.
    for rounds, limit in ((0, min(_EASY, node_limit)), (_SPLIT_ROUNDS, node_limit)):
        found, labels, bound, visited = _run(problem, rounds, worth, limit - work)
        work += visited
        if found > worth:
            best, worth = labels, found
        if bound <= worth or work >= node_limit:
            break
    if best is None and not problem.required.any():
        best = np.zeros(problem.num_nodes, dtype=np.int64)
    return Outcome(best, max(bound, worth, 0.0), work)


def _run(problem: MotifProblem, rounds: int, to_beat: float, node_limit: int) -> tuple[float, Integers, float, int]:
    signs = np.array([problem.has_positive or not problem.has_negative, problem.has_negative])
    shares = np.stack(
        [
            kernels.split_pairs(sign * problem.node, sign * problem.pair, problem.max_nodes, rounds if used else 0)
            for sign, used in zip((1.0, -1.0), signs.tolist(), strict=True)
        ]
    )
    return kernels.best_family(
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
