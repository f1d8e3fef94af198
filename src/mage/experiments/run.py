"""Running an experiment: what is missing in the store is computed, on any engine, and the rest is read."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mage._core.progress import progress_bar
from mage.experiments.engines import Engine, EngineError, LocalEngine, Payload
from mage.experiments.sources import Source
from mage.experiments.spec import Column, Experiment, Method
from mage.experiments.store import Record, Store
from mage.experiments.work import Batch, Subject, batch_key, run_batch

_POLL_SECONDS = 0.2


@dataclass
class Shared:
    """What all batches of a run share.

    Args:
        subjects: Models with graphs.
        explainers: Explainers by subject, method and seed; fitted where they need it.
    """

    subjects: list[Subject]
    explainers: dict[tuple[int, str, int], Any]

    def to(self, device: str) -> None:
        """Move the models to a device."""
        for subject in self.subjects:
            subject.model.to(device)


def _run_batch(shared: Shared, batch: Batch) -> list[Record]:
    return run_batch(shared.subjects[batch.subject], shared.explainers[_name(batch)], batch)


@dataclass
class Plan:
    """The work of an experiment.

    Args:
        experiment: The experiment.
        subjects: Models with graphs, one a column that could be loaded.
        batches: All work, finished or not.
        gaps: What cannot be done, with the reason: by dataset, model and method.
    """

    experiment: Experiment
    subjects: list[Subject]
    batches: list[Batch]
    gaps: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def missing(self, store: Store) -> list[Batch]:
        """Batches that are not in the store."""
        return [batch for batch in self.batches if not store.has(batch.key)]

    def records(self, store: Store) -> list[Record]:
        """The finished records of this experiment."""
        return store.read([batch.key for batch in self.batches])


def make_plan(
    experiment: Experiment,
    source: Source | None = None,
    graphs: int | None = None,
    batch_size: int = 4,
) -> Plan:
    """Load models and graphs and cut the work into batches.

    Args:
        experiment: The experiment.
        source: Where models and graphs come from; by default the zoo and the registry of datasets.
        graphs: Explain only the first so many graphs of each dataset.
        batch_size: Graphs in a batch.
    """
    from mage import explainers

    source = source or Source()
    plan = Plan(experiment, [], [])
    for column in experiment.columns:
        try:
            subject = source.subject(column.dataset, column.model, graphs)
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            for method in experiment.methods:
                plan.gaps[column.dataset, column.model, method.name] = str(error)
            continue
        plan.subjects.append(subject)
        for method in experiment.methods:
            if method.explainer not in explainers.names():
                reason = f"the explainer {method.explainer!r} is not registered"
                plan.gaps[column.dataset, column.model, method.name] = reason
                continue
            plan.batches += _batches(len(plan.subjects) - 1, subject, column, method, experiment.seeds, batch_size)
    return plan


def _batches(
    number: int, subject: Subject, column: Column, method: Method, seeds: Sequence[int], size: int
) -> Iterator[Batch]:
    # In the order of the test part, so that a run of fewer graphs shares its batches with a longer one.
    every = list(subject.graphs)
    for seed in seeds:
        for start in range(0, len(every), size):
            positions = tuple(every[start : start + size])
            key = batch_key(subject, method, seed, positions, column.metrics)
            yield Batch(number, method, seed, positions, column.metrics, key)


def run_plan(
    plan: Plan,
    store: Store,
    engine: Engine[Batch] | None = None,
    source: Source | None = None,
    progress: bool | None = None,
    on_part: Callable[[Batch], None] | None = None,
) -> None:
    """Compute what is missing; several runs may share a store, and divide the work between them.

    Args:
        plan: The work.
        store: Where finished parts are.
        engine: Where to compute; by default one process a core.
        source: Where explainers that learn find their training graphs.
        progress: Show a progress bar; by default on a terminal only.
        on_part: Called after each part that this run finished.
    """
    missing = plan.missing(store)
    if not missing:
        return
    engine = engine or LocalEngine()
    engine.prepare()
    shared = Shared(plan.subjects, _explainers(plan, missing, source or Source()))
    missing = [batch for batch in missing if _name(batch) in shared.explainers]
    held: dict[str, int] = {}
    try:
        with progress_bar(plan.experiment.title, len(missing), progress) as advance:
            # Lists, because batches that another run holds come back at the end.
            waiting = list(missing)
            while waiting:
                busy: list[Batch] = []
                claimed = _claimed(waiting, store, held, busy)
                # Engines are costly to start; where others hold all that is left, there is nothing to start one for.
                first = next(claimed, None)
                jobs = itertools.chain([first], claimed) if first is not None else iter(())
                payload = Payload(_run_batch, shared)
                for batch, records in engine.run(payload, jobs) if first is not None else ():
                    store.write(batch.key, records)
                    store.release(batch.key, held.pop(batch.key))
                    advance(1)
                    if on_part is not None:
                        on_part(batch)
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


def _explainers(plan: Plan, missing: Sequence[Batch], source: Source) -> dict[tuple[int, str, int], Any]:
    from mage import explainers

    made: dict[tuple[int, str, int], Any] = {}
    refused: set[tuple[int, str, int]] = set()
    for batch in missing:
        name = _name(batch)
        if name in made or name in refused:
            continue
        subject = plan.subjects[batch.subject]
        try:
            explainer = explainers.get(batch.method.explainer, **batch.method.parameters_on(subject.dataset))
            if explainer.needs_training:
                explainer.fit(subject.model, source.dataset(subject.dataset), batch.seed)
        except (ValueError, ImportError) as error:
            # One method that cannot be made or taught is a gap in the table; the others go on.
            refused.add(name)
            plan.gaps[subject.dataset, subject.model_name, batch.method.name] = str(error)
            continue
        made[name] = explainer
    return made


def _name(batch: Batch) -> tuple[int, str, int]:
    return (batch.subject, batch.method.name, batch.seed)


def open_store(folder: str | Path | None = None) -> Store:
    """The store in a folder; by default ``mage-results`` in the current one."""
    return Store(folder if folder is not None else "mage-results")
