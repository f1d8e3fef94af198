"""What a store of ``mage benchmark`` holds, as the cells of the tables it belongs to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mage._core.archive import DAMAGE
from mage._core.optional import require
from mage.experiments import Cell, Column, Experiment, Method, experiment_names, load_experiment, paper_figures
from mage.experiments.spec import METRICS
from mage.experiments.tables import _PAPER_METRIC
from mage.metrics import summarise

STUDY = "group-attribution"
"""Folder of the study of images within a store; its records have other columns."""
Record = dict[str, Any]
Name = tuple[str, str, str]
"""Dataset, model, method."""


def read_parts(paths: Sequence[Path]) -> tuple[list[Record], list[tuple[str, str]]]:
    """The records of finished parts, and the files that could not be read with the reason."""
    parquet = require("pyarrow.parquet", "benchmark")
    records: list[Record] = []
    skipped: list[tuple[str, str]] = []
    for path in paths:
        try:
            found = parquet.read_table(path).to_pylist()
            for record in found:
                if not all(isinstance(record[name], str) for name in ("dataset", "model", "method")):
                    raise ValueError("a record does not name its dataset, model and method")
            records += found
        except DAMAGE as error:
            skipped.append((path.name, str(error).splitlines()[0].replace(str(path), path.name)))
    return records, skipped


def tables(records: Sequence[Record]) -> list[tuple[Experiment, list[Cell]]]:
    """The experiments that records belong to, with the cells that have some.

    A store does not keep the names of experiments. The fewest that show all records are taken; what belongs to none
    is a table of its own.
    """
    by_name: dict[Name, list[Record]] = {}
    for record in records:
        by_name.setdefault((record["dataset"], record["model"], record["method"]), []).append(record)
    known = {name: load_experiment(name) for name in experiment_names()}
    left, chosen = set(by_name), []
    while left:
        gains = {name: len(_names(experiment) & left) for name, experiment in known.items()}
        best = max(gains, key=lambda name: (gains[name], -len(_names(known[name]))))
        if not gains[best]:
            chosen.append(_own_experiment(left, by_name))
            break
        chosen.append(known[best])
        left -= _names(known[best])
    return [(experiment, _cells(experiment, by_name)) for experiment in chosen]


def study_cells_of(records: Sequence[Record]) -> list[Cell]:
    """The cells of the study of images, and the paper's own networks where ours are others."""
    from mage.experiments.group_attribution_table import study_cells

    subjects: dict[tuple[str, str], set[str]] = {}
    for record in records:
        subjects.setdefault((record["dataset"], record["model"]), set()).add(record["image"])
    own = study_cells(records, [(*subject, len(images)) for subject, images in sorted(subjects.items())])
    if not any(cell.paper is not None for cell in own):
        networks = sorted({(key[1], key[2]) for key in paper_figures() if key[4].startswith("infid")})
        own += study_cells([], [(*network, 0) for network in networks])
    known = {(cell.column, cell.metric) for cell in own if cell.paper is not None or cell.ours is not None}
    columns = {
        cell.column: replace(cell.column, metrics=tuple(m for m in cell.column.metrics if (cell.column, m) in known))
        for cell in own
    }
    return [replace(cell, column=columns[cell.column]) for cell in own if (cell.column, cell.metric) in known]


def mixed(records: Sequence[Record]) -> list[str]:
    """Results of which the store holds several a graph and seed (or an image): other weights, settings or versions."""
    seen: dict[tuple[Name, Any], set[tuple[Any, ...]]] = {}
    for record in records:
        where = record["image"] if "image" in record else (record["graph"], record["seed"])
        key = ((record["dataset"], record["model"], record["method"]), where)
        seen.setdefault(key, set()).add((record.get("nodes"), record.get("infid_plus"), record["queries"]))
    return sorted({" ".join(name) for (name, _), results in seen.items() if len(results) > 1})


def _names(experiment: Experiment) -> set[Name]:
    return {
        (column.dataset, column.model, method.name) for column in experiment.columns for method in experiment.methods
    }


def _own_experiment(names: set[Name], by_name: dict[Name, list[Record]]) -> Experiment:
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
            Column(*subject, tuple(metric for metric in METRICS if metric in columns[subject]))
            for subject in sorted(columns)
        ),
        tuple(Method(method, method, title=method) for method in sorted({name[2] for name in names})),
    )


def _cells(experiment: Experiment, by_name: dict[Name, list[Record]]) -> list[Cell]:
    made = []
    for column in experiment.columns:
        rows = [(method, by_name.get((column.dataset, column.model, method.name), [])) for method in experiment.methods]
        found = [record for _, records in rows for record in records]
        metrics = tuple(m for m in column.metrics if any(_number(record.get(m)) is not None for record in found))
        kept = replace(column, metrics=metrics)
        made += [_cell(experiment, kept, method, metric, own) for method, own in rows if own for metric in metrics]
    return made


def _cell(experiment: Experiment, column: Column, method: Method, metric: str, records: list[Record]) -> Cell:
    usable = [record for record in records if not record.get("error")]
    errors = sorted({record["error"] for record in records if record.get("error")})
    # Seeds of one graph are no independent witnesses: the error is over graphs, of their means over seeds. A part that
    # did not measure the metric says nothing about it.
    by_graph: dict[int, list[float]] = {}
    for record in usable:
        if record.get(metric) is not None:
            by_graph.setdefault(record["graph"], []).append(float(record[metric]))
    values = [float(np.mean(own)) for own in by_graph.values()]
    return Cell(
        column,
        method,
        metric,
        summarise(values) if values else None,
        _paper(experiment, column, method, metric),
        "; ".join(errors),
        len(by_graph),
        len({record["graph"] for record in records}),
        len(records) - len(usable),
    )


def _paper(experiment: Experiment, column: Column, method: Method, metric: str) -> float | None:
    """The paper's figure: of the experiment's own tables first, for others may know a method that these do not have."""
    figures = paper_figures()
    order = [*experiment.tables, *sorted({key[0] for key in figures} - set(experiment.tables))]
    name = (column.dataset, column.model, method.name, _PAPER_METRIC.get(metric, metric))
    return next((figures[table, *name] for table in order if (table, *name) in figures), None)


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not math.isnan(value) else None
