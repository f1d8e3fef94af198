"""PGExplainer: one network that scores the edges of all graphs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.explain import ExplainerConfig, ModelConfig
from torch_geometric.explain.algorithm import PGExplainer as PyGAlgorithm
from torch_geometric.utils import scatter

from mage._core.checks import checked_choice, checked_instance, checked_list, checked_number, checked_whole
from mage._torch.evaluation import evaluating
from mage.explainers._model_runs import LastLayer, Run
from mage.explainers._selection import dataset_class
from mage.explainers._white_box import EdgeScores, WhiteBoxExplainer, check_layers, device_of, undisturbed
from mage.explainers.protocol import UnsupportedError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset
    from mage.games import ModelGame

# Uniform noise stays this far from 0 and 1, whose logarithms are infinite.
_MARGIN = 1e-6


@dataclass(eq=False)
class PGExplainer(WhiteBoxExplainer):
    """A perceptron from the hidden features of an edge's two ends to the probability of keeping the edge.

    Trained on relaxed Bernoulli samples of the edges: cross-entropy of the predicted class under the masked messages +
    ``edge_size`` Σ m + ``edge_ent`` · mean entropy of m, with a temperature that falls from ``temperatures[0]`` to
    ``temperatures[1]``. PyG's implementation does the work. Explaining takes one forward pass and no gradients; all
    classes of a graph get the same scores.

    What the original does and PyG does not is added: both directions of an edge share the mean of their masks, and
    hidden features are those after the last activation. For outputs of nodes the perceptron also sees the hidden
    features of the node, as in the original; it learns from training nodes that lie in motifs, where the dataset knows
    them.

    The code released with MAGE steps once an epoch, 10 to 20 times in all: ``steps="epoch"``.

    Scores are the log-odds of the masks, mapped to numbers between 0 and 1: the masks of sure networks round to 1.

    Reference: Luo et al., Parameterized explainer for graph neural network, NeurIPS 2020.

    Args:
        epochs: Passes over the training graphs.
        lr: Step size of Adam.
        edge_size: Weight of the sum of the mask.
        edge_ent: Weight of its mean entropy.
        temperatures: First and last temperature.
        steps: When Adam steps: after each ``"graph"`` (or node), or once an ``"epoch"``, on the sum of all losses.
        max_graphs: Most training graphs (or nodes); of more, a random sample is taken to stay fast.
    """

    title = "PGExplainer"
    levels = ("graph", "node")
    needs_training = True

    epochs: int = 20
    lr: float = 3e-3
    edge_size: float = 0.005
    edge_ent: float = 5e-4
    temperatures: tuple[float, float] = (5.0, 1.0)
    max_graphs: int = 200
    steps: Literal["graph", "epoch"] = "graph"
    _algorithm: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        checked_choice("steps", self.steps, ("graph", "epoch"))
        checked_whole("epochs", self.epochs, least=0)
        checked_whole("max_graphs", self.max_graphs)
        for name in ("lr", "edge_size", "edge_ent"):
            checked_number(name, getattr(self, name))
        if len(checked_list("temperatures", self.temperatures, "two numbers")) != 2:
            raise ValueError(f"temperatures must be two numbers, got {self.temperatures!r}")
        for temperature in self.temperatures:
            checked_number("temperatures", temperature)

    def fit(self, model: Any, dataset: GraphDataset, seed: int = 0) -> None:
        """Train the perceptron on (a sample of) the training graphs, for the classes that the model predicts."""
        checked_instance("dataset", dataset, dataset_class(), "a dataset, as mage.datasets.load returns it")
        check_layers(model)
        device = device_of(model)
        of_nodes = dataset.task == "node"
        lessons: list[tuple[int, int | None]]
        if of_nodes:
            runs = [Run(model, dataset[0].to(device), of_nodes=True)]
            lessons = [(0, node) for node in training_nodes(dataset, self.max_graphs, seed)]
        else:
            runs = [Run(model, dataset[i].to(device)) for i in training_sample(dataset, self.max_graphs, seed)]
            lessons = [(position, None) for position in range(len(runs))]
        with evaluating(model):
            outputs = [_embed(run) for run in runs]
        is_multiclass = outputs[0].size(1) > 1
        classes = [out.argmax(dim=1) if is_multiclass else (out > 0).long().flatten() for out in outputs]
        mode = "multiclass_classification" if is_multiclass else "binary_classification"
        with undisturbed(model, seed), warnings.catch_warnings():
            # PyG reads the loss as a number without detaching it, which recent torch remarks on at each start.
            warnings.filterwarnings("ignore", "Converting a tensor with requires_grad", UserWarning)
            algorithm = self._new_algorithm(mode, "node" if of_nodes else "graph").to(device)
            for epoch in range(self.epochs):
                for lesson in torch.randperm(len(lessons)).tolist():
                    position, node = lessons[lesson]
                    run, target = runs[position], classes[position]
                    algorithm.train(epoch, run, run.embedding, run.data.edge_index, target=target, index=_index(node))
                algorithm.end_epoch()
        self._algorithm = algorithm

    def score_edges(self, model: nn.Module, data: Data, game: ModelGame) -> EdgeScores:
        """The scores of the edges by the perceptron, the same for all classes. Nothing is random here."""
        if self._algorithm is None:
            raise UnsupportedError("PGExplainer is not trained; call fit(model, dataset) first")
        level = self._algorithm.model_config.task_level.value
        if level != game.level:
            raise UnsupportedError(f"fit saw outputs of {level}s, not of {game.level}s; call fit with such a dataset")
        run = Run(model, data, of_nodes=game.level == "node")
        index = _index(game.target_nodes[0]) if run.of_nodes else None
        with torch.no_grad():
            _embed(run)
            seen = 3 if run.of_nodes else 2
            trained, width = self._algorithm.mlp[0].in_channels // seen, run.embedding.size(1)
            if trained != width:
                raise UnsupportedError(f"model has {width} hidden features, but fit saw {trained}; call fit again")
            algorithm = self._algorithm.to(run.embedding.device)
            logits = algorithm.mlp(algorithm._get_inputs(run.embedding, data.edge_index, index)).view(-1)
        scores = unsaturated(log_odds_both_ways(logits, data.edge_index))
        if run.of_nodes:
            _, within = algorithm._get_hard_masks(run, index, data.edge_index, num_nodes=data.num_nodes)
            scores = both_ways(scores.masked_fill(~within, 0.0), data.edge_index)
        return EdgeScores(scores.cpu().numpy(), run.graphs)

    def _new_algorithm(self, mode: str, level: str = "graph") -> Algorithm:
        algorithm = Algorithm(
            self.epochs,
            self.lr,
            edge_size=self.edge_size,
            edge_ent=self.edge_ent,
            temp=list(self.temperatures),
            bias=_MARGIN,
        )
        if self.steps == "epoch":
            algorithm.optimizer = EpochSteps(algorithm.optimizer)
        algorithm.connect(
            ExplainerConfig(explanation_type="phenomenon", edge_mask_type="object"), ModelConfig(mode, level, "raw")
        )
        return algorithm


class Algorithm(PyGAlgorithm):  # type: ignore[misc]
    """PyG's algorithm with settings of its own, the run's hidden features and one mask for both directions."""

    def __init__(self, epochs: int, lr: float, **coefficients: Any) -> None:
        # PyG updates a dictionary of the class, so that the settings of one object would reach the next.
        self.coeffs = dict(PyGAlgorithm.coeffs)
        super().__init__(epochs, lr, **coefficients)

    def end_epoch(self) -> None:
        """Step where steps wait for the end of an epoch."""
        if isinstance(self.optimizer, EpochSteps):
            self.optimizer.end_epoch()

    def _get_embeddings(self, model: Any, *_: Any, **__: Any) -> Tensor:
        embedding: Tensor = model.embedding
        return embedding

    def _generate_edge_masks(self, emb: Any, edge_index: Any, index: Any, temperature: float) -> Tensor:
        logits = super()._generate_edge_masks(emb, edge_index, index, temperature)
        return torch.logit(both_ways(logits.sigmoid(), edge_index), eps=_MARGIN)


class EpochSteps:
    """An optimiser that accumulates gradients until the end of an epoch; calls of ``step`` before that do nothing.

    Args:
        optimizer: The optimiser that steps then.
    """

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizer = optimizer

    def zero_grad(self) -> None:
        """Keep the gradients."""

    def step(self) -> None:
        """Wait."""

    def end_epoch(self) -> None:
        """Step, and begin anew."""
        self._optimizer.step()
        self._optimizer.zero_grad()


def both_ways(values: Tensor, edge_index: Tensor) -> Tensor:
    """The mean over all columns that join the same two nodes, in either direction."""
    low, high = edge_index.min(dim=0).values, edge_index.max(dim=0).values
    pair = torch.unique(torch.stack([low, high]), dim=1, return_inverse=True)[1]
    means: Tensor = scatter(values, pair, reduce="mean")
    return means[pair]


def unsaturated(log_odds: Tensor) -> Tensor:
    """Log-odds of masks as numbers between 0 and 1 that keep their order.

    The masks themselves are σ(log-odds), of which many are exactly 1 (or 0) where a network is sure. Which of them come
    first would then be left to the order of the edges.
    """
    scores: Tensor = (1 + functional.softsign(log_odds.double())) / 2
    return scores


def log_odds_both_ways(logits: Tensor, edge_index: Tensor) -> Tensor:
    """The log-odds of :func:`both_ways` of σ(logits), computed from logarithms so that none are lost to rounding."""
    low, high = edge_index.min(dim=0).values, edge_index.max(dim=0).values
    pair = torch.unique(torch.stack([low, high]), dim=1, return_inverse=True)[1]

    def log_sum(values: Tensor) -> Tensor:
        largest = scatter(values, pair, reduce="max")[pair]
        total: Tensor = scatter((values - largest).exp(), pair, reduce="sum")[pair].log() + largest
        return total

    exact = logits.double()
    return log_sum(functional.logsigmoid(exact)) - log_sum(functional.logsigmoid(-exact))


def _index(node: int | None) -> Tensor | None:
    return None if node is None else torch.tensor([node])


def training_nodes(dataset: GraphDataset, most: int, seed: int) -> list[int]:
    """At most so many training nodes, at random; of a dataset with motifs only those that lie in one."""
    order = np.random.default_rng(seed).permutation(dataset.split.train)
    motif = dataset[0].get("node_motif")
    inside = order if motif is None else order[motif.numpy()[order] >= 0]
    return [int(node) for node in (inside if len(inside) else order)[:most]]


def training_sample(dataset: GraphDataset, max_graphs: int, seed: int) -> list[int]:
    """At most so many training graphs with edges, at random."""
    if dataset.task != "graph":
        raise UnsupportedError(f"dataset: {dataset.title} has labels of nodes; this explainer learns from graphs")
    order = np.random.default_rng(seed).permutation(dataset.split.train)
    usable = order[dataset.num_edges_each[order] > 0][:max_graphs]
    if not len(usable):
        raise UnsupportedError("dataset: no graph of its training part has edges; there is nothing to learn from")
    return [int(position) for position in usable]


def _embed(run: Run) -> Tensor:
    """Run the model once: hidden features go to ``run.embedding``, the output is returned."""
    with LastLayer(run.model, run.data.num_nodes) as layer:
        out: Tensor = run()
    run.embedding = layer.features.detach()
    return out
