"""What PyG is given: its own ``Explanation``, with signed motifs and interactions beside the masks."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explanation as PyGExplanation
from torch_geometric.explain.config import ThresholdConfig, ThresholdType

_LEAST = 1e-6  # the rank of what matters least; PyG counts what is above zero


class MAGEExplanation(PyGExplanation):  # type: ignore[misc]  # PyG ships no types
    """A PyG ``Explanation`` that also carries signed motifs and interactions, in a form that PyG does not cut apart.

    PyG takes any tensor with as many rows as there are nodes for a node attribute; an n × n matrix would be cut by
    ``get_explanation_subgraph`` and mangled by ``Batch``. So pairs are sparse and motifs are flat. Where several
    outputs are explained (nodes, links, graphs of a batch), each has motifs of its own; masks hold what any of them
    has.

    Attributes:
        node_mask: [n, 1], 1 for nodes in a motif that speaks for an output (any motif, if all speak against it);
            [n, f] for ``"attributes"`` and [1, f] for ``"common_attributes"``: what features add, the largest as 1.
        edge_mask: [e], 1 for edges within such a motif.
        node_score: Signed scores behind the node mask, of the same shape: Myerson or Shapley values, added up over the
            outputs. ``topk`` thresholds rank by mask first, then by these.
        edge_score: [e], for each edge the score of its lower end.
        interaction_index: [2, p], the pairs (i, i) and (i, j) with a value that is not zero.
        interaction_value: [p], their signed interactions.
        interaction_row: [p], the row of the model's output that each belongs to.
        motif_node_index: [k], nodes of all motifs, one motif after the other.
        motif_ptr: [m + 1], where each motif starts in ``motif_node_index``.
        motif_score: [m], signed scores.
        motif_row: [m], the row of the model's output that each belongs to.
        node_id: [n], the number each node had in the graph that was explained; all indices above are such numbers, so
            that they stay true when ``get_explanation_subgraph`` renumbers the nodes.
        explanations: The :class:`mage.Explanation` of each output, with plots and pages; nodes are numbered as in the
            part of the graph that the output was explained from and named by their numbers in the whole.
        request: How it was asked for; ``like=explanation`` repeats it.
    """

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Pairs are concatenated along their columns, like edges."""
        return 1 if key == "interaction_index" else super().__cat_dim__(key, value, *args, **kwargs)

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Node numbers and motif starts are shifted in a batch."""
        if key in ("interaction_index", "motif_node_index", "node_id"):
            return self.original_num_nodes
        if key == "motif_ptr":
            return len(self.motif_node_index)
        return super().__inc__(key, value, *args, **kwargs)

    def is_node_attr(self, key: str) -> bool:
        """Signed data never belong to nodes row by row, whatever their length."""
        return not _signed(key) and bool(super().is_node_attr(key))

    def is_edge_attr(self, key: str) -> bool:
        """Nor to edges."""
        return not _signed(key) and bool(super().is_edge_attr(key))

    @property
    def motifs(self) -> list[tuple[list[int], float]]:
        """Nodes and signed score of each motif."""
        return motifs_of(self)

    def threshold(self, *args: Any, **kwargs: Any) -> MAGEExplanation:
        """PyG's thresholds; ``"topk"`` and ``"topk_hard"`` keep k whatever the motifs' size, by rank.

        What is in a motif goes first, by its score; then comes the rest, by its score.
        """
        config = ThresholdConfig.cast(*args, **kwargs)
        if config is None or config.type == ThresholdType.hard:
            thresholded: MAGEExplanation = super().threshold(config)
            return thresholded
        ranked = copy.copy(self)
        for name in ("node", "edge"):
            mask, score = self.get(f"{name}_mask"), self.get(f"{name}_score")
            if mask is not None and score is not None:
                ranked[f"{name}_mask"] = self._threshold_mask(ranks(mask, score), config)
        return ranked


def motifs_of(explanation: Any) -> list[tuple[list[int], float]]:
    """Nodes and signed score of each motif of a flat list."""
    starts = explanation.motif_ptr.tolist()
    nodes = explanation.motif_node_index.tolist()
    # In a batch the starts of the next graph repeat the end of the last; motifs themselves are never empty.
    pieces = [nodes[a:b] for a, b in itertools.pairwise(starts) if b > a]
    return list(zip(pieces, explanation.motif_score.tolist(), strict=True))


def ranks(mask: Tensor, score: Tensor) -> Tensor:
    """Mask and score as one positive number up to 1: above a half by the mask, below it by the score alone."""
    spread = score - score.min()
    place = spread / spread.max().clamp(min=torch.finfo(score.dtype).tiny)
    return (mask + place.view_as(mask)).div(2).clamp(min=_LEAST, max=1.0)


def _signed(key: str) -> bool:
    return key.startswith(("interaction_", "motif_")) or key in ("explanations", "request")
