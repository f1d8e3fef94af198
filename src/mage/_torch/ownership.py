"""One thread at a time for each network."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch


class _Owners:
    """Which thread has which modules, and how often it has taken them.

    A lock for each module would do, were it not for models that share layers: all modules of a block are taken at once.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._owners: dict[int, tuple[int, int]] = {}
        self._wanted: dict[int, list[int]] = {}

    def take(self, keys: list[int]) -> None:
        """Wait until no other thread has any of these modules, and take them all."""
        thread = threading.get_ident()
        with self._changed:
            self._wanted[thread] = keys
            try:
                while others := self._others(thread):
                    if self._is_circle(others, thread):
                        raise RuntimeError(
                            "model: two threads wait for each other's networks; explain models that run each other in "
                            "one thread"
                        )
                    self._changed.wait()
            finally:
                del self._wanted[thread]
            for key in keys:
                self._owners[key] = (thread, self._owners.get(key, (thread, 0))[1] + 1)

    def give_back(self, keys: list[int]) -> None:
        """The reverse of one :meth:`take`."""
        with self._changed:
            for key in keys:
                thread, times = self._owners.pop(key)
                if times > 1:
                    self._owners[key] = (thread, times - 1)
            self._changed.notify_all()

    def _others(self, thread: int) -> set[int]:
        """The threads that a thread waits for."""
        owners = {self._owners[key][0] for key in self._wanted.get(thread, ()) if key in self._owners}
        return owners - {thread}

    def _is_circle(self, others: set[int], thread: int) -> bool:
        """Whether one of these threads waits for this one, by way of others or not."""
        visits: set[int] = set()
        waiting = list(others)
        while waiting:
            other = waiting.pop()
            if other == thread:
                return True
            if other not in visits:
                visits.add(other)
                waiting += self._others(other)
        return False


_owners = _Owners()


def _forget_other_threads() -> None:
    """A forked process has none of the threads that own networks in its parent."""
    global _owners  # noqa: PLW0603 (the state of a process)
    _owners = _Owners()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


@contextmanager
def owning(modules: Iterable[torch.nn.Module]) -> Iterator[None]:
    """No other thread is inside such a block with one of these modules; blocks of one thread may lie in each other.

    Mode, hooks, caches and masks belong to a network, not to a thread. Threads that run the network without this block
    are not stopped.
    """
    networks = list(dict.fromkeys(modules))  # alive until the end, so that no other module gets one's identity
    owners, keys = _owners, [id(module) for module in networks]
    owners.take(keys)
    try:
        yield
    finally:
        owners.give_back(keys)
