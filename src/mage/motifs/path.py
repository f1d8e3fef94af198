"""How many nodes motifs should have, where nobody says so.

The search is fast enough to solve every size M. While a family is incomplete each further node adds more than the one
before, since it closes interactions with all that are there; once it is complete the next node adds little. So the size
at which the last node adds most, and the next one little, is where a motif ends. The merit of a size is

    gain(M) · objective(M) · √stop(M) / M^0.3,    gain(M) = objective(M) − objective(M − 1),
                                                  stop(M) = 1 − gain(M + 1) / gain(M), at least 0.

It prefers families that explain much, that are complete, and that are small. Where interactions are spread over a whole
graph, every further node adds more than the one before: no large size stops the growth, and a small complete group is
taken. Sizes within a fifth of the largest merit are as good as each other by this measure. If the model can be asked,
the one of them is taken with the largest

    sufficiency − 1.5 · M / n,

where sufficiency is the part of the output's change, from no node to all of them, that the family makes alone, at most
1. A family that says it all has no use for further nodes, and a family of two thirds of the nodes must say it all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mage._core.typing import Floats, Masks
from mage.graph import PlayerGraph
from mage.motifs.problem import MotifProblem
from mage.motifs.request import MotifRequest
from mage.motifs.result import PathStep
from mage.motifs.solvers import Solution, default_search_nodes, solve
from mage.motifs.terms import TermArrays

Effects = Callable[[Masks], tuple[Floats, Floats]]
"""From groups of players, as booleans [q, n], to the output with only each group, and the output without it."""

_EVEN = 0.5  # τ that favours neither side
_PENALTY = 0.3  # power of M that a larger family must make up for
_STOP_POWER = 0.5  # of the part of the gain that the next node does not have
_LEAST_STOP = 1e-3  # so that sizes can be compared where no size stops the growth
_CLOSE = 0.8  # share of the largest merit from which on sizes are equally good
_SIZE_COST = 1.5  # sufficiency that a family of all players must make up for
_PATH_WORK = 50  # a size on the path gets this part of the search nodes that a single search gets
_MOST_PATH_NODES = 20_000  # and no more than these


def chosen_size(
    request: MotifRequest, terms: TermArrays, graph: PlayerGraph, least: int = 1, effects: Effects | None = None
) -> tuple[int, tuple[PathStep, ...]]:
    """The number of nodes M, and the path it was chosen from; the path is empty where the request says M.

    Args:
        request: What is searched for, with τ as a number.
        terms: Interactions.
        graph: The graph.
        least: Fewest nodes.
        effects: Asks the model, where there is one.
    """
    least = max(least, len(request.include))
    sizes = request.sizes_of(graph.num_players, least)
    if len(sizes) == 1:
        return sizes[0], ()
    problems, solutions = _solved(request, terms, graph, sizes)
    sizes = [problem.max_nodes for problem in problems]
    steps = _steps(problems, solutions, sizes)
    merits = np.array([step.merit for step in steps])
    if not merits.max() > 0:
        return sizes[0], steps
    close = np.flatnonzero(merits >= _CLOSE * merits.max())
    best = close[np.argmax(merits[close])]
    if effects is not None and len(close) > 1:
        sufficient = _sufficiency(effects, np.stack([solutions[place].labels > 0 for place in close]), request)
        shares = np.asarray(sizes)[close] / graph.num_players
        # Rounded, so that noise of the last digits does not decide between sizes that say the same.
        best = close[np.argmax(np.round(sufficient - _SIZE_COST * shares, 6))]
    return sizes[int(best)], steps


def effects_of(effects: Effects, masks: Masks) -> tuple[Floats, Floats]:
    """What a function says of groups, checked: the output with only each group, and without it."""
    answer = effects(masks)
    try:
        alone, without = (np.asarray(part, dtype=np.float64) for part in answer)
    except (TypeError, ValueError):
        raise ValueError(
            f"effects must return two arrays, with only each group and without it, got {answer!r}"
        ) from None
    if alone.shape != (len(masks),) or without.shape != (len(masks),):
        shapes = f"{list(alone.shape)} and {list(without.shape)}"
        raise ValueError(f"effects must return two arrays of {len(masks)} numbers, got shapes {shapes}")
    return alone, without


def _sufficiency(effects: Effects, families: Masks, request: MotifRequest) -> Floats:
    """The part of the output's change from no player to all of them that each family makes alone, at most 1."""
    everyone = np.ones_like(families[:1])
    alone, without = effects_of(effects, np.concatenate([families, everyone]))
    full, empty = alone[-1], without[-1]
    changes = (alone[:-1] - empty) * (1 if request.weight >= _EVEN else -1)
    span = abs(full - empty)
    parts: Floats = changes / span if span > 0 else np.sign(changes)
    return np.minimum(parts, 1.0)


def _solved(
    request: MotifRequest, terms: TermArrays, graph: PlayerGraph, sizes: list[int]
) -> tuple[list[MotifProblem], list[Solution]]:
    """The problems of all sizes that can hold the required nodes, ascending, and their solutions.

    From the largest size down: a solution that fits a smaller size is best there too.
    """
    usual = min(_MOST_PATH_NODES, default_search_nodes(graph.num_players) // _PATH_WORK)
    limit = request.node_limit or max(1, usual)
    solved: list[tuple[MotifProblem, Solution]] = []
    for size in reversed(sizes):
        try:
            problem = MotifProblem.of(replace(request, max_nodes=size), terms, graph)
            fits = solved and (solved[-1][1].labels > 0).sum() <= size
            solved.append((problem, solved[-1][1] if fits else solve(problem, "search", limit)))
        except ValueError:
            if not solved:
                raise  # not even the largest size holds all nodes that must be in a motif
            break
    return [problem for problem, _ in reversed(solved)], [solution for _, solution in reversed(solved)]


def _steps(problems: list[MotifProblem], solutions: list[Solution], sizes: list[int]) -> tuple[PathStep, ...]:
    objectives = np.array([p.objective(s.labels) for p, s in zip(problems, solutions, strict=True)])
    objectives = np.maximum.accumulate(np.maximum(objectives, 0.0))
    gains = np.diff(objectives, prepend=0.0) / np.diff(sizes, prepend=0)
    # Nothing is known of the node after the largest size: it may add as much as the last one.
    next_gains = np.append(gains[1:], gains[-1])
    stops = 1 - np.minimum(np.divide(next_gains, gains, out=np.ones_like(gains), where=gains > 0), 1)
    merits = gains * objectives * (_LEAST_STOP + stops) ** _STOP_POWER / np.asarray(sizes) ** _PENALTY
    return tuple(
        PathStep(
            max_nodes=size,
            num_motifs=len(np.unique(solution.labels[solution.labels > 0])),
            objective=float(objective),
            merit=float(merit),
            optimal=bool(solution.bound <= problem.objective(solution.labels) + 1e-8 * problem.scale),
        )
        for size, solution, problem, objective, merit in zip(
            sizes, solutions, problems, objectives, merits, strict=True
        )
    )
