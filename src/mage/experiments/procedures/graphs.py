"""Explanations of graphs: methods are tried on a model, and their explanations are measured."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mage._core.fingerprint import graph_fingerprint, model_fingerprint
from mage._version import __version__
from mage.experiments.engines import Payload
from mage.experiments.inputs import Inputs
from mage.experiments.plan import Batch, CellName, Procedure, Testbed, further_metrics
from mage.experiments.records import Record
from mage.experiments.run_loop import Job
from mage.experiments.spec import Column, Experiment, Method
from mage.experiments.store import key_of
from mage.metrics import ExplainedGraph, measure_case

ExplainerName = tuple[int, str, int]
"""Number of the testbed, method, seed."""


@dataclass(frozen=True)
class GraphTestbed(Testbed):
    """A model and some graphs, with the settings of each.

    Args:
        dataset: Name of the dataset.
        model_name: Name of the model.
        model: The model.
        graphs: Graphs by their position in the dataset.
        settings: GroupSettings of each graph: masking, output, M, m, connectivity.
        fingerprint: What tells this model with its weights from others.
        dataset_fingerprint: What tells the whole dataset from others; explainers that learn see more than the graphs.
        origin: Where the graphs are from.
    """

    model: Any
    graphs: Mapping[int, Any]
    settings: Mapping[int, dict[str, Any]]
    fingerprint: str
    dataset_fingerprint: str = ""
    origin: str = ""

    @property
    def whole(self) -> Any:
        """The one graph whose nodes are explained; None where each item has a graph of its own."""
        first = next(iter(self.graphs.values()))
        return first if len(self.graphs) > 1 and all(data is first for data in self.graphs.values()) else None


@dataclass(frozen=True)
class GraphJob(Job):
    """One graph to explain.

    Args:
        part: Name of its batch.
        place: Its place in the batch.
        explainer: Which explainer.
        number: Position of the graph in its dataset.
        data: The graph; None where it is the one that all jobs of the testbed share.
        settings: Its settings.
        metrics: What is measured.
    """

    explainer: ExplainerName
    number: int
    data: Any
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]


@dataclass
class GraphWorkload:
    """What workers share.

    Args:
        models: Models, by testbed.
        wholes: Graphs that all jobs of a testbed share, since nodes are explained; None where each job has its own.
        explainers: Explainers by testbed, method and seed; fitted where they need it.
    """

    models: list[Any]
    wholes: list[Any]
    explainers: dict[ExplainerName, Any]

    def to(self, device: str) -> None:
        """Move the models to a device."""
        for model in self.models:
            model.to(device)


def load_testbed(inputs: Inputs, dataset: str, model: str, limit: int | None = None) -> GraphTestbed:
    """A model with the graphs that the paper's rule explains.

    Args:
        inputs: Where both come from.
        dataset: Name of the dataset.
        model: Name of the model.
        limit: Take only the first so many graphs.
    """
    network, graphs = inputs.model(dataset, model), inputs.dataset(dataset)
    positions = [int(position) for position in graphs.explained(network, limit)]
    if not positions:
        raise ValueError(f"{dataset}: {model} predicts none of the graphs to explain correctly")
    whole = graphs[0] if graphs.task == "node" else None
    return GraphTestbed(
        dataset,
        model,
        network,
        {position: graphs[position] if whole is None else whole for position in positions},
        {position: graphs.settings(position) for position in positions},
        model_fingerprint(network),
        inputs.dataset_fingerprint(dataset),
        graphs.origin,
    )


def batch_key(testbed: GraphTestbed, method: Method, seed: int, items: Sequence[int], metrics: Sequence[str]) -> str:
    """The name of a part: all that determines its records goes into it."""
    return key_of(
        {
            "dataset": testbed.dataset,
            "whole": testbed.dataset_fingerprint,
            # Records carry the model's name, so two names for the same weights are two parts.
            "model": [testbed.model_name, testbed.fingerprint],
            "explainer": method.explainer,
            "parameters": method.parameters_on(testbed.dataset),
            "method": method.name,
            "seed": seed,
            "graphs": [
                [item, graph_fingerprint(testbed.graphs[item]), repr(sorted(testbed.settings[item].items()))]
                for item in items
            ],
            "metrics": further_metrics(metrics),
            "version": __version__,
        }
    )


def explain_job(workload: GraphWorkload, job: GraphJob) -> list[Record]:
    """Explain a graph and measure what comes out; a method that cannot is recorded with its reason."""
    from mage.explainers import UnsupportedError

    testbed, _, batch_seed = job.explainer
    model = workload.models[testbed]
    data = workload.wholes[testbed] if job.data is None else job.data
    # Seeds of graphs differ, and do not depend on how graphs are put into batches.
    seed = int(np.random.SeedSequence([batch_seed, job.number]).generate_state(1)[0])
    started, cpu_started = time.perf_counter(), time.process_time()
    try:
        explanation = workload.explainers[job.explainer].explain(model, data, seed=seed, **job.settings)
    except UnsupportedError as error:
        return [{"error": str(error)}]
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    case = ExplainedGraph(model, data, explanation, job.settings, seconds, seed, cpu_seconds)
    return [explanation_record(case, job.metrics)]


def explanation_record(case: ExplainedGraph, metrics: Sequence[str]) -> Record:
    """What is known of an explanation: its motifs, what is always measured, and the metrics that are wanted."""
    motifs = case.explanation.motifs
    return {
        "target": case.explanation.target,
        "nodes": json.dumps([list(map(int, motif.nodes)) for motif in motifs]),
        "optimal": bool(motifs.optimal),
        **measure_case(case, metrics),
    }


class _RefusingExplainer:
    """Takes the place of an explainer that cannot be taught, and refuses each graph for that reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def explain(self, *_: Any, **__: Any) -> Any:
        """Refuse."""
        from mage.explainers import UnsupportedError

        raise UnsupportedError(self.reason)


class GraphProcedure(Procedure):
    """Methods explain the graphs of a dataset for a model."""

    items = "graphs"
    item_headings = ("graph", "nodes", "edges")
    case = ExplainedGraph

    def __init__(self, experiment: Experiment, inputs: Inputs) -> None:
        super().__init__(experiment, inputs)
        if experiment.settings:
            raise ValueError(
                f"settings: {', '.join(experiment.settings)}: parameters of explainers are set for each method"
            )

    def load(self, column: Column, limit: int | None) -> GraphTestbed:
        """A model with the graphs that the paper's rule explains."""
        return load_testbed(self.inputs, column.dataset, column.model, limit)

    def refusal(self, method: Method) -> str:
        """Why there is no such explainer; empty if there is."""
        from mage import explainers

        is_explainer = method.explainer in explainers.names()
        return "" if is_explainer else f"the explainer {method.explainer!r} is not registered"

    def batches(self, number: int, column: Column, methods: Sequence[Method], size: int) -> Iterator[Batch]:
        """Batches of one method each."""
        testbed: GraphTestbed = self.testbeds[number]
        # In the order of the test part, so that a run of fewer graphs shares its batches with a longer one.
        every = list(testbed.graphs)
        for method in methods:
            for seed in self.experiment.seeds:
                for start in range(0, len(every), size):
                    items = tuple(every[start : start + size])
                    key = batch_key(testbed, method, seed, items, column.metrics)
                    yield Batch(number, (method,), seed, items, column.metrics, key)

    def prepare(self, batches: Sequence[Batch], gaps: dict[CellName, str]) -> tuple[Payload, list[Batch]]:
        """Make the explainers, and teach those that learn."""
        from mage import explainers
        from mage.explainers import UnsupportedError

        instances: dict[ExplainerName, Any] = {}
        for batch in batches:
            (method,), testbed = batch.methods, self.testbeds[batch.testbed]
            name = (batch.testbed, method.name, batch.seed)
            if name in instances:
                continue
            instances[name] = None
            try:
                explainer: Any = explainers.get(method.explainer, **method.parameters_on(testbed.dataset))
                if explainer.needs_training:
                    explainer.fit(testbed.model, self.inputs.dataset(testbed.dataset), batch.seed)
            except UnsupportedError as error:
                # What a method cannot do is a result, and is kept as one.
                explainer = _RefusingExplainer(str(error))
            except (ValueError, ImportError) as error:
                # One method that cannot be made or taught is a gap in the table; the others go on.
                gaps[testbed.dataset, testbed.model_name, method.name] = str(error)
                continue
            instances[name] = explainer
        batches_to_run = [
            batch for batch in batches if instances[batch.testbed, batch.methods[0].name, batch.seed] is not None
        ]
        models = [testbed.model for testbed in self.testbeds]
        wholes = [testbed.whole for testbed in self.testbeds]
        return Payload(explain_job, GraphWorkload(models, wholes, instances)), batches_to_run

    def jobs(self, batch: Batch) -> list[GraphJob]:
        """The graphs of a batch."""
        (method,), testbed = batch.methods, self.testbeds[batch.testbed]
        explainer = (batch.testbed, method.name, batch.seed)
        return [
            GraphJob(
                batch.key,
                place,
                explainer,
                item,
                testbed.graphs[item] if testbed.whole is None else None,
                testbed.settings[item],
                batch.metrics,
            )
            for place, item in enumerate(batch.items)
        ]

    def about_item(self, testbed: GraphTestbed, item: int) -> Record:
        """Position and size of a graph."""
        return {"graph": item, "num_nodes": int(testbed.graphs[item].num_nodes)}

    def item_rows(self, testbed: GraphTestbed) -> Iterator[tuple[str, ...]]:
        """Position and size of each graph."""
        for position, data in testbed.graphs.items():
            yield str(position), str(data.num_nodes), str(data.num_edges)

    def remarks(self) -> list[str]:
        """Where the graphs are from."""
        return sorted({f"{testbed.dataset}: {testbed.origin}" for testbed in self.testbeds})
