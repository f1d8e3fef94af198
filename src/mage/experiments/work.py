"""One piece of work: explain a few graphs with one method and measure the explanations."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mage._core.fingerprint import graph_fingerprint
from mage._version import __version__
from mage.experiments.spec import Method
from mage.experiments.store import Record, key_of

_FIDELITY = frozenset({"fid", "fid_alpha", "fid_alpha_07"})
_ALPHAS = {"fid_alpha": 0.8, "fid_alpha_07": 0.7}
_ROBUST_SAMPLES = 2000


@dataclass(frozen=True)
class Subject:
    """What a method explains: a model and some graphs, with the settings of each.

    Args:
        dataset: Name of the dataset.
        model_name: Name of the model.
        model: The model.
        graphs: Graphs by their position in the dataset.
        settings: Settings of each graph: masking, output, M, m, connectivity.
        fingerprint: What tells this model with its weights from others.
        dataset_fingerprint: What tells the whole dataset from others; explainers that learn see more than the graphs.
        origin: Where the graphs are from.
    """

    dataset: str
    model_name: str
    model: Any
    graphs: dict[int, Any]
    settings: dict[int, dict[str, Any]]
    fingerprint: str
    dataset_fingerprint: str = ""
    origin: str = ""


@dataclass(frozen=True)
class Batch:
    """Graphs that one worker explains in one go.

    Args:
        subject: Position of the subject in its run.
        method: The method.
        seed: Its seed.
        positions: Positions of the graphs.
        metrics: What is measured.
        key: Name of the part that results.
    """

    subject: int
    method: Method
    seed: int
    positions: tuple[int, ...]
    metrics: tuple[str, ...]
    key: str = field(compare=False)


def batch_key(subject: Subject, method: Method, seed: int, positions: Sequence[int], metrics: Sequence[str]) -> str:
    """The name of a part: all that determines its records goes into it."""
    return key_of(
        {
            "dataset": subject.dataset,
            "whole": subject.dataset_fingerprint,
            # Records carry the model's name, so two names for the same weights are two parts.
            "model": [subject.model_name, subject.fingerprint],
            "explainer": method.explainer,
            "parameters": method.parameters_on(subject.dataset),
            "method": method.name,
            "seed": seed,
            "graphs": [
                [
                    position,
                    graph_fingerprint(subject.graphs[position]),
                    repr(sorted(subject.settings[position].items())),
                ]
                for position in positions
            ],
            # Times and queries are always there; which of the others are computed decides about the part.
            "metrics": sorted(set(metrics) & _FIDELITY),
            "version": __version__,
        }
    )


def run_batch(subject: Subject, explainer: Any, batch: Batch) -> list[Record]:
    """Explain the graphs of a batch and measure what comes out; a method that cannot is recorded with its reason."""
    return [
        {**_run_graph(subject, explainer, batch, position), "position": rank}
        for rank, position in enumerate(batch.positions)
    ]


def _run_graph(subject: Subject, explainer: Any, batch: Batch, position: int) -> Record:
    from mage.explainers import UnsupportedError

    data, settings = subject.graphs[position], subject.settings[position]
    record: Record = {
        "dataset": subject.dataset,
        "model": subject.model_name,
        "method": batch.method.name,
        "seed": batch.seed,
        "graph": position,
        "num_nodes": int(data.num_nodes),
    }
    # Seeds of graphs differ, and do not depend on how graphs are put into batches.
    seed = int(np.random.SeedSequence([batch.seed, position]).generate_state(1)[0])
    started = time.perf_counter()
    try:
        explanation = explainer.explain(subject.model, data, seed=seed, **settings)
    except UnsupportedError as error:
        return record | {"error": str(error)}
    record["seconds"] = time.perf_counter() - started
    return record | measure(subject.model, data, settings, explanation, batch.metrics, seed)


def measure(
    model: Any, data: Any, settings: dict[str, Any], explanation: Any, metrics: Sequence[str], seed: int = 0
) -> Record:
    """What is known of an explanation: agreement with the ground truth where there is any, fidelity if asked for."""
    from mage import metrics as functions

    nodes = explanation.motifs.nodes
    record: Record = {
        "target": explanation.target,
        "nodes": json.dumps([list(map(int, motif.nodes)) for motif in explanation.motifs]),
        "optimal": bool(explanation.motifs.optimal),
        "queries": float(explanation.num_queries),
        "sparsity": functions.sparsity(nodes, int(data.num_nodes)),
    }
    truth, edge_truth = _truth(data, settings.get("node"))
    if truth is not None and bool((truth >= 0).any()):
        record["f1"] = functions.node_f1(nodes, truth >= 0)
        record["ami"] = functions.ami(explanation.motifs.labels, truth)
        record["auc"] = math.nan if edge_truth is None else _edge_auc(explanation, data, edge_truth)
    if _FIDELITY & set(metrics):
        record |= _fidelities(model, data, settings, explanation, metrics, seed)
    return record


def _truth(data: Any, node: int | None) -> tuple[Any, Any]:
    """Numbers of the ground-truth motifs of nodes and edges; of a node that is explained, its own motif only."""
    found = [None if data.get(name) is None else data[name].cpu().numpy() for name in ("node_motif", "edge_motif")]
    if node is None or found[0] is None:
        return found[0], found[1]
    own = found[0][node]
    return tuple(None if part is None else np.where((part == own) & (own >= 0), 0, -1) for part in found)  # type: ignore[return-value]


def _edge_auc(explanation: Any, data: Any, edge_truth: Any) -> float:
    """AUC of the soft scores of a method that has some, otherwise of the edges with both ends in the explanation."""
    from mage.metrics import edge_auc

    loops = (data.edge_index[0] == data.edge_index[1]).numpy()
    scores = explanation.edge_scores
    return edge_auc(scores[~loops], (edge_truth >= 0)[~loops])


def _fidelities(
    model: Any, data: Any, settings: dict[str, Any], explanation: Any, metrics: Sequence[str], seed: int
) -> Record:
    from mage.games import ModelGame
    from mage.metrics import fidelity, robust_fidelity

    # The paper measures fidelity of the class probability, whatever is explained; queries of metrics are not counted.
    game = ModelGame(
        model,
        data,
        target=explanation.target,
        output="probability",
        masking=settings.get("masking", "remove"),
        node=settings.get("node"),
    )
    chosen = set(explanation.motifs.nodes)
    nodes = [player for player, members in enumerate(game.player_nodes) if set(members.tolist()) <= chosen]
    plain = fidelity(game, nodes)
    record: Record = {"fid": plain.value, "fid_plus": plain.plus, "fid_minus": plain.minus}
    for name, alpha in _ALPHAS.items():
        if name in metrics:
            robust = robust_fidelity(game, nodes, alpha, _ROBUST_SAMPLES, seed)
            record |= {name: robust.value, f"{name}_error": robust.std_error}
    return record
