"""Cells of an experiment's tables: our figures and the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mage.experiments.paper import paper_figure, paper_figures, paper_model
from mage.experiments.plan import CellName, Plan
from mage.experiments.records import Record, item_of
from mage.experiments.spec import Column, Experiment, Method
from mage.experiments.store import Store
from mage.metrics import METRICS, Metric, Summary, find_metric, summarise


@dataclass(frozen=True)
class Cell:
    """One metric of one method on one dataset and model.

    Args:
        column: The dataset with its model.
        method: The method.
        metric: Name of the metric.
        ours: Our mean, its error and what it rests on; None where there is nothing.
        paper: The paper's figure, if it has one.
        gap: Why there is nothing, where the method did not run.
        results: Number of graphs or images with a result, times seeds.
        expected: Number of graphs or images in the experiment, times seeds.
        failed: Number of graphs that the method refused or failed on, times seeds; ``gap`` says why.
    """

    column: Column
    method: Method
    metric: str
    ours: Summary | None = None
    paper: float | None = None
    gap: str = ""
    results: int = 0
    expected: int = 0
    failed: int = 0

    @property
    def kind(self) -> Metric:
        """The metric itself."""
        return find_metric(self.metric)

    @property
    def title(self) -> str:
        """Name of the method, to display."""
        return self.method.title or self.method.name

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.ours is None or self.paper is None or math.isnan(self.ours.mean):
            return None
        return self.ours.mean - self.paper

    @property
    def ours_text(self) -> str:
        """Our figure with its error, as text."""
        if self.ours is None:
            return "–"
        error = self.ours.std_error
        return self.kind.text(self.ours.mean) + ("" if math.isnan(error) else f" ± {self.kind.text(error)}")

    @property
    def paper_text(self) -> str:
        """The paper's figure, as text; empty if there is none."""
        return "" if self.paper is None else self.kind.text(self.paper)


def by_cell(records: Sequence[Record]) -> dict[CellName, list[Record]]:
    """Records by dataset, model and method."""
    groups: dict[CellName, list[Record]] = {}
    for record in records:
        groups.setdefault((record["dataset"], record["model"], record["method"]), []).append(record)
    return groups


def cells(plan: Plan, store: Store) -> list[Cell]:
    """All cells of an experiment's table, methods in their order within each column."""
    records, expected = by_cell(plan.records(store)), plan.count(plan.batches)
    table = []
    for column in plan.experiment.columns:
        for method in plan.experiment.methods:
            name = (column.dataset, column.model, method.name)
            results, gap = records.get(name, []), plan.gaps.get(name, "")
            count = expected.get(name, 0)
            table += [
                make_cell(plan.experiment, column, method, metric, results, gap, count) for metric in column.metrics
            ]
    return [*table, *paper_cells(plan.experiment)]


def make_cell(
    experiment: Experiment,
    column: Column,
    method: Method,
    metric: str,
    records: Sequence[Record],
    gap: str = "",
    expected: int = 0,
) -> Cell:
    """One cell from the records of its dataset, model and method; ``gap`` says why there are none."""
    errors = sorted({record["error"] for record in records if record.get("error")})
    usable = [record for record in records if not record.get("error")]
    # Seeds of one graph are no independent witnesses: the error is over graphs, of their means over seeds. A record
    # that did not measure the metric says nothing about it.
    values: dict[int | str, list[float]] = {item_of(record): [] for record in usable}
    for record in usable:
        if record.get(metric) is not None:
            values[item_of(record)].append(float(record[metric]))
    means = [float(np.mean(numbers)) if numbers else math.nan for numbers in values.values()]
    return Cell(
        column,
        method,
        metric,
        summarise(means) if usable else None,
        paper_figure(experiment.tables, column.dataset, column.model, method.name, metric),
        gap or "; ".join(errors) or ("" if usable else "not run yet"),
        len(usable),
        expected,
        len(records) - len(usable),
    )


def paper_cells(experiment: Experiment) -> Iterator[Cell]:
    """The paper's figures on its own networks, where it has none for any network of an experiment."""
    figures = {name[1:]: value for name, value in paper_figures().items() if name[0] in experiment.tables}
    networks = list(dict.fromkeys((dataset, model) for dataset, model, _, _ in figures))
    if any((column.dataset, paper_model(column.model)) in networks for column in experiment.columns):
        return
    for dataset, model in networks:
        measured = {metric for *network, _, metric in figures if network == [dataset, model]}
        column = Column(dataset, model, tuple(metric for metric in METRICS if metric in measured))
        for method in experiment.methods:
            for metric in column.metrics:
                figure = figures.get((dataset, model, method.name, metric))
                yield Cell(column, method, metric, None, figure, "the paper's own network")
