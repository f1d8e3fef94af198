"""What an engine is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

JobType = TypeVar("JobType")
Outcomes: TypeAlias = Generator[tuple[JobType, Any], None, None]
"""Jobs with what became of them, as it comes. Closing it ends what is under way."""


class EngineError(RuntimeError):
    """An engine cannot work at all; the message says why."""


@dataclass(frozen=True)
class Payload:
    """What all jobs of a run share, shipped to each worker once.

    Args:
        function: Called as ``function(shared, job)`` in a worker; importable by name.
        shared: Models, explainers, settings. What only one job needs travels with the job.
    """

    function: Callable[[Any, Any], Any]
    shared: Any


class Engine(ABC):
    """Runs jobs somewhere and hands back their results as they come."""

    def prepare(self) -> None:  # noqa: B027 (most have nothing to prepare)
        """Begin to start what takes a while, in the background, so that it is there when :meth:`run` is called."""

    def check(self) -> None:  # noqa: B027 (likewise)
        """Raise EngineError where this process must not start workers; called before anything is locked."""

    @abstractmethod
    def run(self, payload: Payload, jobs: Iterable[JobType]) -> Outcomes[JobType]:
        """Each job with its result or its :class:`Failure`, in any order.

        Jobs are taken from the iterable as workers become free, a few in advance.

        Raises:
            EngineError: No worker can be started.
        """
