"""GradCAM: features of the last layer, weighted by what the output makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    An edge scores the mean of its two ends; scores are divided by the largest. One forward and one backward pass.

    The code released with MAGE takes F before the activation, and subtracts the least score from all.

    Reference: Pope et al., Explainability methods for graph convolutional neural networks, CVPR 2019.
    """

    title = "GradCAM"

    def score_edges(self, model: nn.Module, data: Data, game: ModelGame) -> EdgeScores:
        """The mean score of the two ends of each edge."""
        run = Run(model, data)
        with LastLayer(model, game.num_players, cut=True) as layer:
            worth = game.readout(run())[0]
        features = layer.features
        weights = torch.zeros_like(features[0])
        if worth.requires_grad:  # else the model makes nothing of its layers, which are then worth nothing
            (gradient,) = torch.autograd.grad(worth, features, allow_unused=True)
            weights = weights if gradient is None else gradient.mean(dim=0)
        scores = (features @ weights).relu().detach().double().cpu().numpy()
        scores = scores / scores.max() if scores.max() > 0 else scores
        return EdgeScores(scores[data.edge_index.cpu().numpy()].mean(axis=0), run.graphs, scores)
