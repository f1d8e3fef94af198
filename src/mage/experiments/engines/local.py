"""Processes on this machine, one BLAS thread each."""

from __future__ import annotations

import multiprocessing
import os
import pickle  # only for what this process itself hands to its workers
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

from mage._core.checks import checked_whole
from mage.experiments.engines.base import Engine, EngineError, Job, Payload

_ATTEMPTS = 3
_AHEAD = 2


class SerialEngine(Engine[Job]):
    """This process; for debugging and for machines without others."""

    def run(self, payload: Payload, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """Each job with its result, in order."""
        for job in jobs:
            yield job, payload.function(payload.shared, job)


class LocalEngine(Engine[Job]):
    """A pool of processes.

    A worker that dies, say for want of memory, is replaced and its jobs are run again; a job that kills three workers
    ends the run.

    Args:
        workers: Number of processes; one a core by default.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = checked_whole("workers", workers) if workers is not None else os.cpu_count() or 1

    def prepare(self) -> None:
        """Start the server that workers are forked from; importing PyTorch and PyG takes it seconds."""
        if _context().get_start_method() == "forkserver":
            forkserver.ensure_running()

    def run(self, payload: Payload, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """Each job with its result, as it is done."""
        self.prepare()
        with tempfile.TemporaryDirectory(prefix="mage-") as folder:
            path = Path(folder) / "payload"
            path.write_bytes(pickle.dumps(payload))
            yield from self._run(path, iter(jobs))

    def _run(self, path: Path, jobs: Iterator[Job]) -> Iterator[tuple[Job, Any]]:
        again: list[tuple[Job, int]] = []
        left = True
        while again or left:
            running: dict[Future[Any], tuple[Job, int]] = {}
            pool = ProcessPoolExecutor(self.workers, _context(), _start_worker, (str(path), os.getpid()))
            try:
                while left or again or running:
                    left = self._fill(pool, running, again, jobs, left)
                    if not running:
                        break
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        # Out of `running` only when its result is there, so that a broken pool loses nothing.
                        result = future.result()
                        job, _ = running.pop(future)
                        yield job, result
            except BrokenProcessPool:
                ended = {future: entry for future, entry in running.items() if _has_result(future)}
                for future, (job, _) in ended.items():
                    yield job, future.result()
                # Nobody knows whose fault it was; all that were under way have one more death to their name.
                died = [(job, deaths + 1) for future, (job, deaths) in running.items() if future not in ended]
                for job, deaths in died:
                    if deaths >= _ATTEMPTS:
                        raise EngineError(f"workers died {_ATTEMPTS} times on {job}; is there enough memory?") from None
                again += died
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _fill(
        self,
        pool: ProcessPoolExecutor,
        running: dict[Future[Any], tuple[Job, int]],
        again: list[tuple[Job, int]],
        jobs: Iterator[Job],
        left: bool,
    ) -> bool:
        """Submit jobs while there is room; whether the source may have more."""
        while len(running) < self.workers * _AHEAD:
            if again:
                entry = again.pop()
            elif left and (fetched := next(jobs, None)) is not None:
                entry = (fetched, 0)
            else:
                return False
            try:
                running[pool.submit(_work, entry[0])] = entry
            except BrokenProcessPool:
                again.append(entry)  # it was not its fault, and it must not get lost
                raise
        return left


def _has_result(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _context() -> Any:
    """How to start processes: from a server that imports torch once for all of them, or anew."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mage.experiments.engines.preload"])
    return context


_payload: Payload | None = None


def _start_worker(path: str, parent: int) -> None:
    global _payload  # noqa: PLW0603 (the one thing a worker process knows)
    import torch

    torch.set_num_threads(1)
    _payload = pickle.loads(Path(path).read_bytes())  # noqa: S301 (written by the process that started this one)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """End this worker when the run that it works for is gone, however it went."""
    while _alive(parent):
        time.sleep(1)
    os._exit(1)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _work(job: Any) -> Any:
    if _payload is None:
        raise EngineError("the worker was not started by its engine")
    return _payload.function(_payload.shared, job)
