"""GradCAM: features of the last layer, weighted by what the output makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from mage.explainers._model_runs import LastLayer, Run
from mage.explainers._white_box import EdgeScores, WhiteBoxExplainer

if TYPE_CHECKING:
    from torch import nn
    from torch_geometric.data import Data

    from mage.games import ModelGame


class GradCAM(WhiteBoxExplainer):
    """Gradient-weighted class activation mapping: s_v = ReLU(Σ_k α_k F_vk) with α_k the mean of ∂z/∂F_vk over nodes.

    F are the features of the last message-passing layer that the model calls, as in the paper after the activation that
    follows it; where none follows, what the layer returns. z is what is explained of the target, by default its logit.
    An edge scores the mean of its two ends; scores are divided by the largest. One forward and one backward pass. Where
    the output is that of a node, nodes that it cannot depend on score 0, and so do their edges.

    The code released with MAGE takes F before the activation, and subtracts the least score from all.

    Reference: Pope et al., Explainability methods for graph convolutional neural networks, CVPR 2019.
    """

    title = "GradCAM"
    levels = ("graph", "node")

    def score_edges(self, model: nn.Module, data: Data, game: ModelGame) -> EdgeScores:
        """The mean score of the two ends of each edge."""
        run = Run(model, data, of_nodes=game.level == "node")
        with LastLayer(model, int(data.num_nodes), cut=True) as layer:
            out = run()
            worth = game.readout(out[list(game.target_nodes)] if run.of_nodes else out)[0]
        features = layer.features
        weights = torch.zeros_like(features[0])
        if worth.requires_grad:  # else the model makes nothing of its layers, which are then worth nothing
            (gradient,) = torch.autograd.grad(worth, features, allow_unused=True)
            weights = weights if gradient is None else gradient.mean(dim=0)
        scores = (features @ weights).relu().detach().double().cpu().numpy()
        within = np.zeros(len(scores), dtype=np.bool_)
        within[np.concatenate(game.player_nodes)] = True
        scores = np.where(within, scores, 0.0)
        scores = scores / scores.max() if scores.max() > 0 else scores
        ends = data.edge_index.cpu().numpy()
        edge_scores = np.where(within[ends].all(axis=0), scores[ends].mean(axis=0), 0.0)
        return EdgeScores(edge_scores, run.graphs, scores)
