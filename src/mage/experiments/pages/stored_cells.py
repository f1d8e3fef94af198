"""What a store of ``mage benchmark`` holds, as the cells of the tables it belongs to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mage.experiments.cells import Cell, by_cell, make_cell, paper_cells
from mage.experiments.plan import CellName
from mage.experiments.records import Record, item_of, read_records
from mage.experiments.spec import Column, Experiment, Method, experiment_names, load_experiment
from mage.experiments.store import PACKS, PARTS, read_part
from mage.metrics import METRICS


def result_files(folder: Path) -> list[Path]:
    """The files of a store that hold records: packs and loose parts."""
    return [path for name in (PACKS, PARTS) for path in sorted((folder / name).glob("*.parquet"))]


def read_parts(paths: Sequence[Path]) -> tuple[list[Record], list[tuple[str, str]]]:
    """The records of finished parts and packs, and the files that could not be read with the reason."""
    records: list[Record] = []
    skipped: list[tuple[str, str]] = []
    for path in paths:
        try:
            part = read_part(path) if path.parent.name == PARTS else read_records(path)
            if not all(isinstance(record[name], str) for record in part for name in ("dataset", "model", "method")):
                raise ValueError("a record does not name its dataset, model and method")
        except (ValueError, OSError) as error:
            skipped.append((path.name, str(error)))
        else:
            records += part
    return records, skipped


def tables(records: Sequence[Record]) -> list[tuple[Experiment, list[Cell]]]:
    """The experiments that records belong to, with the cells that have some.

    A store does not keep the names of experiments. The fewest that show all records are taken; what belongs to none
    is a table of its own.
    """
    by_name = by_cell(records)
    experiments = {name: load_experiment(name) for name in experiment_names()}
    for name, experiment in experiments.items():
        models = [model for dataset, model, _ in sorted(by_name) if dataset == experiment.other_models_on]
        experiments[name] = experiment.with_models(models)
    left, ordered = set(by_name), []
    while left:
        gains = {name: len(_names(experiment) & left) for name, experiment in experiments.items()}
        best = max(gains, key=lambda name: (gains[name], -len(_names(experiments[name]))))
        if not gains[best]:
            ordered.append(_other_experiment(left, by_name))
            break
        ordered.append(experiments[best])
        left -= _names(experiments[best])
    return [(experiment, _cells(experiment, by_name)) for experiment in ordered]


def mixed(records: Sequence[Record]) -> list[str]:
    """Results of which the store holds several a graph (or image) and seed: other weights, settings or versions."""
    variants: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
    for name, group in by_cell(records).items():
        for record in group:
            results = (record.get("nodes"), record.get("infid_plus"), record["queries"])
            variants.setdefault((name, item_of(record), record["seed"]), set()).add(results)
    return sorted({" ".join(name) for (name, *_), results in variants.items() if len(results) > 1})


def _names(experiment: Experiment) -> set[CellName]:
    return {
        (column.dataset, column.model, method.name) for column in experiment.columns for method in experiment.methods
    }


def _other_experiment(names: set[CellName], by_name: dict[CellName, list[Record]]) -> Experiment:
    """An experiment for records that are part of no other."""
    columns: dict[tuple[str, str], set[str]] = {}
    for name in names:
        filled = {metric for record in by_name[name] for metric in METRICS if record.get(metric) is not None}
        columns.setdefault(name[:2], set()).update(filled)
    return Experiment(
        "others",
        "Other results",
        (),
        tuple(
            Column(*network, tuple(metric for metric in METRICS if metric in columns[network]))
            for network in sorted(columns)
        ),
        tuple(Method(method, method, title=method) for method in sorted({name[2] for name in names})),
    )


def _cells(experiment: Experiment, by_name: dict[CellName, list[Record]]) -> list[Cell]:
    """The cells of methods that have records, without metrics that no record has; the paper's networks at the end."""
    table = []
    for column in experiment.columns:
        rows = [(method, by_name.get((column.dataset, column.model, method.name), [])) for method in experiment.methods]
        results = [record for _, records in rows for record in records]
        metrics = tuple(name for name in column.metrics if any(_is_number(record.get(name)) for record in results))
        filled = replace(column, metrics=metrics)
        table += [
            make_cell(experiment, filled, method, metric, records)
            for method, records in rows
            if records
            for metric in metrics
        ]
    return [*table, *paper_cells(replace(experiment, columns=tuple(dict.fromkeys(cell.column for cell in table))))]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)
