"""What PyG is given: its own ``Explanation``, with signed motifs and interactions beside the masks."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explanation as PyGExplanation
from torch_geometric.explain import HeteroExplanation
from torch_geometric.explain.config import ThresholdConfig, ThresholdType

_LEAST = 1e-6  # the rank of what matters least; PyG counts what is above zero


class MAGEExplanation(PyGExplanation):  # type: ignore[misc]  # PyG ships no types
    """A PyG ``Explanation`` that also carries signed motifs and interactions, in a form that PyG does not cut apart.

    PyG takes any tensor with as many rows as there are nodes for a node attribute; an n × n matrix would be cut by
    ``get_explanation_subgraph`` and mangled by ``Batch``. So pairs are sparse and motifs are flat. Where several
    outputs are explained (nodes, links, graphs of a batch), each has motifs of its own; masks hold what any of them
    has.

    Attributes:
        node_mask: [n, 1], 1 for nodes in a motif for an output (any motif, if all are against it);
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
        request: Its settings; ``like=explanation`` repeats them.
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
        starts = self.motif_ptr.tolist()
        nodes = self.motif_node_index.tolist()
        # In a batch the starts of the next graph repeat the end of the last; motifs themselves are never empty.
        pieces = [nodes[a:b] for a, b in itertools.pairwise(starts) if b > a]
        return list(zip(pieces, self.motif_score.tolist(), strict=True))

    def threshold(self, *args: Any, **kwargs: Any) -> MAGEExplanation:
        """PyG's thresholds; ``"topk"`` and ``"topk_hard"`` keep exactly k, by rank, for motifs of any size.

        What is in a motif goes first, by its score; then comes the rest, by its score.
        """
        thresholded: MAGEExplanation = super().threshold(*args, **kwargs)
        _keep_by_rank(self, thresholded, ThresholdConfig.cast(*args, **kwargs))
        return thresholded


class MAGEHeteroExplanation(HeteroExplanation):  # type: ignore[misc]  # PyG ships no types
    """A PyG ``HeteroExplanation`` that also carries signed motifs and interactions.

    Masks and scores are those of :class:`MAGEExplanation`, for each type of nodes and of edges. Nodes of motifs and
    interactions are given by their type, as a position in ``type_names``, and their number within it.

    Attributes:
        type_names: Types of nodes.
        interaction_index: [2, p], the pairs with a value that is not zero, by numbers within their types.
        interaction_type: [2, p], their types.
        interaction_value: [p], their signed interactions.
        interaction_row: [p], the row of the model's output that each belongs to.
        motif_node_index: [k], nodes of all motifs, one motif after the other, by numbers within their types.
        motif_node_type: [k], their types.
        motif_ptr: [m + 1], where each motif starts in ``motif_node_index``.
        motif_score: [m], signed scores.
        motif_row: [m], the row of the model's output that each belongs to.
        explanations: The :class:`mage.Explanation` of each output, with plots and pages.
        request: Its settings; ``like=explanation`` repeats them.
    """

    @property
    def motifs(self) -> list[tuple[list[tuple[str, int]], float]]:
        """Nodes, as type and number, and signed score of each motif."""
        kinds = [self.type_names[kind] for kind in self.motif_node_type.tolist()]
        places = list(zip(kinds, self.motif_node_index.tolist(), strict=True))
        pieces = [places[a:b] for a, b in itertools.pairwise(self.motif_ptr.tolist())]
        return list(zip(pieces, self.motif_score.tolist(), strict=True))

    def threshold(self, *args: Any, **kwargs: Any) -> MAGEHeteroExplanation:
        """PyG's thresholds; ``"topk"`` and ``"topk_hard"`` keep exactly k of each type, by rank."""
        thresholded: MAGEHeteroExplanation = super().threshold(*args, **kwargs)
        _keep_by_rank(self, thresholded, ThresholdConfig.cast(*args, **kwargs))
        return thresholded


def _keep_by_rank(explanation: Any, thresholded: Any, config: ThresholdConfig | None) -> None:
    """Let ``topk`` masks keep k, by rank."""
    if config is None or config.type == ThresholdType.hard:
        return
    for before, after in zip(explanation.stores, thresholded.stores, strict=True):
        for name in ("node", "edge"):
            mask, score = before.get(f"{name}_mask"), before.get(f"{name}_score")
            if mask is not None and score is not None:
                after[f"{name}_mask"] = explanation._threshold_mask(ranks(mask, score), config)


def ranks(mask: Tensor, score: Tensor) -> Tensor:
    """Mask and score as one positive number up to 1: above a half by the mask, below it by the score alone."""
    spread = score - score.min()
    place = spread / spread.max().clamp(min=torch.finfo(score.dtype).tiny)
    return (mask + place.view_as(mask)).div(2).clamp(min=_LEAST, max=1.0)


def _signed(key: str) -> bool:
    return key.startswith(("interaction_", "motif_")) or key in ("explanations", "request")
