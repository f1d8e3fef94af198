"""How well an explanation agrees with the ground truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mage._core.optional import require
from mage.metrics._inputs import as_array, finite, node_set, paired_labels
from mage.metrics.cases import ExplainedGraph
from mage.metrics.registry import register


def node_f1(nodes: Any, truth: Any, num_nodes: int | None = None) -> float:
    """F1 of the nodes of an explanation S against those of the ground truth: 2 |S ∩ S*| / (|S| + |S*|).

    Args:
        nodes: An explanation, motifs, node numbers or a boolean mask.
        truth: The same for the ground truth.
        num_nodes: Number of nodes, to check the others against.

    Returns:
        A number in [0, 1]; NaN where the ground truth is empty.
    """
    predicted, true = node_set(nodes, num_nodes, "nodes"), node_set(truth, num_nodes, "truth")
    return 2 * len(predicted & true) / (len(predicted) + len(true)) if true else math.nan


@register("f1", "F1", scale="unit", always=True)
def _node_f1(case: ExplainedGraph) -> float | None:
    return None if case.truth is None else node_f1(case.nodes, case.truth >= 0)


def ami(motifs: Any, truth: Any, num_nodes: int | None = None) -> float:
    """Adjusted mutual information of the motifs with those of the ground truth, over all nodes.

    Nodes outside of all motifs make one more group on either side, so agreement about the background counts too.

    Reference: Vinh et al., ICML 2009; computed by scikit-learn.

    Args:
        motifs: An explanation, motifs, groups of nodes, or one label a node.
        truth: The same for the ground truth.
        num_nodes: Number of nodes, where neither says it.

    Returns:
        1 for the same partition, about 0 for an unrelated one; NaN where the ground truth is one group only, all nodes
        or none.
    """
    predicted, true = paired_labels(motifs, truth, num_nodes)
    if len(np.unique(true)) < 2:
        return math.nan
    metrics = require("sklearn.metrics", "metrics")
    return float(metrics.adjusted_mutual_info_score(true, predicted))


@register("ami", "AMI", scale="unit", always=True)
def _ami(case: ExplainedGraph) -> float | None:
    return None if case.truth is None else ami(case.explanation.motifs.labels, case.truth)


def edge_auc(scores: Any, truth: Any) -> float:
    """Area under the ROC curve of edge scores against the ground truth; binary scores are fine.

    Args:
        scores: One number an edge, soft or binary.
        truth: One boolean an edge.

    Returns:
        A number in [0, 1], ½ for constant scores; NaN where the ground truth has one class only.
    """
    numbers, labels = finite(scores, "scores").ravel(), as_array(truth, "truth").ravel()
    if labels.dtype.kind not in "biuf" or not np.isin(labels, (0, 1)).all():
        raise ValueError("truth must have True or False (1 or 0) for each edge")
    true = labels.astype(bool)
    if numbers.shape != true.shape:
        raise ValueError(f"truth must have one value for each of {len(numbers)} edges, got {len(true)}")
    if true.all() or not true.any():
        return math.nan
    metrics = require("sklearn.metrics", "metrics")
    return float(metrics.roc_auc_score(true, numbers))


@register("auc", "AUC", scale="unit", always=True)
def _edge_auc(case: ExplainedGraph) -> float | None:
    if case.truth is None:
        return None
    return math.nan if case.edge_truth is None else edge_auc(case.edge_scores, case.edge_truth)


def signed_f1(positive: Any, negative: Any, signs: Any) -> float:
    """F1 of nodes with their signs: a node counts as right where it is on the right side.

    Args:
        positive: Nodes that an explanation has for the output: motifs, node numbers or a boolean mask.
        negative: Nodes that it has against it.
        signs: For each node 1 if it is for the output, −1 if it is against it, 0 otherwise.

    Returns:
        2 · right nodes / (nodes of the explanation + nodes of the ground truth); NaN where the ground truth is empty.
    """
    truth = finite(signs, "signs")
    if truth.ndim != 1 or not np.isin(truth, (-1, 0, 1)).all():
        raise ValueError(f"signs must have 1, 0 or -1 for each node, got an array of shape {list(truth.shape)}")
    sides = ((positive, truth > 0), (negative, truth < 0))
    node_sets = [
        node_set(nodes, len(truth) or None, name) for nodes, name in ((positive, "positive"), (negative, "negative"))
    ]
    true = [set(np.flatnonzero(mask).tolist()) for _, mask in sides]
    right = sum(len(nodes & side) for nodes, side in zip(node_sets, true, strict=True))
    total = sum(map(len, (*node_sets, *true)))
    return 2 * right / total if any(true) else math.nan


@register("signed_f1", "F1 with sign", scale="unit")
def _signed_f1(case: ExplainedGraph) -> float | None:
    signs = case.data.get("node_sign")
    if signs is None:
        return None
    against = {node for motif in case.explanation.against for node in motif.nodes}
    return signed_f1(case.nodes, sorted(against), signs)
