"""Training the networks of the paper's table 5, several at a time, each kept as soon as it is done."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from mage import datasets
from mage.datasets import TrainingPlan
from mage.models.checkpoints import load_checkpoint, save_checkpoint, training_record
from mage.models.training import train


@dataclass(frozen=True)
class TrainingTask:
    """A network to train.

    Args:
        dataset: Name of the dataset.
        kind: ``"gcn"``, ``"gin"`` or ``"gat"``.
        seed: Seed of the weights and of the order of graphs.
        plan: How to train.
    """

    dataset: str
    kind: str
    seed: int
    plan: TrainingPlan

    @classmethod
    def of(cls, dataset: str, kind: str, seed: int = 0) -> TrainingTask:
        """The task that follows the plan of the dataset."""
        return cls(dataset, kind, seed, datasets.info(dataset).networks.training_plan(kind))

    @property
    def work(self) -> float:
        """About how long the training takes, against others: nodes that are seen in it."""
        paper = datasets.info(self.dataset).paper
        return 0.0 if paper is None else paper.graphs * paper.nodes * self.plan.epochs

    def path(self, folder: Path) -> Path:
        """Where its checkpoint belongs."""
        return folder / f"{self.dataset}_{self.kind}.safetensors"


def table_tasks(seed: int = 0, names: Iterable[str] | None = None) -> list[TrainingTask]:
    """The networks of table 5, the longest trainings first; GAT only where the paper's is above chance."""
    if names is None:
        names = [name for name in datasets.names() if datasets.info(name).paper is not None]
    tasks = [TrainingTask.of(name, kind, seed) for name in names for kind in datasets.info(name).networks.kinds]
    return sorted(tasks, key=lambda task: -task.work)


def finished(task: TrainingTask, folder: Path, root: str | Path | None = None) -> dict[str, Any] | None:
    """What an earlier run wrote of the same training, or None.

    A network that was trained on generated graphs does not count where the published files are here now.
    """
    path = task.path(folder)
    if not path.is_file():
        return None
    try:
        about: dict[str, Any] = json.loads(path.with_suffix(".json").read_text())
        network = about["architecture"]
        entry = datasets.info(task.dataset)
        expected = entry.networks.architecture(task.kind, network["num_features"], network["num_classes"])
        same = about["seed"] == task.seed and about["plan"] == task.plan.to_dict()
        load_checkpoint(path)  # a file that is not whole is no result
        published = entry.source is not None and not datasets.where(task.dataset, root).startswith("not here")
        stale = published and str(about["dataset_origin"]).startswith("generated")
        return about if same and not stale and expected.items() <= network.items() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_task(
    task: TrainingTask, folder: Path, root: str | Path | None = None, progress: bool | None = None
) -> dict[str, Any]:
    """Train one network and keep its checkpoint; what is written about it, with the seconds taken."""
    dataset = datasets.load(task.dataset, root)
    started = perf_counter()
    trained = train(dataset, task.kind, seed=task.seed, plan=task.plan, progress=progress)
    about = {**training_record(trained, dataset), "seconds": round(perf_counter() - started, 1)}
    save_checkpoint(task.path(folder), trained.model, about)
    return about


def run_tasks(
    tasks: Iterable[TrainingTask],
    folder: Path,
    root: str | Path | None = None,
    workers: int | None = None,
    on_done: Callable[[TrainingTask, dict[str, Any], bool], None] | None = None,
) -> dict[tuple[str, str], dict[str, Any]]:
    """Train many networks; those that an earlier run finished are not trained again.

    Args:
        tasks: The networks.
        folder: Where checkpoints are kept.
        root: See :func:`mage.datasets.load`.
        workers: Processes; by default one per core.
        on_done: Called when a network is there, with what is known about it and whether it was there before.

    Returns:
        What is known about each network, by dataset and kind.
    """
    records: dict[tuple[str, str], dict[str, Any]] = {}
    say = on_done or (lambda _task, _about, _before: None)
    waiting = []
    for task in tasks:
        about = finished(task, folder, root)
        if about is None:
            waiting.append(task)
            continue
        records[task.dataset, task.kind] = about
        say(task, about, True)
    if not waiting:
        return records
    processes = workers or os.cpu_count() or 1
    # Graphs that take long to make are made once, by all cores, before the workers need them.
    for name in {task.dataset for task in waiting}:
        if "workers" in datasets.info(name).options:
            datasets.load(name, root, workers=processes).prepare()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(waiting)), mp_context=context) as pool:
        running = {pool.submit(run_task, task, folder, root, False): task for task in waiting}
        for future in as_completed(running):
            task = running[future]
            about = records[task.dataset, task.kind] = future.result()
            say(task, about, False)
    return records
