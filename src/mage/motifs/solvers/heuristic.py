"""A feasible family of motifs to start from."""

from __future__ import annotations

import numpy as np

from mage._core.typing import AnyArray, Floats, Integers, Masks
from mage._kernels import motif_heuristic as kernels
from mage.motifs.problem import MotifProblem

_MOVES = 50
_FIRST_SIZES = 16


def heuristic_motifs(problem: MotifProblem) -> Integers:
    """Motifs by greedy growth and local search, as labels ±(1 … m) with 0 for nodes in none.

    The largest-first family: for each size of the first motif its best growth, then the best growth among what is left,
    and so on; each family is polished by moves of single nodes. Required nodes are left to the exact methods.
    """
    nothing = np.zeros(problem.num_nodes, dtype=np.int64)
    if problem.required.any():
        return nothing
    best, best_worth = nothing, 0.0
    for labels in _families(problem):
        kernels.improve(
            *problem.adjacency_lists,
            problem.node,
            problem.pair,
            problem.triple,
            problem.required,
            problem.forbidden,
            problem.num_motifs,
            problem.max_nodes,
            problem.tolerance,
            _MOVES,
            labels,
        )
        worth = problem.objective(labels)
        if worth > best_worth + problem.tolerance:
            best, best_worth = labels, worth
    return best


def _families(problem: MotifProblem) -> list[Integers]:
    free = ~problem.forbidden
    found: list[Integers] = []
    for sign in (1, -1):
        worths, members = _grown(problem, sign, free, problem.max_nodes)
        sizes = [size for size in range(1, problem.max_nodes + 1) if worths[size] > 0]
        if problem.num_motifs == 1:
            sizes = sorted(sizes, key=lambda size: -worths[size])
        else:
            # Spread over all sizes, so that large budgets do not cost time without end.
            sizes = sizes[:: -(-len(sizes) // _FIRST_SIZES)] if sizes else []
        sizes = sizes[: 3 if problem.num_motifs == 1 else _FIRST_SIZES]
        for size in sizes:
            labels = np.where(members[size] != 0, sign, 0).astype(np.int64)
            for rank in range(2, problem.num_motifs + 1):
                if not _add_next(problem, labels, rank):
                    break
            found.append(labels)
    return found


def _add_next(problem: MotifProblem, labels: Integers, rank: int) -> bool:
    """Put the best motif that still fits beside those in ``labels``; False where nothing of worth does."""
    left = problem.max_nodes - int((labels != 0).sum())
    taken = labels != 0
    # A motif next to another one of the same sign is better merged, where all weights have one sign.
    blocked = taken | problem.graph.neighbours(taken[None])[0] if problem.one_sign and taken.any() else taken
    free = ~blocked & ~problem.forbidden
    if left < 1 or not free.any():
        return False
    best = 0.0
    choice = None
    for sign in (1, -1):
        worths, members = _grown(problem, sign, free, left)
        size = int(np.argmax(worths))
        if worths[size] > best:
            best, choice = float(worths[size]), (sign, members[size] != 0)
    if choice is None:
        return False
    labels[choice[1]] = choice[0] * rank
    return True


def _grown(problem: MotifProblem, sign: int, free: Masks, max_nodes: int) -> tuple[Floats, AnyArray]:
    return kernels.grow_from_everywhere(
        *problem.adjacency_lists, problem.node, problem.pair, problem.triple, sign, free, max_nodes
    )
