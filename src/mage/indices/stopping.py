"""When is an estimate good enough?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mage.indices.estimate import Estimate
from mage.indices.result import Interactions

Condition = Callable[[Interactions], bool]

# Conditions by name, created anew for each run. The motifs room registers its own here.
CONDITIONS: dict[str, Callable[[], Condition]] = {}


class Monitor:
    """Looks at an estimate from time to time and says whether to stop, and why.

    Args:
        build: Makes the result from an estimate.
        tolerance: Stop when the largest standard error is at most this.
        until: Stop when this holds of the estimate: a function, or a name in :data:`CONDITIONS`.
        callback: Called with each estimate; a true answer cancels the run.
    """

    def __init__(
        self,
        build: Callable[[Estimate], Interactions],
        tolerance: float | None = None,
        until: str | Condition | None = None,
        callback: Callable[[Interactions], Any] | None = None,
    ) -> None:
        self._build = build
        self._tolerance = tolerance
        self._until = CONDITIONS[until]() if isinstance(until, str) else until
        self._callback = callback

    @property
    def watching(self) -> bool:
        """Whether there is anything that may end a run early."""
        return self._tolerance is not None or self._until is not None or self._callback is not None

    def verdict(self, estimate: Estimate) -> str:
        """Why to stop now, or nothing."""
        if not self.watching:
            return ""
        interactions = self._build(estimate)
        if self._callback is not None and self._callback(interactions):
            return "cancelled"
        # Errors that cannot be told yet are NaN, and no smaller than anything.
        if self._tolerance is not None and bool((estimate.std_error <= self._tolerance).all()):
            return "tolerance"
        if self._until is not None and self._until(interactions):
            return "until"
        return ""
