"""What every motif solver takes and returns."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from mage._core.typing import Integers
from mage.motifs.problem import MotifProblem


class Outcome(NamedTuple):
    """What a solver found: labels 1 … m, an upper bound on the objective, and the search nodes it took."""

    labels: Integers | None
    bound: float
    work: int


class Solver(Protocol):
    """A method that improves a family of motifs and bounds all of them."""

    def __call__(self, problem: MotifProblem, start: Integers | None, node_limit: int) -> Outcome:
        """The best family it finds, ``start`` where nothing beats that, and None where no family is feasible."""
        ...
