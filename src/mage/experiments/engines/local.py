"""This process, and processes on this machine with one BLAS thread each."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable
from multiprocessing import forkserver
from multiprocessing.connection import wait

from mage._core.checks import checked_whole
from mage.experiments.engines.base import Engine, EngineError, JobType, Outcomes, Payload
from mage.experiments.engines.failures import run_job
from mage.experiments.engines.limits import checked_timeout
from mage.experiments.engines.serialization import pack
from mage.experiments.engines.worker_pool import WorkerPool
from mage.experiments.engines.workers import LocalWorker, process_context


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

    def check(self) -> None:
        """Raise EngineError in a worker that imports the script of its run, which would start the run once more."""
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise EngineError(LocalWorker.advice)

    def run(self, payload: Payload, jobs: Iterable[JobType]) -> Outcomes[JobType]:
        """Each job with its result, as it is done."""
        self.prepare()
        content = pack(payload)
        yield from WorkerPool(self.workers, lambda: LocalWorker(content), wait, self.timeout).run(iter(jobs))
