"""Running an experiment: what is missing in the store is computed, on any engine, and the rest is read."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from mage._core.progress import progress_bar
from mage.experiments.engines import Engine, EngineError, LocalEngine
from mage.experiments.plan import Batch, Plan
from mage.experiments.store import Store

_POLL_SECONDS = 0.2


def run_plan(
    plan: Plan,
    store: Store,
    engine: Engine[Batch] | None = None,
    progress: bool | None = None,
    on_part: Callable[[Batch], None] | None = None,
) -> None:
    """Compute what is missing; several runs may share a store, and divide the work between them.

    Args:
        plan: The work.
        store: Where finished parts are.
        engine: Where to compute; by default one process a core.
        progress: Show a progress bar; by default on a terminal only.
        on_part: Called after each part that this run finished.
    """
    missing = plan.missing(store)
    if not missing:
        return
    engine = engine or LocalEngine()
    engine.prepare()
    payload, waiting = plan.payload(missing)
    held: dict[str, int] = {}
    try:
        with progress_bar(plan.experiment.title, len(waiting), progress) as advance:
            while waiting:
                busy: list[Batch] = []
                claimed = _claimed(waiting, store, held, busy)
                # Engines are costly to start; where others hold all that is left, there is nothing to start one for.
                first = next(claimed, None)
                jobs = itertools.chain([first], claimed) if first is not None else iter(())
                for batch, records in engine.run(payload, jobs) if first is not None else ():
                    store.write(batch.key, records)
                    store.release(batch.key, held.pop(batch.key))
                    advance(1)
                    if on_part is not None:
                        on_part(batch)
                # Batches that another run holds come back at the end, in case that it dies.
                waiting = [batch for batch in busy if not store.has(batch.key)]
                advance(len(busy) - len(waiting))
                if waiting:
                    time.sleep(_POLL_SECONDS)
        if held:
            raise EngineError(f"the engine lost {len(held)} batches; run again to compute them")
    finally:
        for key, handle in held.items():
            store.release(key, handle)


def _claimed(batches: list[Batch], store: Store, held: dict[str, int], busy: list[Batch]) -> Iterator[Batch]:
    """Batches that this run may compute, locked as they are taken; those of other runs go to ``busy``."""
    for batch in batches:
        handle = store.claim(batch.key)
        if handle is None:
            busy.append(batch)
        elif store.has(batch.key):
            store.release(batch.key, handle)
        else:
            held[batch.key] = handle
            yield batch


def open_store(folder: str | Path | None = None) -> Store:
    """The store in a folder; by default ``mage-results`` in the current one."""
    return Store(folder if folder is not None else "mage-results")
