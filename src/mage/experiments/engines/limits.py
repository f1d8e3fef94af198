"""Limits of a run from outside: time limits, and signals to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def checked_timeout(timeout: float | None) -> float | None:
    """A time limit in seconds, checked to be positive."""
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, got {timeout}")
    return timeout


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM and SIGHUP interrupt like Ctrl-C, so that a run gives back its locks and ends its workers."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    previous = {number: signal.getsignal(number) for number in numbers}
    changed = [number for number, handler in previous.items() if handler is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, previous[number])


def _interrupt(number: int, _frame: Any) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)
