"""All tables: every cell of the paper's tables and of ours, what is finished of it, and how the rest is computed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from mage._core.checks import did_you_mean
from mage.experiments.engines import Engine
from mage.experiments.inputs import Inputs
from mage.experiments.plan import CellName, make_plan
from mage.experiments.records import Record, item_of
from mage.experiments.run import run_plan
from mage.experiments.spec import Column, Experiment, Method, load_experiment
from mage.experiments.store import Store

MethodName = tuple[str, str, str, str]
"""Dataset, model, method, parameters as JSON: what the records of a cell have in common."""


def method_name(column: Column, method: Method) -> MethodName:
    """What the records of a method have in common on a column."""
    parameters = json.dumps(method.parameters_on(column.dataset), sort_keys=True)
    return column.dataset, column.model, method.name, parameters


def by_method(records: Sequence[Record]) -> dict[MethodName, list[Record]]:
    """Records by dataset, model, method and parameters; one for each graph (or image) and seed."""
    groups: dict[MethodName, dict[tuple[Any, int], Record]] = {}
    for record in records:
        name = (record["dataset"], record["model"], record["method"], record.get("parameters") or "{}")
        groups.setdefault(name, {}).setdefault((item_of(record), record["seed"]), record)
    return {name: list(group.values()) for name, group in groups.items()}


@dataclass(frozen=True)
class TableCell:
    """A method on a dataset with a model: the work behind one or more cells of the tables.

    Args:
        experiment: The experiment with this column and this method only; it measures all that any table shows of it.
        graphs: Number of graphs or images.
    """

    experiment: Experiment
    graphs: int

    @property
    def name(self) -> MethodName:
        """What its records have in common."""
        return method_name(self.experiment.columns[0], self.experiment.methods[0])

    @property
    def wanted(self) -> int:
        """Number of results."""
        return self.graphs * len(self.experiment.seeds)


@dataclass(frozen=True)
class CellStatus:
    """How much of a cell is there.

    Args:
        cell: The cell.
        finished: Number of its results, at most as many as are wanted.
        failed: Number of graphs that failed.
        reason: Why the method has no result on some graph: what it cannot do, or an error.
    """

    cell: TableCell
    finished: int
    failed: int = 0
    reason: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether nothing is missing. What a method cannot do is not missing."""
        return self.finished >= self.cell.wanted


@dataclass(frozen=True)
class AllTables:
    """The tables.

    Args:
        experiments: Their experiments.
        cells: The work behind them, each only once: tables share methods.
        batch: Graphs in a part of the store.
    """

    experiments: tuple[Experiment, ...]
    cells: tuple[TableCell, ...]
    batch: int

    def restricted(
        self,
        datasets: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
    ) -> AllTables:
        """Only the cells of some datasets, models and methods."""
        selection = self.cells
        for place, (argument, names) in enumerate({"datasets": datasets, "models": models, "methods": methods}.items()):
            if names is None:
                continue
            choices = {cell.name[place] for cell in self.cells}
            if unknown := [name for name in names if name not in choices]:
                raise ValueError(
                    f"{argument}: {unknown[0]!r} is in no table; there are {', '.join(sorted(choices))}"
                    f"{did_you_mean(unknown[0], sorted(choices))}"
                )
            selection = tuple(cell for cell in selection if cell.name[place] in names)
        if not selection:
            raise ValueError("datasets, models, methods: no table has a cell of all of them")
        return replace(self, cells=selection)

    def status(self, records: Sequence[Record]) -> list[CellStatus]:
        """What is finished of each cell; needs neither data nor models."""
        groups = by_method(records)
        return [_status(cell, groups.get(cell.name, [])) for cell in self.cells]

    def run(
        self,
        store: Store,
        inputs: Inputs,
        engine: Engine | None = None,
        on_cell: Callable[[TableCell, Mapping[CellName, str]], None] | None = None,
        retry_failed: bool = False,
    ) -> dict[CellName, str]:
        """Compute what is missing.

        Args:
            store: Where results are.
            inputs: Where models and data come from.
            engine: Where to compute.
            on_cell: Called before each cell that is not finished.
            retry_failed: Compute parts again in which something failed.

        Returns:
            What could not be computed, with the reason.
        """
        gaps: dict[CellName, str] = {}
        for status in self.status(store.read(store.keys())):
            if status.is_finished and not (retry_failed and status.failed):
                continue
            if on_cell is not None:
                on_cell(status.cell, gaps)
            plan = make_plan(status.cell.experiment, inputs, status.cell.graphs, self.batch)
            run_plan(plan, store, engine, retry_failed=retry_failed)
            gaps |= plan.gaps
        return gaps


def load_tables() -> AllTables:
    """The tables that ``mage benchmark --all-tables`` computes."""
    content = tomllib.loads(resources.files("mage.experiments").joinpath("all_tables.toml").read_text())
    experiments = tuple(load_experiment(name) for name in content["experiments"])
    return AllTables(experiments, tuple(_cells(experiments, content)), content["batch"])


def _cells(experiments: Sequence[Experiment], content: Mapping[str, Any]) -> Iterator[TableCell]:
    whole: dict[MethodName, Experiment] = {}
    for experiment in experiments:
        for column in experiment.columns:
            for method in experiment.methods:
                name = method_name(column, method)
                single = replace(experiment, columns=(column,), methods=(method,))
                before = whole.setdefault(name, single)
                # A later table may show another metric of the same results.
                metrics = tuple(dict.fromkeys((*before.columns[0].metrics, *column.metrics)))
                whole[name] = replace(before, columns=(replace(column, metrics=metrics),))
    for (dataset, model, method_of_cell, _), experiment in whole.items():
        fewer = [
            rule["graphs"]
            for rule in content.get("fewer", ())
            if dataset in rule["datasets"] and ("methods" not in rule or method_of_cell in rule["methods"])
        ]
        seeds = [
            tuple(rule["seeds"])
            for rule in content.get("seeds", ())
            if [dataset, model] in rule["columns"] and method_of_cell in rule["methods"]
        ]
        with_seeds = replace(experiment, seeds=seeds[0]) if seeds else experiment
        yield TableCell(with_seeds, min([content["graphs"], *fewer]))


def _status(cell: TableCell, records: Sequence[Record]) -> CellStatus:
    seeds = set(cell.experiment.seeds)
    counted = [record for record in records if record["seed"] in seeds]
    failed = sum(bool(record.get("failure")) for record in counted)
    reason = next((str(record["error"]) for record in counted if record.get("error")), "")
    return CellStatus(cell, min(len(counted) - failed, cell.wanted), failed, reason)
