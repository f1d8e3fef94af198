"""This process, and processes on this machine with one BLAS thread each."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing import forkserver
from multiprocessing.connection import wait
from typing import Any

from mage._core.checks import checked_whole
from mage.experiments.engines.base import AHEAD, Engine, EngineError, JobType, Outcomes, Payload
from mage.experiments.engines.failures import ATTEMPTS, Failure, run_job
from mage.experiments.engines.limits import checked_timeout
from mage.experiments.engines.packing import pack
from mage.experiments.engines.workers import PATIENCE, Attempt, Worker, process_context


class SerialEngine(Engine):
    """This process; for debugging and for machines without others."""

    def run(self, payload: Payload, jobs: Iterable[JobType]) -> Outcomes[JobType]:
        """Each job with its result, in order."""
        for job in jobs:
            yield job, run_job(payload, job)


class LocalEngine(Engine):
    """Processes on this machine.

    A worker that dies, say for want of memory, is replaced and its job is run again; a job that kills three workers
    has failed.

    Args:
        workers: Number of processes; one per core by default.
        timeout: Most seconds for a job. One that takes longer is stopped and has failed. None waits for ever.
    """

    def __init__(self, workers: int | None = None, timeout: float | None = None) -> None:
        self.workers = checked_whole("workers", workers) if workers is not None else os.cpu_count() or 1
        self.timeout = checked_timeout(timeout)

    def prepare(self) -> None:
        """Start the server that workers are forked from; importing PyTorch and PyG takes it seconds."""
        if process_context().get_start_method() == "forkserver":
            forkserver.ensure_running()

    def run(self, payload: Payload, jobs: Iterable[JobType]) -> Outcomes[JobType]:
        """Each job with its result, as it is done."""
        self.prepare()
        crew = _Crew(self.workers, pack(payload), iter(jobs))
        try:
            while crew.fill():
                ready = wait(crew.handles(), crew.patience(self.timeout))
                for worker in crew.members():
                    if worker.connection in ready or worker.process.sentinel in ready:
                        yield from crew.collect(worker)
                    elif worker.remaining(self.timeout or math.inf) <= 0:
                        yield crew.stop(worker, self.timeout)
            crew.dismiss()
        finally:
            crew.kill()


class _Crew:
    """The workers of a run, and the jobs that are on their way.

    Args:
        size: Most workers at a time.
        payload: The packed payload.
        jobs: Jobs that nobody has begun.
    """

    def __init__(self, size: int, payload: bytes, jobs: Iterator[Any]) -> None:
        self._size = size
        self._payload = payload
        self._jobs = jobs
        self._again: deque[Attempt] = deque()
        self._workers: list[Worker] = []
        self._false_starts = 0

    def members(self) -> list[Worker]:
        """The workers that are there now."""
        return list(self._workers)

    def fill(self) -> bool:
        """Give workers what they have room for; whether anything is on its way."""
        for place in range(AHEAD):
            # Each worker gets one job before any gets the next.
            for number in range(self._size):
                if number < len(self._workers) and len(self._workers[number].attempts) > place:
                    continue
                if (attempt := self._next()) is None:
                    return any(worker.attempts for worker in self._workers)
                if number >= len(self._workers):
                    self._workers.append(Worker(self._payload))
                self._workers[number].send(attempt)
        return True

    def _next(self) -> Attempt | None:
        if self._again:
            return self._again.popleft()
        job = next(self._jobs, None)
        return None if job is None else Attempt(job)

    def handles(self) -> list[Any]:
        """What becomes readable when there is something to do."""
        return [handle for worker in self._workers for handle in (worker.connection, worker.process.sentinel)]

    def patience(self, timeout: float | None) -> float | None:
        """Seconds until the first job takes too long."""
        if timeout is None:
            return None
        remaining = min(worker.remaining(timeout) for worker in self._workers)
        return None if math.isinf(remaining) else max(0.0, remaining)

    def collect(self, worker: Worker) -> Iterator[tuple[Any, Any]]:
        """The results that a worker has sent, and what follows from its death if it is dead."""
        try:
            while worker.connection.poll():
                attempt, result = worker.receive()
                if attempt is not None:
                    yield attempt.job, result
                elif result is not None:
                    raise EngineError(f"a worker cannot load what it works with: {result.message}\n{result.trace}")
                else:
                    self._false_starts = 0
        except (EOFError, OSError):
            pass
        else:
            if worker.process.is_alive():
                return
        yield from self._bury(worker)

    def _bury(self, worker: Worker) -> Iterator[tuple[Any, Any]]:
        """Jobs of a dead worker are run again. The one that it worked on may have killed it."""
        end = self._remove(worker, PATIENCE)
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts >= ATTEMPTS:
                raise EngineError(f"{ATTEMPTS} workers ended before they could begin, the last with: {end}")
        elif worker.attempts:
            attempt = worker.attempts[0]
            attempt.deaths += 1
            if attempt.deaths >= ATTEMPTS:
                worker.attempts.popleft()
                yield attempt.job, Failure.of_death(end)
        self._again.extend(worker.attempts)

    def stop(self, worker: Worker, timeout: float | None) -> tuple[Any, Any]:
        """Kill a worker whose job takes too long; the others that it had are run again."""
        attempt = worker.attempts.popleft()
        self._remove(worker)
        self._again.extend(worker.attempts)
        return attempt.job, Failure.of_timeout(timeout)

    def _remove(self, worker: Worker, patience: float = 0.0) -> str:
        self._workers.remove(worker)
        return worker.end(patience)

    def dismiss(self) -> None:
        """Let the workers go that have nothing left to do."""
        for worker in self._workers:
            worker.dismiss()
        for worker in self.members():
            self._remove(worker, PATIENCE)

    def kill(self) -> None:
        """End all workers at once."""
        for worker in self.members():
            self._remove(worker)
