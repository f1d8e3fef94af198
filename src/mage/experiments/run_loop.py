"""The loop of all runs: missing parts are locked, computed on an engine, and stored as soon as they are finished."""

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
    """A set of results that is computed, locked and stored as one."""

    @property
    def key(self) -> str:
        """Its name, which says all that determines it."""


PartType = TypeVar("PartType", bound=Part)


class PartStorage(ABC, Generic[PartType]):
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
        """Store a finished part: the results of its jobs in their order, each of which may be a ``Failure``."""


@dataclass
class _ClaimedPart(Generic[PartType]):
    """A part that this run has locked, with the results so far."""

    part: PartType
    handle: int
    results: dict[int, Any]
    size: int = 0


def run_parts(
    parts: Sequence[PartType], storage: PartStorage[PartType], engine: Engine, payload: Payload
) -> Iterator[tuple[PartType, Sequence[Any]]]:
    """Compute parts; several runs with the same storage divide them among themselves.

    Args:
        parts: What is missing.
        storage: Where it is kept.
        engine: Where it is computed.
        payload: What its jobs share.

    Yields:
        Each part that this run has stored, with its results.
    """
    # A worker that started the same run again would wait for the locks of this run, and this run for the worker.
    engine.check()
    claims: dict[str, _ClaimedPart[PartType]] = {}
    waiting = list(parts)
    with stoppable():
        try:
            while waiting:
                busy: list[PartType] = []
                jobs = _claimed_jobs(waiting, storage, claims, busy)
                # Engines are costly to start, and are not needed where other runs have locked all remaining parts.
                if (first := next(jobs, None)) is not None:
                    with closing(engine.run(payload, chain([first], jobs))) as outcomes:
                        yield from _stored_parts(outcomes, storage, claims)
                if claims:
                    raise EngineError(f"the engine lost {len(claims)} parts; run again to compute them")
                # Parts that another run has locked are tried again at the end, since that run may die.
                waiting = [part for part in busy if not storage.has(part)]
                if waiting:
                    time.sleep(_POLL_SECONDS)
        finally:
            for entry in claims.values():
                storage.release(entry.part, entry.handle)


def _stored_parts(
    outcomes: Outcomes[Job], storage: PartStorage[PartType], claims: dict[str, _ClaimedPart[PartType]]
) -> Iterator[tuple[PartType, Sequence[Any]]]:
    """Store each part when the last of its jobs is finished."""
    for job, result in outcomes:
        entry = claims[job.part]
        entry.results[job.place] = result
        if len(entry.results) == entry.size:
            results = [entry.results[place] for place in range(entry.size)]
            storage.keep(entry.part, results)
            storage.release(entry.part, entry.handle)
            del claims[job.part]
            yield entry.part, results


def _claimed_jobs(
    parts: Sequence[PartType],
    storage: PartStorage[PartType],
    claims: dict[str, _ClaimedPart[PartType]],
    busy: list[PartType],
) -> Iterator[Job]:
    """Jobs of parts that this run may compute, locked as they are taken; parts of other runs go to ``busy``."""
    for part in parts:
        handle = storage.claim(part)
        if handle is None:
            busy.append(part)
        elif storage.has(part):
            storage.release(part, handle)
        else:
            entry = claims[part.key] = _ClaimedPart(part, handle, {})
            jobs = storage.jobs(part)
            entry.size = len(jobs)
            yield from jobs
