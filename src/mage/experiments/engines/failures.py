"""Failures: records of jobs that have no result."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any, Literal

from mage._core.importing import error_line
from mage.experiments.engines.base import Payload

ATTEMPTS = 3
"""A job whose worker dies is run this often before it counts as failed."""


@dataclass(frozen=True)
class Failure:
    """Why a job has no result.

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

    @classmethod
    def of_death(cls, end: str) -> Failure:
        """The end of a job that was tried as often as it may; ``end`` says how its last worker ended."""
        return cls("death", f"{ATTEMPTS} workers died of it, the last with: {end}")

    @classmethod
    def of_timeout(cls, seconds: float | None) -> Failure:
        """The end of a job that took too long."""
        return cls("timeout", f"not finished after {seconds:g} seconds")


def run_job(payload: Payload, job: Any) -> Any:
    """The result of a job, or the :class:`Failure` that it ended with."""
    try:
        return payload.function(payload.shared, job)
    except (Exception, SystemExit) as error:  # a model may raise anything
        return Failure.of(error)
