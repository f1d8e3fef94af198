"""Commands for what is explained: ``mage datasets`` and ``mage train``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from mage._core.optional import require
from mage.cli._app import announce, app, cli_errors, print_json, say_written
from mage.cli._console import SafeConsole
from mage.cli._results import AsJson

if TYPE_CHECKING:
    from mage.models.zoo_training import TrainingTask


Root = Annotated[Path | None, typer.Option(help="Folder with published files; the variable MAGE_DATA by default.")]


@app.command()
def datasets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Datasets to describe in full: source, licence, place.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Load the datasets and compare them with the paper's table 4.", metavar="")
    ] = False,
    root: Root = None,
    workers: Annotated[
        int | None, typer.Option(help="With --check: processes that make graphs; one per core by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the datasets, or describe some of them."""
    console = SafeConsole()
    with cli_errors():
        from mage.datasets import info
        from mage.datasets.listing import dataset_card, dataset_record, datasets_table

        entries = [info(name) for name in names or info_names()]
        if not check:
            if as_json:
                print_json([dataset_record(entry, root) for entry in entries])
            elif names:
                for entry in entries:
                    console.print(dataset_card(entry, root), soft_wrap=True)
            else:
                console.print(datasets_table(root))
                console.print("mage datasets NAME shows the source, the licence and the place of one.")
            return
        announce("loading the datasets")
        require("torch_geometric", "pyg")
        from mage.datasets.statistics import dataset_statistics, remarks, statistics_record, statistics_table

        rows = list(dataset_statistics(names, root, workers or os.cpu_count() or 1))
        if as_json:
            print_json([statistics_record(row) for row in rows])
            return
        console.print(statistics_table(rows))
        for line in remarks(rows):
            console.print(line, soft_wrap=True, markup=False, highlight=False)


def info_names() -> list[str]:
    """Names of all datasets."""
    from mage.datasets import names

    return names()


@app.command()
def train(
    dataset: Annotated[str | None, typer.Argument(help="Name of a dataset; see mage datasets.")] = None,
    model: Annotated[str, typer.Option(help="gcn, gin or gat.")] = "gin",
    all_table: Annotated[
        bool,
        typer.Option(
            "--all-table", help="Train all networks of the paper's table 5 that are not there yet.", metavar=""
        ),
    ] = False,
    only: Annotated[str | None, typer.Option(help="With --all-table: these datasets, separated by commas.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for checkpoints.")] = Path("models"),
    seed: Annotated[int, typer.Option(help="Seed of the weights and of the order of graphs.")] = 0,
    epochs: Annotated[int | None, typer.Option(help="Number of epochs, instead of that of the plan.")] = None,
    root: Root = None,
    workers: Annotated[int | None, typer.Option(help="With --all-table: processes; one per core by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train a network of the paper on a dataset, and print its accuracy beside the paper's.

    The checkpoint is two files: DATASET_MODEL.safetensors and DATASET_MODEL.json. With --all-table, networks that an
    earlier run finished are not trained again.
    """
    with cli_errors("interrupted; networks that were finished before are kept"):
        if all_table == (dataset is not None):
            raise ValueError("dataset: give the name of one dataset, or --all-table")
        for option, value in (("--only", only), ("--workers", workers)):
            if value is not None and not all_table:
                raise ValueError(f"{option} goes with --all-table")
        if epochs is not None and epochs < 1:
            raise ValueError(f"--epochs must be at least 1, got {epochs}")
        _check_names([str(dataset)] if dataset is not None else only.split(",") if only else [], model)
        announce("loading PyTorch and the data")
        require("torch_geometric", "pyg")
        from mage.models.zoo_training import TrainingTask, finished, run_task, run_tasks, table_tasks

        console = SafeConsole(stderr=as_json)
        if all_table:
            tasks = table_tasks(seed, only.split(",") if only else None)
        else:
            tasks = [TrainingTask.of(str(dataset), model, seed)]
        if epochs is not None:
            tasks = [replace(task, plan=replace(task.plan, epochs=epochs)) for task in tasks]
        if all_table:
            records = run_tasks(tasks, output, root, workers, lambda *record: _say(console, *record))
        else:
            (task,) = tasks
            announce(f"training {task.kind} on {task.dataset}")
            about = finished(task, output, root)
            records = {(task.dataset, task.kind): about or run_task(task, output, root)}
        if as_json:
            print_json([{"model": kind, **about} for (_, kind), about in sorted(records.items())])
        else:
            console.print(_accuracy_table(records))
        say_written(*(task.path(output) for task in tasks), as_json=as_json)


def _check_names(names: list[str], model: str) -> None:
    """Refuse names of datasets and networks that do not exist, before anything is loaded."""
    from mage.datasets import info

    for name in names:
        info(name).networks.training_plan(model)


def _say(console: SafeConsole, task: TrainingTask, about: dict[str, Any], before: bool) -> None:
    duration = "kept from before" if before else f"{about['seconds']:.0f} s"
    console.print(
        f"{task.dataset} {task.kind}: test accuracy {about['accuracy']['test']:.2%}, {duration}", highlight=False
    )


def _accuracy_table(records: dict[tuple[str, str], dict[str, Any]]) -> Table:
    from mage.datasets import info

    table = Table(title="test accuracy in %: ours and table 5 of the paper")
    for column in ("dataset", "model", "ours", "paper", "difference", "best epoch", "seconds"):
        table.add_column(column, justify="left" if column in {"dataset", "model"} else "right")
    for (dataset, kind), about in sorted(records.items()):
        ours = 100 * about["accuracy"]["test"]
        paper = info(dataset).paper
        beside = ("", "") if paper is None else (f"{paper.accuracy[kind]:.2f}", f"{ours - paper.accuracy[kind]:+.2f}")
        epoch = f"{about['best_epoch']} of {about['epochs']}"
        table.add_row(dataset, kind, f"{ours:.2f}", *beside, epoch, f"{about.get('seconds', float('nan')):.0f}")
    if records:
        seconds = sum(about.get("seconds", 0) for about in records.values())
        table.caption = f"{seconds / 60:.0f} minutes of one core in total"
    return table
