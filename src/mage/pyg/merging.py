"""Explanations of several outputs of one graph, merged into the tensors that PyG expects."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Floats
from mage.explanation import Explanation
from mage.motifs import Motif


@dataclass(frozen=True)
class ExplainedPart:
    """The explanation of one output.

    Attributes:
        explanation: The explanation; its nodes are those of the part.
        nodes: The nodes of the part in the user's graph [k].
        row: Row of the model's output.
        feature_scores: What features add, by the type of nodes: [f] for columns, [k, f] for single numbers; empty where
            the mask has no column for each.
    """

    explanation: Explanation
    nodes: Tensor
    row: int
    feature_scores: Mapping[str | None, Floats] = field(default_factory=dict)

    @property
    def shown(self) -> list[Motif]:
        """Motifs for the output; all motifs if none is for it."""
        return shown_motifs(self.explanation)

    def spread(self, values: Floats | Tensor, num_nodes: int) -> Tensor:
        """Values of the part's nodes as values of the user's nodes, 0 for all others."""
        column = torch.as_tensor(values, dtype=torch.float32, device=self.nodes.device)
        return column.new_zeros(num_nodes, *column.shape[1:]).index_copy(0, self.nodes, column)


def shown_motifs(explanation: Explanation) -> list[Motif]:
    """Motifs for the output; all motifs if none is for it."""
    return [motif for motif in explanation.motifs if motif.sign > 0] or list(explanation.motifs)


def node_masks(parts: Sequence[ExplainedPart], num_nodes: int) -> tuple[Tensor, Tensor]:
    """1 for nodes of shown motifs, and the signed scores of all nodes, both [n, 1]."""
    mask = torch.stack([_labels(part, num_nodes) > 0 for part in parts]).any(dim=0).float()
    score = torch.stack([part.spread(part.explanation.node_scores, num_nodes) for part in parts]).sum(dim=0)
    return mask.unsqueeze(1), score.unsqueeze(1)


def feature_masks(
    parts: Sequence[ExplainedPart], num_nodes: int | None = None
) -> dict[str | None, tuple[Tensor, Tensor]]:
    """For each type of nodes what features add, the largest of each output as 1, and signed scores: [1, f] or [n, f].

    Features that are only against an output are shown if none is for it.

    Args:
        parts: The explained outputs.
        num_nodes: Nodes of the user's graph, where parts of it were explained.
    """
    masks: dict[str | None, list[Tensor]] = {kind: [] for kind in parts[0].feature_scores}
    scores: dict[str | None, list[Tensor]] = {kind: [] for kind in parts[0].feature_scores}
    for part in parts:
        all_scores = part.feature_scores.values()
        against = not any((values > 0).any() for values in all_scores)
        largest = max(
            (float(np.abs(v if against else v.clip(min=0)).max(initial=0.0)) for v in all_scores), default=0.0
        )
        for kind, values in part.feature_scores.items():
            score = torch.as_tensor(values, dtype=torch.float32, device=part.nodes.device)
            if score.dim() == 1:
                score = score.unsqueeze(0)
            elif num_nodes is not None:
                score = part.spread(score, num_nodes)
            scores[kind].append(score)
            mask = score.abs() if against else score.clamp(min=0)
            masks[kind].append((mask / largest).clamp(max=1.0) if largest else mask)
    return {kind: (torch.stack(masks[kind]).amax(dim=0), torch.stack(scores[kind]).sum(dim=0)) for kind in masks}


def edge_masks(parts: Sequence[ExplainedPart], edge_index: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """1 for edges within shown motifs (or the method's own scores, the largest as 1), and signed scores, both [e].

    The score of an edge is the lower score of its ends.
    """
    masks, scores = [], []
    source, target = edge_index
    for part in parts:
        of_nodes = part.spread(part.explanation.node_scores, num_nodes)
        score = torch.minimum(of_nodes[source], of_nodes[target])
        labels = _labels(part, num_nodes)
        mask = ((labels[source] == labels[target]) & (labels[source] > 0)).float()
        if part.explanation.method_edge_scores is not None:
            inside = torch.isin(edge_index, part.nodes).all(dim=0)
            score = score.new_zeros(len(score))
            score[inside] = torch.as_tensor(part.explanation.method_edge_scores, dtype=score.dtype).to(score.device)
            mask = score.clamp(min=0) / score.max().clamp(min=1e-12)
        masks.append(mask)
        scores.append(score)
    return torch.stack(masks).amax(dim=0), torch.stack(scores).sum(dim=0)


def signed_data(parts: Sequence[ExplainedPart]) -> dict[str, Any]:
    """Motifs and interactions of all outputs, flat, by the numbers of the user's nodes."""
    device = parts[0].nodes.device
    motifs = [(part, motif) for part in parts for motif in part.explanation.motifs]
    members = [part.nodes[list(motif.nodes)] for part, motif in motifs]
    starts = [0, *itertools.accumulate(len(nodes) for nodes in members)]
    pairs, values, rows = zip(*(_sparse_pairs(part) for part in parts), strict=True)
    return {
        "interaction_index": torch.cat(pairs, dim=1),
        "interaction_value": torch.cat(values),
        "interaction_row": torch.cat(rows),
        "motif_node_index": torch.cat(members) if members else torch.empty(0, dtype=torch.long, device=device),
        "motif_ptr": torch.tensor(starts, dtype=torch.long, device=device),
        "motif_score": torch.tensor([motif.score for _, motif in motifs], dtype=torch.float32, device=device),
        "motif_row": torch.tensor([part.row for part, _ in motifs], dtype=torch.long, device=device),
    }


def _labels(part: ExplainedPart, num_nodes: int) -> Tensor:
    """For each node of the user's graph the number of its shown motif from 1 on, or 0."""
    labels = torch.zeros(num_nodes, dtype=torch.long, device=part.nodes.device)
    for rank, motif in enumerate(part.shown, start=1):
        labels[part.nodes[list(motif.nodes)]] = rank
    return labels


def _sparse_pairs(part: ExplainedPart) -> tuple[Tensor, Tensor, Tensor]:
    """Non-zero interactions of single nodes and pairs; a group stands for its first node."""
    first = part.nodes[[nodes[0] for nodes in part.explanation.players]]
    matrix = torch.from_numpy(part.explanation.interactions.matrix).triu().to(first.device)
    pairs = matrix.nonzero().T
    return first[pairs], matrix[pairs[0], pairs[1]].float(), torch.full_like(pairs[0], part.row)
