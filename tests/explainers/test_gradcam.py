import copy
import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GATv2Conv, GINEConv, MessagePassing, global_add_pool, global_max_pool, global_mean_pool

from mage.explainers.gradcam import GradCAM
from mage.explainers.protocol import UnsupportedError
from mage.models import GAT, GCN, GIN


class Identity(MessagePassing):
    def forward(self, x, edge_index):
        return x


class Linear(nn.Module):
    """Logits [0, W · pool(activation(x))], with W = [1, −1]."""

    def __init__(self, pool=global_mean_pool, activation=lambda x: x):
        super().__init__()
        self.layer, self.pool, self.activation = Identity(), pool, activation
        self.weight = nn.Parameter(torch.tensor([[0.0, 0.0], [1.0, -1.0]]))

    def forward(self, x, edge_index, batch):
        return self.pool(self.activation(self.layer(x, edge_index)), batch) @ self.weight.T


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

    def forward(self, x, edge_index, batch, edge_attr=None):
        self.graphs += int(batch.max()) + 1
        self.calls += 1
        if self.calls == self.fails_at:
            raise RuntimeError("the model failed")
        return self.model(x, edge_index, batch) if edge_attr is None else self.model(x, edge_index, edge_attr, batch)


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
    spy = Spy(model)
    before = state(model)
    explainer.explain(spy, data)
    assert_same(before, state(model))
    assert explainer.explain(model, data).num_queries == spy.graphs
    with pytest.raises(RuntimeError, match="the model failed"):
        explainer.explain(Spy(model, fails_at), data)
    assert_same(before, state(model))


def check_repeats(explainer, model, data, random=False):
    """The same by the same seed, also after a pickle; at most M nodes; one finite score an edge."""
    first = explainer.explain(model, data, max_nodes=4, seed=1)
    again = pickle.loads(pickle.dumps(explainer)).explain(model, data, max_nodes=4, seed=1)  # noqa: S301
    scores = first.method_edge_scores
    assert np.array_equal(scores, again.method_edge_scores)
    assert first.motifs.nodes == again.motifs.nodes
    assert scores.shape == (data.edge_index.size(1),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    other = explainer.explain(model, data, max_nodes=4, seed=2)
    assert np.array_equal(scores, other.method_edge_scores) != random
    for most in (1, 2, 3, 5, 10):
        assert len(explainer.explain(model, data, max_nodes=most).motifs.nodes) <= most


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


TRIANGLE = torch.tensor([[0, 1, 0], [1, 2, 2]])
ORACLE = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
BEFORE_ACTIVATION = torch.tensor([[1.0, -1.0], [-2.0, 2.0], [3.0, 1.0]])


@pytest.mark.parametrize("pool", [global_mean_pool, global_max_pool, global_add_pool])
def test_oracle(pool):
    explanation = GradCAM().explain(Linear(pool), Data(x=ORACLE, edge_index=TRIANGLE), target=1)
    assert np.allclose(explanation.interactions.values, [0.5, 0, 1])
    assert np.allclose(explanation.method_edge_scores, [0.25, 0.5, 0.75])


@pytest.mark.parametrize(
    "activation", [torch.relu, nn.ReLU(), nn.ReLU(inplace=True), lambda x: x.relu(), lambda x: x.relu_()]
)
def test_features_are_those_after_the_activation(activation):
    explanation = GradCAM().explain(
        Linear(activation=activation), Data(x=BEFORE_ACTIVATION, edge_index=TRIANGLE), target=1
    )
    assert np.allclose(explanation.interactions.values, [0.5, 0, 1])


def test_without_an_activation_the_layer_itself_counts():
    # The oracle of the released code: a rectifier that is none of torch's activations hides behind the layer.
    model = Linear(activation=lambda x: x * (x > 0))
    explanation = GradCAM().explain(model, Data(x=BEFORE_ACTIVATION, edge_index=TRIANGLE), target=1)
    assert np.allclose(explanation.interactions.values, [1, 0, 1])


def test_the_mean_readout_makes_it_a_class_activation_map():
    # With a linear head on the mean, α is the head's row, so the map needs no gradients to be known.
    model, data = GCN(4, 2, width=8, num_layers=2, normalize=False).eval(), graph()
    with torch.no_grad():
        expected = (model.embed(data.x, data.edge_index) @ model.head.weight[1]).relu().numpy()
    explanation = GradCAM().explain(model, data, target=1)
    assert expected.max() > 0
    assert np.allclose(explanation.interactions.values, expected / expected.max(), atol=1e-6)


def test_frozen_models_and_whole_numbers_are_fine():
    class Embedding(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.network = nn.Embedding(5, 4), GCN(4, 2, width=8)

        def forward(self, x, edge_index, batch):
            return self.network(self.table(x), edge_index, batch)

    data = graph()
    data.x = torch.arange(10) % 5
    assert max(GradCAM().explain(Embedding().requires_grad_(False), data).method_edge_scores) <= 1


def test_layers_without_effect_explain_nothing():
    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = Identity(), nn.Linear(4, 2)

        def forward(self, x, edge_index, batch):
            self.layer(x, edge_index)
            return self.head(global_mean_pool(x, batch))

    explanation = GradCAM().explain(Unused(), graph())
    assert explanation.motifs.nodes == ()
    assert set(explanation.method_edge_scores) == {0.0}


@pytest.mark.parametrize("name", list(models()))
def test_restores_and_counts(name):
    check_restores(GradCAM(), models()[name], input_of(name), fails_at=5)


@pytest.mark.parametrize("name", list(models()))
def test_repeats(name):
    check_repeats(GradCAM(), models()[name], input_of(name))


def test_refuses():
    check_refuses(GradCAM(), GCN(4, 2, width=8))


_ELSEWHERE = """
import torch
from mage.explainers.gradcam import GradCAM
from mage.explainers.gnnexplainer import GNNExplainer
from mage.explainers.pgexplainer import PGExplainer
from mage.models import GCN
from tests.explainers.test_gradcam import graph
from tests.explainers.test_pgexplainer import dataset
from tests.explainers.test_refine import quick

def scores():
    torch.manual_seed(0)
    model, found = GCN(4, 2, width=8), []
    for explainer in (GradCAM(), GNNExplainer(epochs=5), PGExplainer(epochs=2), quick()):
        explainer.fit(model, dataset(), seed=5)
        found.append(explainer.explain(model, graph(), seed=7).method_edge_scores)
    return found
"""


def test_the_same_in_another_process():
    here = {}
    exec(_ELSEWHERE, here)  # noqa: S102
    there = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE + "print(repr(scores()))"], capture_output=True, text=True, check=True
    )
    assert repr(here["scores"]()) == there.stdout.strip()
