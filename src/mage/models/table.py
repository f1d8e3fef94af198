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
from mage.models.checkpoints import describe, load_checkpoint, save_checkpoint
from mage.models.recipes import TrainingPlan, architecture, plan
from mage.models.training import train

# The paper's GAT does not learn sets whose nodes all look alike: attention over equal neighbours sees no structure.
_NO_GAT = {"ba_2motifs", "ba_house_grid", "ba_house_and_grid", "ba_house_or_grid"}


@dataclass(frozen=True)
class Task:
    """A network to train.

    Args:
        dataset: Name of the dataset.
        kind: ``"gcn"``, ``"gin"`` or ``"gat"``.
        seed: Seed of the weights and of the order of graphs.
        settings: How to train.
    """

    dataset: str
    kind: str
    seed: int
    settings: TrainingPlan

    def path(self, folder: Path) -> Path:
        """Where its checkpoint belongs."""
        return folder / f"{self.dataset}_{self.kind}.safetensors"


def table_tasks(seed: int = 0, chosen: Iterable[str] | None = None) -> list[Task]:
    """The networks of table 5, the longest trainings first; GAT only where the paper's is above chance."""
    names = [name for name in datasets.names() if datasets.card(name).paper is not None]
    if chosen is not None:
        names = [datasets.card(name).name for name in chosen]
    slow = {"mnist75sp": 0, "graph_sst2": 1, "spmotif": 2, "benzene": 3}
    tasks = [
        Task(name, kind, seed, plan(name, kind))
        for name in names
        for kind in ("gat", "gin", "gcn")
        if kind != "gat" or name not in _NO_GAT
    ]
    return sorted(tasks, key=lambda task: slow.get(task.dataset, 9))


def known(task: Task, folder: Path, root: str | Path | None = None) -> dict[str, Any] | None:
    """What an earlier run wrote of the same training, or None.

    A network that was trained on generated graphs does not count where the published files are here now.
    """
    path = task.path(folder)
    if not path.is_file():
        return None
    try:
        about: dict[str, Any] = json.loads(path.with_suffix(".json").read_text())
        network = about["architecture"]
        expected = architecture(task.dataset, task.kind, network["num_features"], network["num_classes"])
        same = about["seed"] == task.seed and about["plan"] == task.settings.to_dict()
        load_checkpoint(path)  # a file that is not whole is no result
        entry = datasets.card(task.dataset)
        published = entry.source is not None and not datasets.where(task.dataset, root).startswith("not here")
        stale = published and str(about["dataset_origin"]).startswith("generated")
        return about if same and not stale and expected.items() <= network.items() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_task(task: Task, folder: Path, root: str | Path | None = None, progress: bool | None = None) -> dict[str, Any]:
    """Train one network and keep its checkpoint; what is written about it, with the seconds taken."""
    dataset = datasets.load(task.dataset, root)
    started = perf_counter()
    trained = train(dataset, task.kind, seed=task.seed, settings=task.settings, progress=progress)
    about = {**describe(trained, dataset), "seconds": round(perf_counter() - started, 1)}
    save_checkpoint(task.path(folder), trained.model, about)
    return about


def _quiet_task(task: Task, folder: Path, root: str | Path | None) -> dict[str, Any]:
    return run_task(task, folder, root, progress=False)


def run_table(
    tasks: list[Task],
    folder: Path,
    root: str | Path | None = None,
    workers: int | None = None,
    on_done: Callable[[Task, dict[str, Any], bool], None] | None = None,
) -> dict[tuple[str, str], dict[str, Any]]:
    """Train many networks; those that an earlier run finished are not trained again.

    Args:
        tasks: The networks.
        folder: Where checkpoints are kept.
        root: See :func:`mage.datasets.load`.
        workers: Processes; by default one a core.
        on_done: Called when a network is there, with what is known about it and whether it was there before.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    waiting = []
    for task in tasks:
        about = known(task, folder, root)
        if about is None:
            waiting.append(task)
            continue
        found[task.dataset, task.kind] = about
        if on_done is not None:
            on_done(task, about, True)
    processes = min(workers or os.cpu_count() or 1, len(waiting))
    # Graphs that take long to make are made once, by all cores, before the workers want them.
    for name in {task.dataset for task in waiting}:
        if "workers" in datasets.card(name).options:
            datasets.load(name, root, workers=workers or os.cpu_count() or 1)
    if not waiting:
        return found
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        running = {pool.submit(_quiet_task, task, folder, root): task for task in waiting}
        for future in as_completed(running):
            task = running[future]
            about = found[task.dataset, task.kind] = future.result()
            if on_done is not None:
                on_done(task, about, False)
    return found
