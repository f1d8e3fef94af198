"""A worker process of the local engine, and the object by which the run controls it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

from mage.experiments.engines.base import Payload
from mage.experiments.engines.failures import Failure
from mage.experiments.engines.serialization import pack, run_packed_job, unpack
from mage.experiments.engines.worker_pool import PATIENCE, Worker


def process_context() -> Any:
    """How to start processes: from a server that imports torch once for all of them, or anew."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mage.experiments.engines.preload"])
    return context


class LocalWorker(Worker):
    """A process on this machine.

    Args:
        payload: The packed payload.
    """

    advice = 'a script that starts workers must be a file, and do so below a line `if __name__ == "__main__":`'

    def __init__(self, payload: bytes) -> None:
        super().__init__()
        context = process_context()
        self._connection, worker_end = context.Pipe()
        run_monitor, self._run_monitor = context.Pipe(duplex=False)
        self._process = context.Process(target=serve, args=(worker_end, run_monitor), daemon=True)
        self._process.start()
        worker_end.close()
        run_monitor.close()
        # Sending blocks while a worker is in compiled code. A thread sends, so that the run can still stop the worker.
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._sender = threading.Thread(target=_send_queued, args=(self._connection, self._outbox), daemon=True)
        self._sender.start()
        self.post(payload)

    def post(self, content: bytes) -> None:
        """Send a packed job."""
        self._outbox.put(content)

    def handles(self) -> list[Any]:
        """The pipe, and the end of the process."""
        return [self._connection, self._process.sentinel]

    def received(self) -> Iterator[Any]:
        """The results that are there."""
        try:
            while self._connection.poll():
                yield unpack(self._connection.recv_bytes())
        except OSError:
            raise EOFError from None
        if not self._process.is_alive():
            raise EOFError

    def end(self, patience: float = 0.0) -> str:
        """End the process, and say how it ended."""
        self._process.join(patience)
        self._process.kill()
        self._process.join()
        self._outbox.put(None)
        # The pipe has no reader now, so the sender fails and ends, unless child processes of the worker still live.
        self._sender.join(PATIENCE)
        if not self._sender.is_alive():
            self._connection.close()
        self._run_monitor.close()
        code = self._process.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"

    def dismiss(self) -> None:
        """Tell the worker that there are no more jobs."""
        self.post(b"")


def _send_queued(connection: Connection, outbox: queue.SimpleQueue[bytes | None]) -> None:
    """Send the content of a queue, up to None. If the worker dies, its jobs are queued again by the pool."""
    with contextlib.suppress(OSError):
        while (content := outbox.get()) is not None:
            connection.send_bytes(content)


def serve(connection: Connection, run_monitor: Connection) -> None:
    """Main function of a worker: receive the payload, report that it is ready, and compute jobs until the last one.

    Args:
        connection: Jobs come in, results go out.
        run_monitor: A pipe whose other end is closed when the run has ended.
    """
    _end_with_run(run_monitor)
    # Ctrl-C reaches all processes of a terminal; the run decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    try:
        import torch

        torch.set_num_threads(1)
        payload: Payload = unpack(inbox.get())
    except Exception as error:  # unpickling runs the imports of others
        connection.send_bytes(pack(Failure.of(error)))
        return
    connection.send_bytes(pack(None))
    while content := inbox.get():
        connection.send_bytes(run_packed_job(payload, content))


def _end_with_run(run_monitor: Connection) -> None:
    """Let the system kill this process when the run has ended, also during compiled code, where no thread can react."""
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(run_monitor, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(run_monitor, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(run_monitor, fcntl.F_SETFL, fcntl.fcntl(run_monitor, fcntl.F_GETFL) | os.O_ASYNC)


def _receive(connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    """Queue all that is received. When the run ends, the system closes the pipe, and this process exits at once."""
    while True:
        try:
            inbox.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)
