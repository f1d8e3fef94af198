"""How well single motifs are recovered: overlap of each with the true motif that it matches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mage.metrics._inputs import paired_labels
from mage.metrics.cases import ExplainedGraph
from mage.metrics.registry import register


def motif_iou(motifs: Any, truth: Any, num_nodes: int | None = None) -> float:
    """Mean overlap of true motifs with the motifs of an explanation that match them best, one to one.

    The overlap of two sets of nodes is |S ∩ S*| / |S ∪ S*| (Jaccard 1901). Of all ways to assign to each true motif at
    most one motif, each at most once, the one with the largest sum of overlaps counts; a true motif without a partner
    has overlap 0. Unlike F1 of all nodes together, this sees motifs that are merged or split; unlike AMI, it does not
    reward agreement about the background.

    Complexity: O(k³) for k motifs (Hungarian method).

    Args:
        motifs: An explanation, motifs, groups of nodes, or one label a node.
        truth: The same for the ground truth.
        num_nodes: Number of nodes, where neither says it.

    Returns:
        A number in [0, 1]; NaN where the ground truth has no motif.
    """
    masks, true_masks = (
        labels == np.unique(labels[labels > 0])[:, None] for labels in paired_labels(motifs, truth, num_nodes)
    )
    if not len(true_masks):
        return math.nan
    from scipy.optimize import linear_sum_assignment  # takes long to import

    shared = true_masks.astype(np.int64) @ masks.astype(np.int64).T
    overlaps = shared / (true_masks.sum(axis=1)[:, None] + masks.sum(axis=1)[None] - shared)
    return float(overlaps[linear_sum_assignment(overlaps, maximize=True)].sum() / len(true_masks))


@register("motif_iou", "motif IoU", scale="unit")
def _motif_iou(case: ExplainedGraph) -> float | None:
    # Labels from 1 on: where all nodes are in true motifs, 0 would be taken for the background.
    return None if case.truth is None else motif_iou(case.explanation.motifs.labels, case.truth + 1)
