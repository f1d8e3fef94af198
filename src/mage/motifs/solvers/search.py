"""Exact motifs by compiled branch and bound."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mage._core.typing import Integers
from mage._kernels.motif_search import best_family
from mage.motifs.problem import MotifProblem
from mage.motifs.solvers.local_search import improved
from mage.motifs.solvers.protocol import Outcome
from mage.motifs.solvers.relaxation import Division, views_of

_ROUNDS = 100
_PLAIN_NODES = 2_000  # search nodes with the plain bound; half as many with triples, where a node costs more
_TIGHTENED_NODES = 20_000  # search nodes with the tightened bound, before a better start is searched
_RESTARTS = 8


def search_motifs(problem: MotifProblem, start: Integers | None, node_limit: int) -> Outcome:
    """Grow motifs vertex by vertex, pruning with a Lagrangian bound; exponential at worst, milliseconds as a rule.

    Args:
        problem: What to solve.
        start: A feasible family to beat, or None.
        node_limit: Search nodes to visit at most.

    Returns:
        The best family (``start`` if nothing beats it; None if there is no feasible one) and a bound on any family.
    """
    division = Division.even(problem)
    plain_nodes = _PLAIN_NODES // 2 if len(problem.triples) else _PLAIN_NODES
    best, bound, work = start, math.inf, 0
    # The plain bound solves most problems at once. Only the others need the tightened bound, and few a better start.
    for stage, nodes in enumerate((plain_nodes, _TIGHTENED_NODES, node_limit)):
        limit = min(nodes, node_limit - work)
        if stage == 1:
            division = division.tightened(problem, 0.0 if best is None else problem.objective(best), _ROUNDS)
        if stage == 2 and best is not None and not problem.required.any():
            best = _better_start(problem, division, best)
        outcome = run_search(problem, division, best, limit)
        best, bound, work = outcome.labels, min(bound, outcome.bound), work + outcome.work
        if outcome.work < limit or work == node_limit:
            break
    return Outcome(best, bound, work)


def _better_start(problem: MotifProblem, division: Division, labels: Integers) -> Integers:
    """The best family that local search finds, from a family and from restarts without the strongest nodes so far."""
    best = labels = improved(problem, labels)
    forbidden = problem.forbidden.copy()
    for _ in range(_RESTARTS):
        strongest = labels == 1
        if not strongest.any():
            break
        side = problem.side_of(strongest)
        worths = problem.node[side] + problem.pair[side] @ strongest
        forbidden[np.argmax(np.where(strongest, worths, -np.inf))] = True
        restart = run_search(replace(problem, forbidden=forbidden.copy()), division, None, 3 * problem.max_nodes)
        labels = improved(problem, problem.no_motifs if restart.labels is None else restart.labels)
        best = max(best, labels, key=problem.objective)
    return best


def run_search(problem: MotifProblem, division: Division, start: Integers | None, node_limit: int) -> Outcome:
    """One run of the compiled search with the bound that a division gives."""
    n, depths = problem.num_nodes, problem.max_nodes + 2
    views = views_of(problem, division)
    seen_shares = np.empty((depths + 1 if len(problem.triples) else 2, n, n))
    seen_shares[:2] = division.shares
    seen_shares[:2, np.arange(n), np.arange(n)] = -np.inf
    # Each required node has a bonus larger than all weights, so that a family without one can never be the best.
    bonus = 3 * problem.largest_worth if problem.required.any() else 0.0
    total_bonus = bonus * problem.required.sum()
    allowed, node_gains = _integers(3 * depths, n), np.zeros((3 * depths, n))
    sides = np.tile(np.array([0, 0, 1]), depths)
    for side in (0, 1):
        allowed[1 + side] = ~problem.forbidden & (side in problem.useful_sides)
        node_gains[1 + side :: 3] = problem.node[side] + bonus * problem.required
    to_beat = total_bonus - 1.5 * problem.largest_worth if bonus else 0.0
    if start is not None:
        to_beat = total_bonus + problem.objective(start)
    path, bounds = _integers(2, depths), np.zeros(depths)
    best, depth, work = best_family(
        *problem.adjacency_lists,
        seen_shares.reshape(-1, n),
        views.ranking,
        views.view_starts,
        views.view_others,
        views.view_shares,
        views.join_starts,
        views.join_pairs,
        views.join_shares,
        allowed,
        node_gains,
        sides,
        sides.copy(),
        _integers(depths),
        _integers(depths),
        path,
        np.zeros(depths),
        bounds,
        _integers(n),
        _integers(n),
        np.zeros((4, n)),
        np.full(n + 1, np.inf),
        int(problem.merging),
        problem.num_motifs,
        problem.max_nodes,
        to_beat,
        problem.tolerance + 1e-15 * total_bonus,
        node_limit,
    )
    upper = max([best, *bounds[: depth + 1].tolist()]) - total_bonus
    count = path[0, 0]
    if count == 0:
        empty = None if problem.required.any() else problem.no_motifs
        return Outcome(empty if start is None else start, upper, work)
    labels = problem.no_motifs
    labels[path[0, 1 : count + 1]] = path[1, 1 : count + 1]
    return Outcome(labels, upper, work)


def _integers(*shape: int) -> Integers:
    return np.zeros(shape, dtype=np.int64)
