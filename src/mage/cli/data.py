"""Commands for what is explained: ``mage datasets`` and ``mage train``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from mage._core.optional import require
from mage.cli._app import app, cli_errors

if TYPE_CHECKING:
    from mage.models.zoo_training import TrainingTask


@app.command()
def datasets(
    check: Annotated[bool, typer.Option("--check", help="Load each and print it beside the paper's table 4.")] = False,
    only: Annotated[str | None, typer.Option(help="Names to check, with commas between.")] = None,
    root: Annotated[Path | None, typer.Option(help="Folder with published files; MAGE_DATA by default.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that make graphs; one a core by default.")] = None,
) -> None:
    """List the datasets: size, source, licence, where they are on this machine."""
    console = Console()
    with cli_errors():
        require("torch_geometric", "pyg")
        from mage.datasets.registry import info
        from mage.datasets.statistics import dataset_statistics, datasets_table, remarks, statistics_table

        chosen = [name.strip() for name in only.split(",")] if only else None
        for name in chosen or ():
            info(name)  # refuses names that there are not
        if not check:
            if chosen is not None:
                raise ValueError("--only goes with --check")
            console.print(datasets_table(root))
            return
        rows = list(dataset_statistics(chosen, root, workers or os.cpu_count() or 1))
        console.print(statistics_table(rows))
        for line in remarks(rows):
            console.print(line, soft_wrap=True, markup=False, highlight=False)


@app.command()
def train(
    dataset: Annotated[str | None, typer.Argument(help="Name of a dataset; see mage datasets.")] = None,
    model: Annotated[str, typer.Option(help="gcn, gin or gat.")] = "gin",
    all_table: Annotated[
        bool, typer.Option("--all-table", help="Train all networks of the paper's table 5 that are not there yet.")
    ] = False,
    only: Annotated[str | None, typer.Option(help="With --all-table: these datasets, with commas between.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for checkpoints.")] = Path("models"),
    seed: Annotated[int, typer.Option(help="Seed of the weights and of the order of graphs.")] = 0,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data, instead of the plan's.")] = None,
    root: Annotated[Path | None, typer.Option(help="Folder with published files; MAGE_DATA by default.")] = None,
    workers: Annotated[int | None, typer.Option(help="With --all-table: processes, one a core by default.")] = None,
) -> None:
    """Train a network of the paper on a dataset and print its accuracy beside the paper's.

    The checkpoint is two files: DATASET_MODEL.safetensors and DATASET_MODEL.json. With --all-table, networks that an
    earlier run finished are not trained again.
    """
    with cli_errors():
        if all_table == (dataset is not None):
            raise ValueError("dataset: give the name of one dataset, or --all-table")
        if epochs is not None and epochs < 1:
            raise ValueError(f"--epochs must be at least 1, got {epochs}")
        require("torch_geometric", "pyg")
        from mage.models.zoo_training import TrainingTask, finished, run_task, run_tasks, table_tasks

        console = Console()
        if all_table:
            tasks = table_tasks(seed, only.split(",") if only else None)
        else:
            tasks = [TrainingTask.of(str(dataset), model, seed)]
        if epochs is not None:
            tasks = [replace(task, plan=replace(task.plan, epochs=epochs)) for task in tasks]
        if all_table:
            records = run_tasks(tasks, output, root, workers, lambda *done: _say(console, *done))
        else:
            (task,) = tasks
            about = finished(task, output, root)
            records = {(task.dataset, task.kind): about or run_task(task, output, root)}
        console.print(_accuracy_table(records))
        if not all_table:
            console.print(f"checkpoint: {tasks[0].path(output)}", soft_wrap=True, markup=False, highlight=False)


def _say(console: Console, task: TrainingTask, about: dict[str, Any], before: bool) -> None:
    taken = "kept from before" if before else f"{about['seconds']:.0f} s"
    console.print(
        f"{task.dataset} {task.kind}: test accuracy {about['accuracy']['test']:.2%}, {taken}", highlight=False
    )


def _accuracy_table(records: dict[tuple[str, str], dict[str, Any]]) -> Table:
    from mage.datasets import info

    table = Table(title="test accuracy in %: ours / table 5 of the paper")
    for column in ("dataset", "model", "ours", "paper", "difference", "best epoch", "seconds"):
        table.add_column(column)
    for (dataset, kind), about in sorted(records.items()):
        ours = 100 * about["accuracy"]["test"]
        paper = info(dataset).paper
        beside = ("", "") if paper is None else (f"{paper.accuracy[kind]:.2f}", f"{ours - paper.accuracy[kind]:+.2f}")
        epoch = f"{about['best_epoch']} of {about['epochs']}"
        table.add_row(dataset, kind, f"{ours:.2f}", *beside, epoch, f"{about.get('seconds', float('nan')):.0f}")
    if records:
        seconds = sum(about.get("seconds", 0) for about in records.values())
        table.caption = f"{seconds / 60:.0f} minutes of one core in all"
    return table
