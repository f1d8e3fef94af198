"""A pool of workers, on this machine or on others: it sends jobs, collects results and replaces dead workers."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from mage.experiments.engines.base import EngineError
from mage.experiments.engines.failures import ATTEMPTS, Failure
from mage.experiments.engines.serialization import pack

JOBS_PER_WORKER = 2
"""Jobs that a worker holds at a time, so that it never waits for the next one."""

PATIENCE = 5.0
"""Seconds for a worker that is about to end by itself; then it is killed."""


@dataclass
class Attempt:
    """A job that was sent to a worker.

    Args:
        job: The job.
        deaths: Workers that died of it so far.
    """

    job: Any
    deaths: int = 0


class Worker(ABC):
    """The run's end of a worker: jobs go in, results come out in the same order.

    The first result is None for a good start, or a :class:`Failure`.
    """

    waits_for_start = False
    """Whether jobs are kept from a worker until it has started, since it may never do so."""

    advice = ""
    """What to look for where workers end before they begin."""

    def __init__(self) -> None:
        self.attempts: deque[Attempt] = deque()
        self.ready = False
        self._since = 0.0

    @abstractmethod
    def post(self, content: bytes) -> None:
        """Send a packed job. A dead worker raises nothing here; :meth:`received` reports it."""

    @abstractmethod
    def handles(self) -> list[Any]:
        """What the run waits for; at least one of them is ready when there is something to receive."""

    @abstractmethod
    def received(self) -> Iterator[Any]:
        """The results that are there.

        Raises:
            EOFError: The worker is dead, and all its results were given.
        """

    @abstractmethod
    def end(self, patience: float = 0.0) -> str:
        """End the worker, also in the middle of a job, and return how it ended as text.

        Args:
            patience: Seconds for a worker that should end by itself.
        """

    @abstractmethod
    def dismiss(self) -> None:
        """Tell the worker that there are no more jobs."""

    def accepts(self, place: int) -> bool:
        """Whether the worker may be given its job number ``place``."""
        return len(self.attempts) <= place and (self.ready or not self.waits_for_start)

    def send(self, attempt: Attempt) -> None:
        """Give the worker a job; it works on the oldest one that it has."""
        if not self.attempts:
            self._since = time.monotonic()
        self.attempts.append(attempt)
        self.post(pack(attempt.job))

    def finish(self, result: Any) -> Attempt | None:
        """The attempt that a result belongs to; None where it is the answer to the start."""
        self._since = time.monotonic()
        if self.ready:
            return self.attempts.popleft()
        self.ready = result is None
        return None

    def remaining(self, timeout: float) -> float:
        """Seconds until the job at work has taken ``timeout``; infinite where the worker has none or only starts."""
        if not self.ready or not self.attempts:
            return math.inf
        return self._since + timeout - time.monotonic()


class WorkerPool:
    """The workers of a run, and the jobs that they hold.

    Args:
        size: Most workers at a time.
        start: Starts a worker.
        wait: Waits until some of the handles are ready, or until the seconds have passed; returns the ready ones.
        timeout: Most seconds for a job; None waits for ever.
    """

    def __init__(
        self,
        size: int,
        start: Callable[[], Worker],
        wait: Callable[[list[Any], float | None], Collection[Any]],
        timeout: float | None,
    ) -> None:
        self._size = size
        self._start = start
        self._wait = wait
        self._timeout = timeout
        self._jobs: Iterator[Any] = iter(())
        self._waiting: deque[Attempt] = deque()
        self._workers: list[Worker] = []
        self._false_starts = 0

    def run(self, jobs: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        """Each job with its result or its :class:`Failure`; all workers are ended afterwards, also after an error."""
        self._jobs = jobs
        try:
            while self._hand_out_jobs():
                handles = [handle for worker in self._workers for handle in worker.handles()]
                ready = self._wait(handles, self._seconds_to_timeout())
                for worker in list(self._workers):
                    if any(handle in ready for handle in worker.handles()):
                        yield from self._collect(worker)
                    elif worker.remaining(math.inf if self._timeout is None else self._timeout) <= 0:
                        yield self._stop_slow(worker)
            for worker in self._workers:
                worker.dismiss()
            for worker in list(self._workers):
                self._end_worker(worker, PATIENCE)
        finally:
            for worker in list(self._workers):
                self._end_worker(worker)

    def _hand_out_jobs(self) -> bool:
        """Send jobs to all workers that have room, and start new workers; returns whether any job is unfinished."""
        for place in range(JOBS_PER_WORKER):
            # Each worker gets one job before any gets the next.
            for number in range(self._size):
                if number == len(self._workers):
                    starting = sum(worker.waits_for_start and not worker.ready for worker in self._workers)
                    if not self._has_jobs(starting + 1):
                        break
                    self._workers.append(self._start())
                if self._workers[number].accepts(place) and self._has_jobs(1):
                    self._workers[number].send(self._waiting.popleft())
        return bool(self._waiting) or any(worker.attempts for worker in self._workers)

    def _has_jobs(self, count: int) -> bool:
        """Whether at least ``count`` jobs wait to be sent; takes no more than these from the iterator."""
        while len(self._waiting) < count:
            if (job := next(self._jobs, None)) is None:
                return False
            self._waiting.append(Attempt(job))
        return True

    def _seconds_to_timeout(self) -> float | None:
        """Seconds until the first job exceeds the time limit; None without a limit."""
        if self._timeout is None:
            return None
        remaining = min(worker.remaining(self._timeout) for worker in self._workers)
        return None if math.isinf(remaining) else max(0.0, remaining)

    def _collect(self, worker: Worker) -> Iterator[tuple[Any, Any]]:
        """The results that a worker has sent; a dead worker is replaced."""
        try:
            for result in worker.received():
                attempt = worker.finish(result)
                if attempt is not None:
                    yield attempt.job, result
                elif result is not None:
                    raise EngineError(f"a worker cannot load what it works with: {result.message}\n{result.trace}")
                else:
                    self._false_starts = 0
        except EOFError:
            yield from self._replace_dead(worker)

    def _replace_dead(self, worker: Worker) -> Iterator[tuple[Any, Any]]:
        """Queue the jobs of a dead worker again. The job it was computing fails after several such deaths."""
        end = self._end_worker(worker, PATIENCE)
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts >= ATTEMPTS:
                reason = f"{ATTEMPTS} workers ended before they could begin, the last with: {end}"
                raise EngineError(f"{reason}; {worker.advice}" if worker.advice else reason)
        elif worker.attempts:
            attempt = worker.attempts[0]
            attempt.deaths += 1
            if attempt.deaths >= ATTEMPTS:
                worker.attempts.popleft()
                yield attempt.job, Failure.of_death(end)
        self._waiting.extend(worker.attempts)

    def _stop_slow(self, worker: Worker) -> tuple[Any, Any]:
        """Kill a worker whose job takes too long; its other jobs are queued again."""
        attempt = worker.attempts.popleft()
        self._end_worker(worker)
        self._waiting.extend(worker.attempts)
        return attempt.job, Failure.of_timeout(self._timeout)

    def _end_worker(self, worker: Worker, patience: float = 0.0) -> str:
        self._workers.remove(worker)
        return worker.end(patience)
