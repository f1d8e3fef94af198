"""A worker process of the local engine, and its end in the run that started it."""

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
from mage.experiments.engines.crew import PATIENCE, Worker
from mage.experiments.engines.failures import Failure
from mage.experiments.engines.packing import answer, pack, unpack


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
        self._connection, theirs = context.Pipe()
        leash, self._leash = context.Pipe(duplex=False)
        self._process = context.Process(target=serve, args=(theirs, leash), daemon=True)
        self._process.start()
        theirs.close()
        leash.close()
        # A worker in compiled code takes nothing in. Its run must be able to stop it, so it does not wait for it.
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._sender = threading.Thread(target=_send, args=(self._connection, self._outbox), daemon=True)
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
        # Nobody reads any more, so that what waits to be sent fails; unless the worker has left processes behind.
        self._sender.join(PATIENCE)
        if not self._sender.is_alive():
            self._connection.close()
        self._leash.close()
        code = self._process.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"

    def dismiss(self) -> None:
        """Tell the worker that there are no more jobs."""
        self.post(b"")


def _send(connection: Connection, outbox: queue.SimpleQueue[bytes | None]) -> None:
    """Send what is in a queue until its end, or that of the worker, which is noticed elsewhere; nothing is lost."""
    with contextlib.suppress(OSError):
        while (content := outbox.get()) is not None:
            connection.send_bytes(content)


def serve(connection: Connection, leash: Connection) -> None:
    """The life of a worker: it gets the payload, says that it is ready, and works on jobs until there are no more.

    Args:
        connection: Jobs come in, results go out.
        leash: Its other end is closed when the run is gone.
    """
    _end_with(leash)
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
        connection.send_bytes(answer(payload, content))


def _end_with(leash: Connection) -> None:
    """Have the system end this process when the run is gone, also in compiled code that lets no thread listen."""
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(leash, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(leash, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(leash, fcntl.F_SETFL, fcntl.fcntl(leash, fcntl.F_GETFL) | os.O_ASYNC)


def _listen(connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    """Take in what comes. The system closes the other end when the run is gone, however it went: then leave at once."""
    while True:
        try:
            inbox.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)
