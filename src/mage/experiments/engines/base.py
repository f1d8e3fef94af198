"""What an engine is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")


class EngineError(RuntimeError):
    """A worker died again and again on the same job."""


@dataclass(frozen=True)
class Payload:
    """What all jobs of a run share, shipped to each worker once.

    Args:
        function: Called as ``function(shared, job)`` in a worker; importable by name.
        shared: Models, graphs, explainers.
    """

    function: Callable[[Any, Any], Any]
    shared: Any


class Engine(ABC, Generic[Job]):
    """Runs jobs somewhere and hands back their results as they come."""

    def prepare(self) -> None:
        """Begin to start what takes a while, in the background, so that it is there when :meth:`run` is called."""

    @abstractmethod
    def run(self, payload: Payload, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """Each job with its result, in any order; an exception in a job ends the run.

        Jobs are taken from the iterable as workers become free, a few in advance.
        """
