"""Running an experiment: what is missing in the store is computed, on any engine, and the rest is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mage._core.progress import progress_bar
from mage.experiments.engines import Engine, LocalEngine
from mage.experiments.plan import Batch, Plan
from mage.experiments.run_loop import Job, PartStorage, run_parts
from mage.experiments.store import Store


def run_plan(
    plan: Plan,
    store: Store,
    engine: Engine | None = None,
    progress: bool | None = None,
    on_part: Callable[[Batch], None] | None = None,
    retry_failed: bool = False,
) -> None:
    """Compute what is missing; several runs may share a store, and divide the work between them.

    A graph that fails does not stop the others: its record says what happened, see :meth:`Plan.failures`.

    Args:
        plan: The work.
        store: Where finished parts are.
        engine: Where to compute; by default one process a core.
        progress: Show a progress bar; by default on a terminal only.
        on_part: Called after each part that this run finished.
        retry_failed: Compute parts again in which something failed.
    """
    store.tidy()
    missing = plan.missing(store, retry_failed)
    if not missing:
        return
    engine = engine or LocalEngine()
    engine.prepare()
    payload, computable = plan.payload(missing)
    storage = _PlanStorage(plan, store, missing)
    with progress_bar(plan.experiment.title, len(computable), progress) as advance:
        for batch, _ in run_parts(computable, storage, engine, payload):
            advance(1)
            if on_part is not None:
                on_part(batch)


class _PlanStorage(PartStorage[Batch]):
    """A store as the place of a plan's batches.

    Args:
        plan: The plan.
        store: The store.
        missing: Batches to compute; those of them that are there now have failed.
    """

    def __init__(self, plan: Plan, store: Store, missing: Sequence[Batch]) -> None:
        self.plan = plan
        self.store = store
        self.failed = {batch.key for batch in missing if store.has(batch.key)}

    def has(self, part: Batch) -> bool:
        """Whether a batch is in the store, and is not to be computed again."""
        return part.key not in self.failed and self.store.has(part.key)

    def claim(self, part: Batch) -> int | None:
        """A lock on a batch."""
        return self.store.claim(part.key)

    def release(self, part: Batch, handle: int) -> None:
        """Give a lock back."""
        self.store.release(part.key, handle)

    def jobs(self, part: Batch) -> Sequence[Job]:
        """The graphs or images of a batch."""
        return self.plan.procedure.jobs(part)

    def keep(self, part: Batch, results: Sequence[Any]) -> None:
        """Write a finished batch."""
        self.store.write(part.key, self.plan.batch_records(part, results), locked=True)
        self.failed.discard(part.key)


def open_store(folder: str | Path | None = None) -> Store:
    """The store in a folder; by default ``mage-results`` in the current one."""
    return Store(folder if folder is not None else "mage-results")
