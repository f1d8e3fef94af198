"""GNNExplainer: a soft mask on the messages, learned for one graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor
from torch_geometric.explain import ExplainerConfig, ModelConfig
from torch_geometric.explain.algorithm import GNNExplainer as Algorithm
from torch_geometric.explain.algorithm.utils import set_masks

from mage._core.checks import checked_choice, checked_number, checked_whole
from mage.explainers._model_runs import Run
from mage.explainers._white_box import EdgeScores, WhiteBoxExplainer

if TYPE_CHECKING:
    from torch import nn
    from torch_geometric.data import Data

    from mage.games import ModelGame


class _RawWeights(Algorithm):  # type: ignore[misc]
    """PyG's algorithm, but messages are multiplied by θ itself."""

    def _collect_parameters(self, model: Any, edge_index: Tensor) -> Any:
        parameters = super()._collect_parameters(model, edge_index)
        set_masks(model, self.edge_mask, edge_index, apply_sigmoid=False)
        return parameters


_LARGEST_FACTOR = 1e30  # masks are fitted in single precision
_ALGORITHMS = {"sigmoid": Algorithm, "raw": _RawWeights}
_MODES = {"multiclass": "multiclass_classification", "binary": "binary_classification", "regression": "regression"}


@dataclass(eq=False)
class GNNExplainer(WhiteBoxExplainer):
    """A weight σ(θ) on the messages of each edge, fitted to keep the target likely while few edges stay.

    The loss is cross-entropy (the squared error to the prediction in a regression) + ``edge_size`` Σ σ(θ) +
    ``edge_ent`` · mean entropy of σ(θ). PyG's implementation does the work, without a mask of features. It takes one
    forward and one backward pass an epoch, and gives 0 to edges that the output does not depend on.

    The code released with MAGE multiplies messages by θ itself rather than by σ(θ): ``message_weights="raw"``. Then
    messages start near 0, where those with σ(θ) start near one half. The scores are σ(θ) in both cases.

    Reference: Ying et al., GNNExplainer: Generating explanations for graph neural networks, NeurIPS 2019.

    Args:
        epochs: Number of steps; 500 in the MAGE paper, 1,000 on texts.
        lr: Step size of Adam.
        edge_size: Weight of the sum of the mask.
        edge_ent: Weight of its mean entropy.
        message_weights: What messages are multiplied by: ``"sigmoid"``, σ(θ), or ``"raw"``, θ.
    """

    title = "GNNExplainer"
    levels = ("graph", "node")

    epochs: int = 500
    lr: float = 0.01
    edge_size: float = 0.001
    edge_ent: float = 1e-5
    message_weights: Literal["sigmoid", "raw"] = "sigmoid"

    def __post_init__(self) -> None:
        self.epochs = checked_whole("epochs", self.epochs, least=0)
        if checked_number("lr", self.lr) < 0:
            raise ValueError(f"lr must be at least 0, got {self.lr!r}")
        for name, value in (("lr", self.lr), ("edge_size", self.edge_size), ("edge_ent", self.edge_ent)):
            if abs(checked_number(name, value)) > _LARGEST_FACTOR:
                raise ValueError(f"{name} must be at most {_LARGEST_FACTOR:g} in size, got {value:g}")
        checked_choice("message_weights", self.message_weights, _ALGORITHMS)

    def score_edges(self, model: nn.Module, data: Data, game: ModelGame) -> EdgeScores:
        """The weights of the edges. The loss is the method's own, whatever ``output`` is."""
        algorithm = _ALGORITHMS[self.message_weights](
            self.epochs, self.lr, edge_size=self.edge_size, edge_ent=self.edge_ent
        )
        algorithm.connect(
            ExplainerConfig(explanation_type="phenomenon", edge_mask_type="object"),
            ModelConfig(_MODES[game.readout.task], game.level, game.readout.return_type),
        )
        device = data.edge_index.device
        run = Run(model, data, of_nodes=game.level == "node")
        aim = torch.tensor(game.prediction[None] if game.target is None else [game.target], device=device)
        if game.target is None:
            aim = aim.to(next((weight.dtype for weight in model.parameters()), torch.get_default_dtype()))
        # PyG wants features to count nodes by; the run gives the model those of the data, whole numbers included.
        placeholder = torch.empty(int(data.num_nodes), 0, device=device)
        index = None
        if run.of_nodes:
            # PyG takes what is aimed at for all nodes, and looks at one of them.
            index = torch.tensor(game.target_nodes, device=device)
            aim = aim.expand(int(data.num_nodes), *aim.shape[1:])
        mask = algorithm(run, placeholder, data.edge_index, target=aim, index=index).edge_mask
        return EdgeScores(mask.double().cpu().numpy(), run.graphs)
