"""Locks on networks: one thread at a time runs each of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch


class _Locks:
    """Which thread holds which modules, and how many nested blocks hold them.

    One lock per module is not enough, since models may share layers: all modules of a block are locked at once.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._owners: dict[int, tuple[int, int]] = {}
        self._wanted: dict[int, list[int]] = {}

    def acquire(self, keys: list[int]) -> None:
        """Wait until no other thread holds any of these modules, then lock them all."""
        thread = threading.get_ident()
        with self._changed:
            self._wanted[thread] = keys
            try:
                while others := self._threads_waited_for(thread):
                    if self._is_deadlock(others, thread):
                        raise RuntimeError(
                            "model: two threads wait for each other's networks; explain models that run each other in "
                            "one thread"
                        )
                    self._changed.wait()
            finally:
                del self._wanted[thread]
            for key in keys:
                self._owners[key] = (thread, self._owners.get(key, (thread, 0))[1] + 1)

    def release(self, keys: list[int]) -> None:
        """Undo one :meth:`acquire`."""
        with self._changed:
            for key in keys:
                thread, times = self._owners.pop(key)
                if times > 1:
                    self._owners[key] = (thread, times - 1)
            self._changed.notify_all()

    def _threads_waited_for(self, thread: int) -> set[int]:
        """The threads that a thread waits for."""
        owners = {self._owners[key][0] for key in self._wanted.get(thread, ()) if key in self._owners}
        return owners - {thread}

    def _is_deadlock(self, others: set[int], thread: int) -> bool:
        """Whether one of these threads waits for this thread, directly or through others: a deadlock."""
        visited: set[int] = set()
        waiting = list(others)
        while waiting:
            other = waiting.pop()
            if other == thread:
                return True
            if other not in visited:
                visited.add(other)
                waiting += self._threads_waited_for(other)
        return False


_locks = _Locks()


def _release_after_fork() -> None:
    """Release all locks in a forked process: the threads that held them exist only in its parent."""
    global _locks  # noqa: PLW0603 (the state of a process)
    _locks = _Locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_after_fork)


@contextmanager
def holding(modules: Iterable[torch.nn.Module]) -> Iterator[None]:
    """Keep other threads out of such blocks with the same modules; blocks of one thread may be nested.

    Mode, hooks, caches and masks belong to a network, not to a thread. Threads that run the network without this block
    are not stopped.
    """
    networks = list(dict.fromkeys(modules))  # references, so that no new module gets the identity of a locked one
    locks, keys = _locks, [id(module) for module in networks]
    locks.acquire(keys)
    try:
        yield
    finally:
        locks.release(keys)
