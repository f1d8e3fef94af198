"""The loop of all runs: what is missing is claimed, computed on an engine, and kept as soon as it is done."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

from mage.experiments.engines import Engine, EngineError, Payload
from mage.experiments.engines.base import Outcomes
from mage.experiments.engines.limits import stoppable

_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Job:
    """What a worker computes at a time: one graph or one image, with all that only it needs.

    Args:
        part: Name of the part that the result belongs to.
        place: Its place within the part.
    """

    part: str
    place: int


class Part(Protocol):
    """What is kept at a time."""

    @property
    def key(self) -> str:
        """Its name, which says all that determines it."""


PartType = TypeVar("PartType", bound=Part)


class Shelf(ABC, Generic[PartType]):
    """Where parts are kept; several runs may share one."""

    @abstractmethod
    def has(self, part: PartType) -> bool:
        """Whether a part is finished."""

    @abstractmethod
    def claim(self, part: PartType) -> int | None:
        """A lock on a part, or None if another run holds it."""

    @abstractmethod
    def release(self, part: PartType, handle: int) -> None:
        """Give a lock back."""

    @abstractmethod
    def jobs(self, part: PartType) -> Sequence[Job]:
        """The work of a part; at least one job."""

    @abstractmethod
    def keep(self, part: PartType, results: Sequence[Any]) -> None:
        """Keep a finished part: the results of its jobs in their order, each may be a ``Failure``."""


@dataclass
class _Open(Generic[PartType]):
    """A part that this run holds, with the results that are there."""

    part: PartType
    handle: int
    results: dict[int, Any]
    size: int = 0


def run_parts(
    parts: Sequence[PartType], shelf: Shelf[PartType], engine: Engine, payload: Payload
) -> Iterator[tuple[PartType, Sequence[Any]]]:
    """Compute parts; other runs with the same shelf take their share of them.

    Args:
        parts: What is missing.
        shelf: Where it is kept.
        engine: Where it is computed.
        payload: What its jobs share.

    Yields:
        Each part that this run has kept, with its results.
    """
    # A worker that began the same run would wait for the locks of this one, and this one for the worker.
    engine.check()
    claims: dict[str, _Open[PartType]] = {}
    waiting = list(parts)
    with stoppable():
        try:
            while waiting:
                busy: list[PartType] = []
                jobs = _claimed_jobs(waiting, shelf, claims, busy)
                # Engines are costly to start; where others hold all that is left, there is nothing to start one for.
                if (first := next(jobs, None)) is not None:
                    with closing(engine.run(payload, chain([first], jobs))) as outcomes:
                        yield from _kept(outcomes, shelf, claims)
                if claims:
                    raise EngineError(f"the engine lost {len(claims)} parts; run again to compute them")
                # What another run holds comes back at the end, in case that it dies.
                waiting = [part for part in busy if not shelf.has(part)]
                if waiting:
                    time.sleep(_POLL_SECONDS)
        finally:
            for entry in claims.values():
                shelf.release(entry.part, entry.handle)


def _kept(
    outcomes: Outcomes[Job], shelf: Shelf[PartType], claims: dict[str, _Open[PartType]]
) -> Iterator[tuple[PartType, Sequence[Any]]]:
    """Keep each part when the last of its jobs is done."""
    for job, result in outcomes:
        entry = claims[job.part]
        entry.results[job.place] = result
        if len(entry.results) == entry.size:
            results = [entry.results[place] for place in range(entry.size)]
            shelf.keep(entry.part, results)
            shelf.release(entry.part, entry.handle)
            del claims[job.part]
            yield entry.part, results


def _claimed_jobs(
    parts: Sequence[PartType], shelf: Shelf[PartType], claims: dict[str, _Open[PartType]], busy: list[PartType]
) -> Iterator[Job]:
    """Jobs of parts that this run may compute, locked as they are taken; parts of other runs go to ``busy``."""
    for part in parts:
        handle = shelf.claim(part)
        if handle is None:
            busy.append(part)
        elif shelf.has(part):
            shelf.release(part, handle)
        else:
            entry = claims[part.key] = _Open(part, handle, {})
            jobs = shelf.jobs(part)
            entry.size = len(jobs)
            yield from jobs
