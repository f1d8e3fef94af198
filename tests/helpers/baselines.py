"""Models, graphs and checks that the gradient and mask explainers share."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    GATv2Conv,
    GINEConv,
    MessagePassing,
    global_add_pool,
    global_mean_pool,
)

from mage.datasets import GraphDataset
from mage.datasets.dataset import Split
from mage.explainers.protocol import UnsupportedError
from mage.explainers.refine import (
    ReFine,
)
from mage.models import GAT, GCN, GIN


class Identity(MessagePassing):
    def forward(self, x, edge_index):
        return x


class EdgeNet(nn.Module):
    """A model that reads features of edges: a GINE layer, then attention."""

    def __init__(self, features=4, width=8, edge_features=3):
        super().__init__()
        self.first = GINEConv(nn.Linear(features, width), edge_dim=edge_features)
        self.second = GATv2Conv(width, width // 2, heads=2, edge_dim=edge_features)
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(width, 2)

    def forward(self, x, edge_index, edge_attr, batch):
        x = self.first(x, edge_index, edge_attr).relu()
        return self.head(global_mean_pool(self.drop(self.second(x, edge_index, edge_attr).relu()), batch))


class Spy(nn.Module):
    """Counts the graphs that a model is run on; may fail at a call of one's choice."""

    def __init__(self, model, fails_at=None):
        super().__init__()
        self.model, self.fails_at = model, fails_at
        self.graphs = self.calls = 0

    def forward(self, x, edge_index, batch):
        self.count(batch)
        return self.model(x, edge_index, batch)

    def count(self, batch):
        self.graphs += int(batch.max()) + 1
        self.calls += 1
        if self.calls == self.fails_at:
            raise RuntimeError("the model failed")


class EdgeSpy(Spy):
    """The same for a model that takes features of edges."""

    def forward(self, x, edge_index, edge_attr, batch):
        self.count(batch)
        return self.model(x, edge_index, edge_attr, batch)


def graph(seed=0, nodes=10, edge_features=None):
    generator = torch.Generator().manual_seed(seed)
    edges = torch.tensor(list(nx.barabasi_albert_graph(nodes, 2, seed=seed).edges())).T
    edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    data = Data(x=torch.randn(nodes, 4, generator=generator), edge_index=edge_index)
    if edge_features:
        data.edge_attr = torch.randn(edge_index.size(1), edge_features, generator=generator)
    return data


def models():
    small = {"num_features": 4, "num_classes": 2, "num_layers": 2}
    return {
        "gcn": GCN(**small, width=8),
        "gcn without degrees": GCN(**small, width=8, normalize=False),
        "gin": GIN(**small, width=8, readout="max"),
        "gat": GAT(**small, heads=2, head_width=4),
        "edge features": EdgeNet(),
    }


def input_of(name):
    return graph(edge_features=3 if name == "edge features" else None)


def state(model):
    """All that a model holds, hooks, masks, modes and gradients included."""
    layers = {
        name: (
            {key: value for key, value in vars(module).items() if not isinstance(value, dict)},
            {key: dict(value) for key, value in vars(module).items() if isinstance(value, dict)},
        )
        for name, module in model.named_modules()
    }
    weights = [(weight.data.clone(), weight.requires_grad, copy.copy(weight.grad)) for weight in model.parameters()]
    return layers, weights, torch.get_rng_state(), torch.get_num_threads(), torch.is_grad_enabled()


def assert_same(before, after):
    assert before[0].keys() == after[0].keys()
    for name, (attributes, containers) in before[0].items():
        for ours, theirs in ((attributes, after[0][name][0]), (containers, after[0][name][1])):
            assert ours.keys() == theirs.keys(), name
            for key, value in ours.items():
                assert value is theirs[key] or value == theirs[key], (name, key)
    for (weight, required, gradient), (weight_, required_, gradient_) in zip(before[1], after[1], strict=True):
        assert torch.equal(weight, weight_)
        assert required == required_
        assert (gradient is None) == (gradient_ is None)
        assert gradient is None or torch.equal(gradient, gradient_)
    assert torch.equal(before[2], after[2])
    assert before[3:] == after[3:]


def check_restores(explainer, model, data, fails_at):
    """Explaining, and failing to, leaves no trace on a model in a mixed state."""
    model.train()
    next(model.parameters()).requires_grad_(False)
    weight = list(model.parameters())[-1]
    weight.grad = torch.ones_like(weight)
    spying = EdgeSpy if isinstance(model, EdgeNet) else Spy
    spy = spying(model)
    before = state(model)
    explanation = explainer.explain(spy, data)
    assert_same(before, state(model))
    assert explanation.num_queries == spy.graphs
    with pytest.raises(RuntimeError, match="the model failed"):
        explainer.explain(spying(model, fails_at), data)
    assert_same(before, state(model))


def check_repeats(explainer, model, data, random=False):
    """The same by the same seed, also after a pickle; at most M nodes; one finite score an edge."""
    first = explainer.explain(model, data, max_nodes=4, seed=1)
    again = pickle.loads(pickle.dumps(explainer)).explain(model, data, max_nodes=4, seed=1)  # noqa: S301
    scores = np.array(first.method_edge_scores)
    assert np.array_equal(scores, again.method_edge_scores)
    assert first.motifs.nodes == again.motifs.nodes
    assert scores.shape == (data.edge_index.size(1),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    other = explainer.explain(model, data, max_nodes=4, seed=2)
    assert np.array_equal(scores, other.method_edge_scores) != random
    for most in (1, 2, 3, 5, 10):
        assert len(explainer.explain(model, data, max_nodes=most).motifs.nodes) <= most


def check_seeds_of_training(make, name):
    """Explainers of ``make()`` that are trained by one seed agree; another seed gives other scores."""
    explainer, twin, other = make(), make(), make()
    model, data = models()[name], input_of(name)
    explainer.fit(model, dataset_for(name), seed=3)
    check_repeats(explainer, model, data)
    torch.manual_seed(9)  # the global state must not matter
    twin.fit(model, dataset_for(name), seed=3)
    other.fit(model, dataset_for(name), seed=4)
    scores = [trained.explain(model, data).method_edge_scores for trained in (explainer, twin, other)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def check_training_restores(make, fails_at):
    """Training an explainer of ``make()``, and failing to, leaves no trace on the model."""
    model = GCN(4, 2, width=8).train()
    before = state(model)
    make().fit(model, dataset())
    assert_same(before, state(model))
    with pytest.raises(RuntimeError, match="the model failed"):
        make().fit(Spy(model, fails_at=fails_at), dataset())
    assert_same(before, state(model))


def check_refuses(explainer, model):
    """What cannot be explained is refused in words."""
    with pytest.raises(UnsupportedError, match="no edges"):
        explainer.explain(model, Data(x=torch.ones(3, 4), edge_index=torch.empty(2, 0, dtype=torch.long)))
    with pytest.raises(UnsupportedError, match="MessagePassing"):
        explainer.explain(nn.Linear(4, 2), graph())
    with pytest.raises(UnsupportedError, match="Module"):
        explainer.explain(lambda x, edge_index, batch: global_mean_pool(x, batch), graph())
    with pytest.raises(ValueError, match="max_nodes"):
        explainer.explain(model, graph(), max_nodes=0)


PATH = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


class Sum(MessagePassing):
    def __init__(self):
        super().__init__(aggr="sum")

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x)


def dataset(graphs=None, edge_features=None):
    graphs = graphs or [graph(seed, 8, edge_features) for seed in range(12)]
    for position, data in enumerate(graphs):
        data.y = torch.tensor([position % 2])
    positions = np.arange(len(graphs))
    return GraphDataset.from_graphs("small", graphs, split=Split(positions[:-4], positions[-4:-2], positions[-2:]))


def dataset_for(name):
    return dataset(edge_features=3 if name == "edge features" else None)


class Toy(nn.Module):
    """Logits [0, 6 h₁ − 3], h₁ being the message to node 1; the hidden features are the nodes' numbers."""

    def __init__(self):
        super().__init__()
        self.layer, self.names = Sum(), Identity()

    def forward(self, x, edge_index, batch):
        message, names = self.layer(x[:, :1], edge_index)[:, 0], self.names(x[:, 1:], edge_index)
        logit = 6 * global_add_pool(message * names[:, 1], batch) - 3
        return torch.stack([torch.zeros_like(logit), logit], dim=1)


def toy_graph():
    values = torch.tensor([[1.0], [0.0], [0.0], [1.0]])
    return Data(x=torch.cat([values, torch.eye(4)], dim=1), edge_index=PATH)


def quick(**settings):
    return ReFine(**{"epochs": 1, "tuning_epochs": 3, "width": 8, "batch_size": 4, **settings})
