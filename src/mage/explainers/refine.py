"""ReFine: edge scorers learned for each class, then refined on the graph at hand."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Batch
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import ARMAConv, global_mean_pool

from mage._core.checks import checked_instance
from mage._torch.evaluation import evaluating
from mage._torch.graph_input import GraphInput
from mage.explainers._model_runs import LastLayer, Run
from mage.explainers._selection import dataset_class
from mage.explainers._white_box import EdgeScores, WhiteBoxExplainer, check_layers, device_of, undisturbed
from mage.explainers.pgexplainer import training_sample
from mage.explainers.protocol import UnsupportedError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset
    from mage.games import ModelGame

# Of the loss: weights of the mean mask and of its mean entropy, temperature of the contrast.
_SIZE, _ENTROPY, _CONTRAST_TEMPERATURE = 1e-4, 1e-2, 0.1


@dataclass(eq=False)
class ReFine(WhiteBoxExplainer):
    """Multi-grained explanations: a small graph network for each class scores edges, then a copy adapts to the graph.

    Training samples relaxed Bernoulli masks of the messages and minimises −Σ probability of the predicted class + 1e-4
    · mean mask + 1e-2 · mean entropy + γ · contrast. The contrast draws the hidden features of the ``ratio`` best edges
    together for graphs of one class and apart for others. Explaining refines a copy of the target's scorer for
    ``tuning_epochs`` steps on the ``ratio`` best edges of the graph, one forward and one backward pass each.

    Of the original code it leaves out that positive pairs carry no gradient and that noise is measured in bits; hidden
    features are averaged over nodes whatever the model's readout, and scorers explain with the normalisation learned.
    The code released with MAGE lets no mask reach the model and refines nothing.

    Reference: Wang et al., Towards multi-grained explainability for graph neural networks, NeurIPS 2021.

    Args:
        epochs: Passes over the training graphs.
        lr: First step size of Adam, divided by 5 when the loss on validation graphs has not fallen for 3 epochs.
        ratio: ρ, share of the edges that make an explanation.
        contrast: γ.
        batch_size: Graphs a step.
        width: Width of the scorers.
        num_layers: Number of their graph layers.
        tuning_epochs: Steps on the graph to explain.
        tuning_lr: Their size.
        max_graphs: Most graphs for training, and for validation; of more, a random sample is taken to stay fast.
    """

    title = "ReFine"
    needs_training = True

    epochs: int = 20
    lr: float = 1e-2
    ratio: float = 0.5
    contrast: float = 5.0
    batch_size: int = 32
    width: int = 50
    num_layers: int = 2
    tuning_epochs: int = 20
    tuning_lr: float = 1e-4
    max_graphs: int = 500
    _scorers: nn.ModuleDict | None = field(default=None, init=False, repr=False)

    def fit(self, model: Any, dataset: GraphDataset, seed: int = 0) -> None:
        """Train a scorer for each class that the model predicts on (a sample of) the training graphs."""
        checked_instance("dataset", dataset, dataset_class(), "a dataset, as mage.datasets.load returns it")
        check_layers(model)
        training = training_sample(dataset, self.max_graphs, seed)
        validation = [int(i) for i in dataset.split.validation if dataset.num_edges_each[i] > 0][: self.max_graphs]
        first = GraphInput.of(dataset[training[0]])
        keys = Keys(tuple(first.node), tuple(first.edge), tuple(first.graph))
        graphs = [*training, *validation]
        with evaluating(model):
            parts = [graphs[i : i + self.batch_size] for i in range(0, len(graphs), self.batch_size)]
            outs = [probabilities(keys.run(model, dataset.batch(part).to(device_of(model)))()) for part in parts]
        classes = dict(zip(graphs, torch.cat(outs).argmax(dim=1).tolist(), strict=True))
        with undisturbed(model, seed):
            kinds = sorted({classes[i] for i in training})
            scorers = nn.ModuleDict({str(kind): EdgeScorer(first, self.width, self.num_layers) for kind in kinds})
            scorers.to(device_of(model))
            optimiser = torch.optim.Adam(scorers.parameters(), lr=self.lr)
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.2, patience=3, min_lr=1e-5)
            usable = [i for i in validation if classes[i] in kinds]
            for _ in range(self.epochs):
                order = [training[i] for i in torch.randperm(len(training)).tolist()]
                total = self._epoch(model, dataset, keys, order, classes, scorers.train(), optimiser)
                if usable:
                    with torch.no_grad():
                        total = self._epoch(model, dataset, keys, usable, classes, scorers.eval(), None)
                schedule.step(total)
        self._scorers = scorers.eval().requires_grad_(False)

    def score_edges(self, model: nn.Module, data: Data, game: ModelGame) -> EdgeScores:
        """The scores of the edges by the refined scorer of the class. Nothing is random here."""
        if self._scorers is None:
            raise UnsupportedError("ReFine is not trained; call fit(model, dataset) first")
        kind = int(game.prediction[0] > 0) if game.target is None else game.target
        if str(kind) not in self._scorers:
            raise UnsupportedError(f"target: fit saw no graph of class {kind}, only of {', '.join(self._scorers)}")
        whole = GraphInput.of(data)
        keys = Keys(tuple(whole.node), tuple(whole.edge), tuple(whole.graph))
        scorer: Any = copy.deepcopy(self._scorers[str(kind)]).to(whole.device).requires_grad_(True)
        scorer.check(whole)
        optimiser = torch.optim.Adam(scorer.parameters(), lr=self.tuning_lr)
        graph, queries = Run(model, data).data, 0
        for _ in range(self.tuning_epochs):
            mask = scorer(graph).sigmoid()
            subgraph, edges = best_subgraph(graph, mask, self.ratio, keys)
            run = keys.run(model, subgraph)
            set_masks(model, mask[edges], subgraph.edge_index, apply_sigmoid=False)
            loss = fidelity_loss(probabilities(run())[:, kind], mask[edges])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            queries += run.graphs
        return EdgeScores(scorer(graph).sigmoid().detach().double().cpu().numpy(), queries)

    def _epoch(
        self,
        model: nn.Module,
        dataset: GraphDataset,
        keys: Keys,
        positions: list[int],
        classes: dict[int, int],
        scorers: nn.ModuleDict,
        optimiser: torch.optim.Optimizer | None,
    ) -> float:
        """The mean loss of a graph, with steps on the way if there is an optimiser."""
        total = 0.0
        for start in range(0, len(positions), self.batch_size):
            part = positions[start : start + self.batch_size]
            union = dataset.batch(part).to(device_of(model))
            labels = torch.tensor([classes[i] for i in part], device=union.batch.device)
            logits = _scores(scorers, union, labels, keys)
            if optimiser is not None:
                noise = torch.rand_like(logits).clamp(1e-6, 1 - 1e-6)
                logits = logits + torch.logit(noise)
            loss = self._loss(model, union, labels, logits.sigmoid(), keys)
            total += float(loss.detach())
            if optimiser is not None:
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
        return total / len(positions)

    def _loss(self, model: nn.Module, union: Batch, labels: Tensor, mask: Tensor, keys: Keys) -> Tensor:
        set_masks(model, mask, union.edge_index, apply_sigmoid=False)
        of_class = probabilities(keys.run(model, union)())[torch.arange(len(labels)), labels]
        loss = fidelity_loss(of_class, mask)
        subgraph, edges = best_subgraph(union, mask, self.ratio, keys)
        set_masks(model, mask[edges], subgraph.edge_index, apply_sigmoid=False)
        with LastLayer(model, subgraph.num_nodes) as layer:
            keys.run(model, subgraph)()
        clear_masks(model)
        embeddings = global_mean_pool(layer.features, subgraph.batch, len(labels))
        return loss + self.contrast * contrastive_loss(embeddings, labels)


class Keys(NamedTuple):
    """Names of the tensors of nodes, edges and graphs."""

    node: tuple[str, ...]
    edge: tuple[str, ...]
    graph: tuple[str, ...]

    def run(self, model: nn.Module, union: Batch) -> Run:
        """The model tied to a union of graphs."""
        return Run(model, union, union.num_graphs, {*self.node, *self.edge, *self.graph})


class EdgeScorer(nn.Module):
    """Logits of edges: a linear layer, ARMA layers with batch normalisation, a perceptron on the two ends of an edge.

    Args:
        graph: A graph whose features are like those to come; edge features count if they have two columns or more.
        width: Width.
        num_layers: Number of ARMA layers.
    """

    def __init__(self, graph: GraphInput, width: int, num_layers: int) -> None:
        super().__init__()
        self.inputs = _widths(graph)
        self.enter = nn.Sequential(nn.Linear(self.inputs[0], width), nn.ReLU())
        self.layers = nn.ModuleList(ARMAConv(width, width) for _ in range(num_layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(num_layers))
        self.of_edges = nn.Sequential(nn.Linear(self.inputs[1], width), nn.ReLU()) if self.inputs[1] else None
        ends = (2 + (self.of_edges is not None)) * width
        self.leave = nn.Sequential(nn.Linear(ends, width), nn.Tanh(), nn.Linear(width, 1))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)

    def check(self, graph: GraphInput) -> None:
        """Refuse graphs with other features than those learned from."""
        if _widths(graph) != self.inputs:
            raise UnsupportedError(
                f"data has {_widths(graph)} features of nodes and edges, but fit saw {self.inputs}; call fit again"
            )

    def forward(self, graph: Any) -> Tensor:
        """One logit for each column of ``edge_index``."""
        x = self.enter(graph.x.float().flatten(start_dim=1))
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(layer(x, graph.edge_index).relu())
        parts = [x[graph.edge_index[0]], x[graph.edge_index[1]]]
        if self.of_edges is not None:
            parts.append(self.of_edges(graph.edge_attr.float()))
        logits: Tensor = self.leave(torch.cat(parts, dim=1)).squeeze(1)
        return logits


def _widths(graph: GraphInput) -> tuple[int, int]:
    if "x" not in graph.node:
        raise UnsupportedError("data has no features x of nodes to learn from; use a black-box explainer such as mage")
    of_edges = graph.edge.get("edge_attr")
    columns = of_edges.size(1) if of_edges is not None and of_edges.dim() == 2 else 0
    return graph.node["x"].flatten(start_dim=1).size(1), columns if columns > 1 else 0


def _scores(scorers: nn.ModuleDict, union: Batch, labels: Tensor, keys: Keys) -> Tensor:
    """Logits of all edges, those of a graph by the scorer of its class."""
    label = labels[union.batch[union.edge_index[0]]]
    logits = torch.zeros(len(label), device=label.device)
    for kind in sorted(set(labels.tolist())):
        logits[label == kind] = scorers[str(kind)](_part(union, labels[union.batch] == kind, label == kind, keys))
    return logits


def _part(union: Batch, nodes: Tensor, edges: Tensor, keys: Keys) -> Batch:
    """Some nodes and some of the edges between them, renumbered; graphs keep their numbers."""
    place = nodes.cumsum(dim=0) - 1
    part = Batch(
        **{key: union[key][nodes] for key in keys.node if key in union},
        **{key: union[key][edges] for key in keys.edge if key in union},
        **{key: union[key] for key in keys.graph if key in union},
        edge_index=place[union.edge_index[:, edges]],
        batch=union.batch[nodes],
        num_nodes=int(nodes.sum()),
    )
    part._num_graphs = union.num_graphs  # what Batch.from_data_list would have noted
    return part


def best_subgraph(union: Batch, mask: Tensor, ratio: float, keys: Keys) -> tuple[Batch, Tensor]:
    """The ⌈ratio · edges⌉ edges of each graph with the highest mask, with the nodes they touch; and which these are."""
    owner = union.batch[union.edge_index[0]]
    order = torch.argsort(mask.detach(), descending=True, stable=True)
    order = order[torch.argsort(owner[order], stable=True)]
    counts = torch.bincount(owner, minlength=union.num_graphs)
    rank = torch.arange(len(order), device=order.device) - (counts.cumsum(dim=0) - counts)[owner[order]]
    places = (ratio * counts.double() - 1e-9).ceil().clamp(min=1)
    best = torch.zeros_like(order, dtype=torch.bool)
    best[order] = rank < places[owner[order]]
    touched = torch.zeros(union.num_nodes, dtype=torch.bool, device=order.device)
    touched[union.edge_index[:, best].flatten()] = True
    return _part(union, touched, best, keys), best


def probabilities(out: Tensor) -> Tensor:
    """Probabilities of classes [q, C]; a single column is the logit of class 1 of 2."""
    return functional.softmax(out if out.size(1) > 1 else torch.cat([torch.zeros_like(out), out], dim=1), dim=1)


def fidelity_loss(of_class: Tensor, mask: Tensor) -> Tensor:
    """−Σ probability of the class + regularisers of the size and the entropy of the mask."""
    inside = mask.clamp(1e-6, 1 - 1e-6)
    entropy = -inside * inside.log() - (1 - inside) * (1 - inside).log()
    return -of_class.sum() + _SIZE * mask.mean() + _ENTROPY * entropy.mean()


def contrastive_loss(embeddings: Tensor, labels: Tensor) -> Tensor:
    """−log Σ_i exp(p_i / 0.1 t_i), with p_i and t_i the similarity of graph i to those of its class and to all."""
    unit = functional.normalize(embeddings, dim=1)
    similarity = (unit @ unit.T).relu()
    same_class = (similarity * (labels[:, None] == labels[None])).sum(dim=1)
    return -torch.logsumexp(same_class / (_CONTRAST_TEMPERATURE * similarity.sum(dim=1).clamp(min=1e-6)), dim=0)
