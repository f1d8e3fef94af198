"""What an engine is."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from mage._core.importing import error_line

JobType = TypeVar("JobType")
Outcomes: TypeAlias = Generator[tuple[JobType, Any], None, None]
"""Jobs with what became of them, as it comes. Closing it ends what is under way."""

ATTEMPTS = 3
"""A job whose worker dies is run this often before it counts as failed."""
AHEAD = 2
"""Jobs that a worker has at a time, so that it need not wait for the next one."""


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


@dataclass(frozen=True)
class Failure:
    """What became of a job that has no result.

    Args:
        kind: ``"error"`` (it raised an exception), ``"death"`` (its worker died) or ``"timeout"``.
        message: What happened, in one line.
        trace: Traceback of the exception, if there was one.
    """

    kind: Literal["error", "death", "timeout"]
    message: str
    trace: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """An exception as text. Exceptions themselves may not survive the way to another process."""
        return cls("error", error_line(error), "".join(traceback.format_exception(error)))


def run_job(payload: Payload, job: Any) -> Any:
    """The result of a job, or the :class:`Failure` that it ended with."""
    try:
        return payload.function(payload.shared, job)
    except (Exception, SystemExit) as error:  # a model may raise anything
        return Failure.of(error)


class Engine(ABC):
    """Runs jobs somewhere and hands back their results as they come."""

    def prepare(self) -> None:  # noqa: B027 (most have nothing to prepare)
        """Begin to start what takes a while, in the background, so that it is there when :meth:`run` is called."""

    @abstractmethod
    def run(self, payload: Payload, jobs: Iterable[JobType]) -> Outcomes[JobType]:
        """Each job with its result or its :class:`Failure`, in any order.

        Jobs are taken from the iterable as workers become free, a few in advance.

        Raises:
            EngineError: No worker can be started.
        """
