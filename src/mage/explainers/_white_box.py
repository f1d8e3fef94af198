"""Explainers that look inside a model and leave it as it was."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import MessagePassing

from mage._core.typing import Floats
from mage._torch.evaluation import evaluating, exclusively
from mage._torch.graph_input import GraphInput
from mage._torch.randomness import OwnRandomNumbers
from mage.explainers._selection import nodes_of_best_edges
from mage.explainers.protocol import Explainer, UnsupportedError
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation
from mage.games import ModelGame

if TYPE_CHECKING:
    from torch_geometric.data import Data


class EdgeScores(NamedTuple):
    """What a method finds by looking inside a model.

    Attributes:
        edges: A score for each column of ``edge_index`` [e].
        num_queries: Graphs that the model was run on for it.
        nodes: A score for each node [n]; None gives a node half of what its edges score.
    """

    edges: Floats
    num_queries: int
    nodes: Floats | None = None


class WhiteBoxExplainer(Explainer):
    """An explainer that scores edges by what goes on inside a model, and chooses the nodes of the best edges."""

    white_box = True

    @abstractmethod
    def score_edges(self, model: nn.Module, data: Data, game: ModelGame) -> EdgeScores:
        """Score the edges of a graph.

        Args:
            model: The model, in evaluation mode with frozen weights; what is done to it is undone afterwards.
            data: The graph, which has edges.
            game: Knows the prediction and the target.
        """

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph, or one node of it where the method can."""
        check_layers(model)
        if GraphInput.of(data).edge_index.size(1) == 0:
            raise UnsupportedError("data has no edges, and this method scores edges; use one for nodes such as mage")
        # Nothing is masked by these methods.
        game = ModelGame(model, data, request.graph.with_usual(output="logit"), masking="remove")
        with undisturbed(model, request.seed):
            scores = self.score_edges(model, data, game)
        ends = data.edge_index.cpu().numpy()
        budget = request.motifs.max_nodes_of(game.num_players)
        node_scores = scores.nodes
        if node_scores is None:
            node_scores = np.zeros(int(data.num_nodes))
            np.add.at(node_scores, ends.ravel(), np.tile(scores.edges / 2, 2))
        return Explanation.from_nodes(
            *(nodes_of_best_edges(ends, scores.edges, budget), game, data),
            method=self.title,
            max_nodes=budget,
            node_scores=node_scores,
            edge_scores=scores.edges,
            num_queries=game.num_queries + scores.num_queries,
        )


@contextmanager
def undisturbed(model: nn.Module, seed: int) -> Iterator[None]:
    """Evaluation mode, frozen weights, gradients and seeded random numbers inside; all as before afterwards.

    PyG's explainers leave hooks, masks and modes behind when an exception passes, and an empty parameter in any case
    (which later cuts the gradients of masks that are no parameters), so layers get back what they held to the letter.
    """
    with exclusively(model), _restoring(model) as layers:
        try:
            with evaluating(model), torch.enable_grad(), OwnRandomNumbers(seed):
                model.requires_grad_(False)
                for layer in layers:
                    if "_edge_mask" in layer._parameters:
                        del layer._parameters["_edge_mask"]
                        vars(layer)["_edge_mask"] = None
                yield
        except AssertionError as error:  # PyG's way to say that messages and masks do not fit
            raise UnsupportedError(
                f"model: PyG cannot mask the messages of its layers ({error}); use a black-box explainer such as mage"
            ) from error


@contextmanager
def _restoring(model: nn.Module) -> Iterator[list[MessagePassing]]:
    """The message-passing layers; they and the weights get back what they held."""
    layers = [module for module in model.modules() if isinstance(module, MessagePassing)]
    originals = [
        (dict(vars(layer)), {k: v.copy() for k, v in vars(layer).items() if isinstance(v, dict)}) for layer in layers
    ]
    weights = [(weight, weight.requires_grad, weight.grad) for weight in model.parameters()]
    try:
        yield layers
    finally:
        for layer, (attributes, contents) in zip(layers, originals, strict=True):
            vars(layer).clear()
            vars(layer).update(attributes)
            for name, content in contents.items():
                attributes[name].clear()
                attributes[name].update(content)
        for weight, required, gradient in weights:
            weight.requires_grad_(required)
            weight.grad = gradient


def device_of(model: nn.Module) -> torch.device:
    """Where a model's weights are."""
    return next((weight.device for weight in model.parameters()), torch.device("cpu"))


def check_layers(model: Any) -> None:
    """Refuse models without message-passing layers that can be looked into."""
    if not isinstance(model, nn.Module):
        raise UnsupportedError(
            f"model must be a torch.nn.Module to be looked into, got {type(model).__name__}; "
            "use a black-box explainer such as mage"
        )
    if not any(isinstance(module, MessagePassing) and module.explain is not False for module in model.modules()):
        raise UnsupportedError(
            "model has no layer of type torch_geometric.nn.MessagePassing (or all have explain=False); "
            "use a black-box explainer such as mage"
        )
