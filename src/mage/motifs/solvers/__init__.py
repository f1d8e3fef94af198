"""Ways to solve a motif problem, in a table; the exact ones follow each other until one has proven its answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from mage._core.importing import load_name
from mage._core.typing import Integers
from mage.motifs.problem import MotifProblem
from mage.motifs.solvers.protocol import Outcome, Solver

__all__ = ["SOLVERS", "Outcome", "Solution", "Solver", "default_search_nodes", "solve"]

SOLVERS: dict[str, tuple[str, ...]] = {"auto": ("search", "milp"), "search": ("search",), "milp": ("milp",)}
"""Names of requests, and the methods that each tries one after the other."""

_MOST_VARIABLES = 3_000  # of a programme that may follow the search; larger ones proved nothing more in minutes
_DEFAULT_PROGRAMME_NODES = 100


class Solution(NamedTuple):
    """Labels 1 … m, a bound on any family, the search nodes spent, and the methods that were used."""

    labels: Integers
    bound: float
    work: int
    used: str


class _Method(NamedTuple):
    """Where a solver lives, which is imported when it is needed, and the nodes it may visit by default."""

    place: str
    default_nodes: Callable[[int], int]

    def load(self) -> Solver:
        return cast("Solver", load_name(f"mage.motifs.solvers.{self.place}"))


def default_search_nodes(num_nodes: int) -> int:
    """Search nodes spent by default: a constant amount of work, as a node costs time with the square of the graph."""
    return int(min(4_000_000, max(2_000, 4_000_000_000 // num_nodes**2)))


_METHODS: dict[str, _Method] = {
    "search": _Method("search:search_motifs", default_search_nodes),
    "milp": _Method("milp:solve_program", lambda _: _DEFAULT_PROGRAMME_NODES),
}


def solve(problem: MotifProblem, solver: str, node_limit: int | None = None, start: Integers | None = None) -> Solution:
    """Solve a problem by the methods of one name, from a feasible family where one is known.

    Raises:
        ValueError: No family holds all required nodes, or none was found within the limit.
    """
    best = start
    used: list[str] = []
    bound, work = math.inf, 0
    for name in SOLVERS[solver]:
        if used and not _worth_a_programme(problem):
            break
        method = _METHODS[name]
        limit = node_limit or method.default_nodes(problem.num_nodes)
        outcome = method.load()(problem, best, limit)
        used.append(name)
        work += outcome.work
        bound = min(bound, outcome.bound)
        best = outcome.labels if outcome.labels is not None else best
        if best is None:
            if outcome.work < limit:
                raise ValueError(problem.impossible)
        elif bound <= problem.objective(best) + 1e-9 * problem.scale:
            break
    if best is None:
        raise ValueError("node_limit: no motifs with all nodes of include were found within this limit; increase it")
    return Solution(best, bound, work, " + ".join(used))


def _worth_a_programme(problem: MotifProblem) -> bool:
    """Whether an integer programme may prove what the search could not."""
    slots = 1 if problem.merging else len(problem.useful_sides) * problem.num_motifs
    terms = np.count_nonzero(problem.pair.any(axis=0)) / 2 + problem.triple.shape[1]
    return bool(slots * terms <= _MOST_VARIABLES)
