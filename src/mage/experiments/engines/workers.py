"""A worker process of the local engine, and its end in the run that started it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from mage.experiments.engines.base import Payload
from mage.experiments.engines.failures import Failure, run_job
from mage.experiments.engines.packing import pack, unpack

PATIENCE = 5.0
"""Seconds for a process that is about to end by itself; then it is killed."""


def process_context() -> Any:
    """How to start processes: from a server that imports torch once for all of them, or anew."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mage.experiments.engines.preload"])
    return context


@dataclass
class Attempt:
    """A job on its way.

    Args:
        job: The job.
        deaths: Workers that died of it so far.
    """

    job: Any
    deaths: int = 0


class Worker:
    """The run's end of a worker process: jobs go in, results come out in the same order.

    Args:
        payload: The packed payload.
    """

    def __init__(self, payload: bytes) -> None:
        context = process_context()
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.attempts: deque[Attempt] = deque()
        self.ready = False
        self._since = 0.0
        with contextlib.suppress(OSError):  # a worker that died at once is found dead later
            self.connection.send_bytes(payload)

    def send(self, attempt: Attempt) -> None:
        """Give the worker a job; it works on the oldest one that it has."""
        if not self.attempts:
            self._since = time.monotonic()
        self.attempts.append(attempt)
        with contextlib.suppress(OSError):  # likewise; nothing gets lost, since the attempt is noted
            self.connection.send_bytes(pack(attempt.job))

    def receive(self) -> tuple[Attempt | None, Any]:
        """The next result with its attempt; without one, a :class:`Failure` to start, or None for a good start.

        Raises:
            EOFError: The worker is dead, and all its results are received.
        """
        try:
            result = unpack(self.connection.recv_bytes())
        except OSError:
            raise EOFError from None
        self._since = time.monotonic()
        if self.ready:
            return self.attempts.popleft(), result
        self.ready = result is None
        return None, result

    def remaining(self, timeout: float) -> float:
        """Seconds until the job at work has taken ``timeout``; infinite where the worker has none or only starts."""
        if not self.ready or not self.attempts:
            return float("inf")
        return self._since + timeout - time.monotonic()

    def end(self, patience: float = 0.0) -> str:
        """End the process, whatever it does, and say how it ended.

        Args:
            patience: Seconds for a process that should end by itself.
        """
        self.process.join(patience)
        self.connection.close()
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"

    def dismiss(self) -> None:
        """Tell the worker that there are no more jobs."""
        with contextlib.suppress(OSError):
            self.connection.send_bytes(b"")


def serve(connection: Connection) -> None:
    """The life of a worker: it gets the payload, says that it is ready, and works on jobs until there are no more."""
    # Ctrl-C reaches all processes of a terminal; the run decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, inbox), daemon=True).start()
    try:
        import torch

        torch.set_num_threads(1)
        payload: Payload = unpack(inbox.get())
    except Exception as error:  # unpickling runs the imports of others
        connection.send_bytes(pack(Failure.of(error)))
        return
    connection.send_bytes(pack(None))
    while content := inbox.get():
        connection.send_bytes(_answer(payload, content))


def _answer(payload: Payload, content: bytes) -> bytes:
    try:
        return pack(run_job(payload, unpack(content)))
    except Exception as error:  # what cannot be packed or unpacked has no result either
        return pack(Failure.of(error))


def _listen(connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    """Take in what comes. The system closes the other end when the run is gone, however it went: then leave at once."""
    while True:
        try:
            inbox.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)
