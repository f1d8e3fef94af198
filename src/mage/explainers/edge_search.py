"""EdgeSearch: the best motifs in the edge scores of another explainer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_text
from mage._core.typing import Floats, Integers
from mage.explainers.protocol import Explainer, UnsupportedError
from mage.explainers.request import ExplainRequest
from mage.indices import Interactions
from mage.motifs import find_motifs

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset
    from mage.explanation import Explanation


class EdgeSearch(Explainer):
    """MAGE's motif search in edge scores: an edge's score is the interaction of its ends, other pairs have none.

    The ablation "edge-based explainers" of the MAGE paper (Bui et al., ICML 2024): it tells how much of MAGE is owed to
    the search, and how much to interactions of nodes that are not adjacent.

    Args:
        scores: Name of a registered explainer that scores edges, or an explainer.
        parameters: Parameters of the explainer that is named.
    """

    title = "EdgeSearch"

    def __init__(self, scores: str | Explainer = "gnnexplainer", **parameters: Any) -> None:
        if isinstance(scores, Explainer):
            if parameters:
                raise ValueError(f"{next(iter(parameters))}: an explainer that is given has its parameters already")
            self.scores = scores
        else:
            from mage.explainers.registry import get  # the registry knows this class, too

            self.scores = get(checked_text("scores", scores), **parameters)

    @property
    def white_box(self) -> bool:  # type: ignore[override]  # an instance's, as it follows what is inside
        """Whether the explainer of the scores looks inside the model."""
        return self.scores.white_box

    @property
    def needs_training(self) -> bool:  # type: ignore[override]  # likewise
        """Whether the explainer of the scores must be trained first."""
        return self.scores.needs_training

    def fit(self, model: Any, dataset: GraphDataset, seed: int = 0) -> None:
        """Train the explainer of the scores."""
        self.scores.fit(model, dataset, seed)

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph."""
        if data.get("edge_index") is not None and data.edge_index.size(1) == 0:
            raise UnsupportedError("data: the graph has no edges to score; use an explainer of nodes, such as mage")
        scored = self.scores.compute(model, data, request)
        if scored.method_edge_scores is None:
            raise UnsupportedError(
                f"scores: {self.scores.title} does not score edges; use an explainer that does, such as edgeshaper"
            )
        matrix = pair_matrix(scored.edge_index, scored.edge_scores, scored.num_nodes)
        searched = replace(request.motifs, tau=1.0, noise_floor=0.0, include=(), exclude=())
        motifs = find_motifs(matrix, edges=scored.edge_index, request=searched)
        return replace(
            scored,
            motifs=motifs,
            interactions=_pairs(scored.interactions, matrix),
            # Binary scores of edges follow from the motifs; those that were searched are the interactions.
            method=f"{self.title} ({self.scores.title})",
            method_edge_scores=None,
            edge_std_error=None,
        )


def pair_matrix(edge_index: Integers, scores: Floats, num_nodes: int) -> Floats:
    """B of the paper from edge scores: the mean over the columns of a pair, 0 for pairs without one and for loops."""
    total, count = np.zeros((num_nodes, num_nodes)), np.zeros((num_nodes, num_nodes))
    for first, second in (edge_index, edge_index[::-1]):
        np.add.at(total, (first, second), scores)
        np.add.at(count, (first, second), 1)
    # Sums of the same numbers in another order may differ in the last bit, so one half is mirrored.
    matrix = np.triu(total / np.maximum(count, 1), k=1)
    return np.asarray(matrix + matrix.T)


def _pairs(scores: Interactions, matrix: Floats) -> Interactions:
    """Scores of pairs as interactions of order 2, which is what the motifs were searched in."""
    size = len(matrix)
    values = np.concatenate([np.zeros(size), matrix[np.triu_indices(size, k=1)]])
    return replace(scores, order=2, values=values, std_error=np.full(size + math.comb(size, 2), np.nan))
