"""Settings of a process that several threads change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside = 0
_limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products take one CPU thread inside. The first thread to enter limits them, the last to leave ends it.

    Each by itself would take the other's limit for the number to return to.
    """
    global _inside, _limits  # noqa: PLW0603 (BLAS has one number for the process)
    with _lock:
        if _inside == 0:
            _limits = threadpool_limits(1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()
