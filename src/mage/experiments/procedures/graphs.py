"""Explanations of graphs: methods are tried on a model, and their explanations are measured."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from mage._core.fingerprint import graph_fingerprint, model_fingerprint
from mage._version import __version__
from mage.experiments.engines import Payload
from mage.experiments.inputs import Inputs
from mage.experiments.plan import Batch, CellName, Procedure, Testbed, further_metrics
from mage.experiments.spec import Column, Experiment, Method
from mage.experiments.store import Record, key_of
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


@dataclass
class GraphWorkload:
    """What workers share.

    Args:
        testbeds: Models with graphs.
        explainers: Explainers by testbed, method and seed; fitted where they need it.
    """

    testbeds: list[GraphTestbed]
    explainers: dict[ExplainerName, Any]

    def to(self, device: str) -> None:
        """Move the models to a device."""
        for testbed in self.testbeds:
            testbed.model.to(device)


def load_testbed(inputs: Inputs, dataset: str, model: str, limit: int | None = None) -> GraphTestbed:
    """A model with the graphs that the paper's rule explains.

    Args:
        inputs: Where both come from.
        dataset: Name of the dataset.
        model: Name of the model.
        limit: Take only the first so many graphs.
    """
    network, graphs = inputs.model(dataset, model), inputs.dataset(dataset)
    chosen = [int(position) for position in graphs.explained(network, limit)]
    if not chosen:
        raise ValueError(f"{dataset}: {model} predicts none of the graphs to explain correctly")
    return GraphTestbed(
        dataset,
        model,
        network,
        {position: graphs[0 if graphs.task == "node" else position] for position in chosen},
        {position: graphs.settings(position) for position in chosen},
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


def explain_batch(workload: GraphWorkload, batch: Batch) -> list[Record]:
    """Explain the graphs of a batch and measure what comes out; a method that cannot is recorded with its reason."""
    (method,) = batch.methods
    testbed, explainer = workload.testbeds[batch.testbed], workload.explainers[batch.testbed, method.name, batch.seed]
    return [
        {**_explain_graph(testbed, explainer, batch, method, item), "position": position}
        for position, item in enumerate(batch.items)
    ]


def _explain_graph(testbed: GraphTestbed, explainer: Any, batch: Batch, method: Method, item: int) -> Record:
    from mage.explainers import UnsupportedError

    data, settings = testbed.graphs[item], testbed.settings[item]
    record: Record = {
        "dataset": testbed.dataset,
        "model": testbed.model_name,
        "method": method.name,
        "seed": batch.seed,
        "graph": item,
        "num_nodes": int(data.num_nodes),
    }
    # Seeds of graphs differ, and do not depend on how graphs are put into batches.
    seed = int(np.random.SeedSequence([batch.seed, item]).generate_state(1)[0])
    started = time.perf_counter()
    try:
        explanation = explainer.explain(testbed.model, data, seed=seed, **settings)
    except UnsupportedError as error:
        return record | {"error": str(error)}
    seconds = time.perf_counter() - started
    case = ExplainedGraph(testbed.model, data, explanation, settings, seconds, seed)
    return record | explanation_record(case, batch.metrics)


def explanation_record(case: ExplainedGraph, metrics: Sequence[str]) -> Record:
    """What is known of an explanation: its motifs, what is always measured, and the metrics that are wanted."""
    motifs = case.explanation.motifs
    return {
        "target": case.explanation.target,
        "nodes": json.dumps([list(map(int, motif.nodes)) for motif in motifs]),
        "optimal": bool(motifs.optimal),
        **measure_case(case, metrics),
    }


class GraphProcedure(Procedure):
    """Methods explain the graphs of a dataset for a model."""

    items = "graphs"
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

        known = method.explainer in explainers.names()
        return "" if known else f"the explainer {method.explainer!r} is not registered"

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

        made: dict[ExplainerName, Any] = {}
        for batch in batches:
            (method,), testbed = batch.methods, self.testbeds[batch.testbed]
            name = (batch.testbed, method.name, batch.seed)
            if name in made:
                continue
            made[name] = None
            try:
                explainer = explainers.get(method.explainer, **method.parameters_on(testbed.dataset))
                if explainer.needs_training:
                    explainer.fit(testbed.model, self.inputs.dataset(testbed.dataset), batch.seed)
            except (ValueError, ImportError) as error:
                # One method that cannot be made or taught is a gap in the table; the others go on.
                gaps[testbed.dataset, testbed.model_name, method.name] = str(error)
                continue
            made[name] = explainer
        able = [batch for batch in batches if made[batch.testbed, batch.methods[0].name, batch.seed] is not None]
        return Payload(explain_batch, GraphWorkload(self.testbeds, made)), able

    def listing(self) -> Iterator[Table]:
        """The graphs of each testbed."""
        for testbed in self.testbeds:
            table = Table(title=f"{testbed.dataset}, {testbed.model_name}")
            for heading in ("graph", "nodes", "edges"):
                table.add_column(heading)
            for position, data in testbed.graphs.items():
                table.add_row(str(position), str(data.num_nodes), str(data.num_edges))
            yield table

    def remarks(self) -> list[str]:
        """Where the graphs are from."""
        return sorted({f"{testbed.dataset}: {testbed.origin}" for testbed in self.testbeds})
