"""The work of an experiment: which batches there are, and how a batch is computed."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rich.table import Table

from mage._core.importing import load_name
from mage._version import __version__
from mage.experiments.engines import Failure, Payload
from mage.experiments.inputs import Inputs
from mage.experiments.procedures import PROCEDURES
from mage.experiments.records import Record
from mage.experiments.run_loop import Job
from mage.experiments.spec import Column, Experiment, Method
from mage.experiments.store import Store
from mage.metrics import find_metric, metrics_for

CellName = tuple[str, str, str]
"""Dataset, model, method."""


@dataclass(frozen=True)
class Batch:
    """Graphs or images that one worker takes at a time; its results are one part of the store.

    Args:
        testbed: Position of the testbed in its procedure.
        methods: The methods; all of them look at each item.
        seed: Their seed.
        items: Positions of graphs, or names of images.
        metrics: What is measured.
        key: Name of the part that results.
    """

    testbed: int
    methods: tuple[Method, ...]
    seed: int
    items: tuple[Any, ...]
    metrics: tuple[str, ...]
    key: str = field(compare=False)


@dataclass(frozen=True)
class Testbed:
    """A model with the graphs or images that methods are tried on.

    Args:
        dataset: Name of the dataset.
        model_name: Name of the model.
    """

    dataset: str
    model_name: str


class Procedure(ABC):
    """How the experiments of one kind are carried out: what is loaded, cut into batches, computed and shown.

    Args:
        experiment: The experiment.
        inputs: Where models and data come from.
    """

    items: ClassVar[str]
    """What methods are tried on, in the plural, for people."""
    item_headings: ClassVar[tuple[str, ...]]
    """Headings of a list of them."""
    case: ClassVar[type]
    """What metrics are measured on; see :class:`mage.metrics.Metric`."""

    def __init__(self, experiment: Experiment, inputs: Inputs) -> None:
        for metric in dict.fromkeys(name for column in experiment.columns for name in column.metrics):
            if self.case not in find_metric(metric).cases:
                choice = ", ".join(metrics_for(self.case))
                raise ValueError(f"metrics: {metric!r} is not measured here; choose of {choice}")
        self.experiment = experiment
        self.inputs = inputs
        self.testbeds: list[Any] = []

    @abstractmethod
    def load(self, column: Column, limit: int | None) -> Testbed:
        """The model of a column with its graphs or images, at most ``limit`` of them."""

    @abstractmethod
    def batches(self, number: int, column: Column, methods: Sequence[Method], size: int) -> Iterator[Batch]:
        """The work of one testbed, about ``size`` results in a batch."""

    def refusal(self, method: Method) -> str:  # noqa: ARG002 (what most procedures do not look at)
        """Why a method cannot be part of such an experiment; empty if it can."""
        return ""

    @abstractmethod
    def jobs(self, batch: Batch) -> Sequence[Job]:
        """What workers compute for a batch: one job for each item, in their order."""

    @abstractmethod
    def about_item(self, testbed: Any, item: Any) -> Record:
        """The fields of records that say which graph or image they are about."""

    @abstractmethod
    def prepare(self, batches: Sequence[Batch], gaps: dict[CellName, str]) -> tuple[Payload, list[Batch]]:
        """What workers get, and the batches that can be computed; reasons for others go to ``gaps``."""

    @abstractmethod
    def item_rows(self, testbed: Any) -> Iterator[tuple[str, ...]]:
        """What people want to know of each item, one text for each of :attr:`item_headings`."""

    def listing(self) -> Iterator[Table]:
        """Tables of what methods are tried on."""
        for testbed in self.testbeds:
            table = Table(*self.item_headings, title=f"{testbed.dataset}, {testbed.model_name}")
            for row in self.item_rows(testbed):
                table.add_row(*row)
            yield table

    def remarks(self) -> list[str]:
        """What people should know beside the figures."""
        return []

    def comparisons(self, records: Sequence[Record]) -> Iterator[Table]:  # noqa: ARG002 (likewise)
        """Further tables of finished records."""
        yield from ()


def further_metrics(metrics: Sequence[str]) -> list[str]:
    """Metrics that are not measured for all records, so that they are part of the name of a batch."""
    return sorted(name for name in metrics if not find_metric(name).always)


@dataclass
class Plan:
    """The work of an experiment.

    Args:
        experiment: The experiment.
        procedure: How it is carried out, with what was loaded.
        batches: All work, finished or not.
        gaps: What cannot be done, with the reason: by dataset, model and method.
    """

    experiment: Experiment
    procedure: Procedure
    batches: list[Batch] = field(default_factory=list)
    gaps: dict[CellName, str] = field(default_factory=dict)

    def missing(self, store: Store, retry_failed: bool = False) -> list[Batch]:
        """Batches that are not in the store; with ``retry_failed`` also those in which something failed."""
        retried = {record["part"] for record in self.failures(store)} if retry_failed else set()
        return [batch for batch in self.batches if batch.key in retried or not store.has(batch.key)]

    def records(self, store: Store) -> list[Record]:
        """The finished records of this experiment."""
        return store.read([batch.key for batch in self.batches])

    def failures(self, store: Store) -> list[Record]:
        """The records of graphs or images that failed: an error, a worker's death, or too long a time."""
        return [record for record in self.records(store) if record["failure"]]

    def batch_records(self, batch: Batch, results: Sequence[Any]) -> list[Record]:
        """The records of a batch from the results of its jobs, each a list for its methods or a ``Failure``."""
        testbed = self.procedure.testbeds[batch.testbed]
        records: list[Record] = []
        for item, result in zip(batch.items, results, strict=True):
            common = {"dataset": testbed.dataset, "model": testbed.model_name, "seed": batch.seed}
            common |= self.procedure.about_item(testbed, item)
            failed = isinstance(result, Failure)
            lines = [{"error": result.message, "failure": result.kind}] * len(batch.methods) if failed else result
            for method, fields in zip(batch.methods, lines, strict=True):
                parameters = json.dumps(method.parameters_on(testbed.dataset), sort_keys=True)
                about = {"method": method.name, "parameters": parameters, "version": __version__}
                records.append({**common, **about, "position": len(records), **fields})
        return records

    def count(self, batches: Sequence[Batch]) -> dict[CellName, int]:
        """Number of results in some batches, by dataset, model and method."""
        counts: dict[CellName, int] = {}
        for batch in batches:
            testbed = self.procedure.testbeds[batch.testbed]
            for method in batch.methods:
                name = (testbed.dataset, testbed.model_name, method.name)
                counts[name] = counts.get(name, 0) + len(batch.items)
        return counts

    def payload(self, batches: Sequence[Batch]) -> tuple[Payload, list[Batch]]:
        """What workers get, and the batches that can be computed; new gaps are added to :attr:`gaps`."""
        return self.procedure.prepare(batches, self.gaps)


def make_plan(
    experiment: Experiment, inputs: Inputs | None = None, limit: int | None = None, batch_size: int = 4
) -> Plan:
    """Load models and data and cut the work into batches.

    Args:
        experiment: The experiment.
        inputs: Where models and data come from; by default the zoo and the registry of datasets.
        limit: Take only the first so many graphs or images of each dataset.
        batch_size: Results in a batch.
    """
    make: type[Procedure] = load_name(f"mage.experiments.procedures.{PROCEDURES[experiment.procedure]}")
    procedure = make(experiment, inputs or Inputs())
    plan = Plan(experiment, procedure)
    for column in experiment.columns:
        usable_methods = []
        for method in experiment.methods:
            if reason := procedure.refusal(method):
                plan.gaps[column.dataset, column.model, method.name] = reason
            else:
                usable_methods.append(method)
        try:
            testbed = procedure.load(column, limit)
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            for method in experiment.methods:
                plan.gaps[column.dataset, column.model, method.name] = str(error)
            continue
        procedure.testbeds.append(testbed)
        plan.batches += procedure.batches(len(procedure.testbeds) - 1, column, usable_methods, batch_size)
    return plan
