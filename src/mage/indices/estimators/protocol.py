"""What every way to compute an index has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from mage.indices.estimate import Estimate
from mage.indices.problem import Problem
from mage.indices.stopping import Monitor


class Estimator(ABC):
    """A way to compute an index of a game.

    Attributes:
        name: What users call it.
        needs: What it needs of the game or the index, in words; :meth:`refusal` checks it.
        fields: Fields of a request, beyond those that every estimator takes, that it takes.
    """

    name: ClassVar[str]
    needs: ClassVar[str]
    fields: ClassVar[frozenset[str]] = frozenset()

    def refusal(self, problem: Problem) -> Exception | None:  # noqa: ARG002 (for those who need something)
        """Why a problem cannot be solved this way, as far as that is known before any query; None where it can."""
        return None

    @abstractmethod
    def estimate(self, problem: Problem, monitor: Monitor, progress: bool | None) -> Estimate:
        """The values of all sets of at most k players, by size and then in lexicographic order, and their errors.

        Args:
            problem: The game and the index.
            monitor: Says when to stop sampling.
            progress: Show a progress bar; by default on a terminal only.
        """
