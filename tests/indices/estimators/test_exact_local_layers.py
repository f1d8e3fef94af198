"""``exact-local`` on PyG's layers: equal to ``exact``, or refused, whatever the edges are like."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric import nn as layers
from torch_geometric.data import Data

import mage
from mage.games import ModelGame
from mage.indices import NotLocalError
from mage.indices.estimators.exact_local import nodes
from mage.testing import random_graph

DEGREES = torch.tensor([1, 4, 5, 3, 1, 1])
PLAIN = {
    "GCN": layers.GCNConv,
    "GraphConv": layers.GraphConv,
    "SAGE": layers.SAGEConv,
    "SAGE, maximum": lambda a, b: layers.SAGEConv(a, b, aggr="max"),
    "GIN": lambda a, b: layers.GINConv(nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b))),
    "GAT": layers.GATConv,
    "GATv2": layers.GATv2Conv,
    "Transformer": layers.TransformerConv,
    "PNA": lambda a, b: layers.PNAConv(a, b, ["mean", "max"], ["identity", "amplification"], DEGREES),
    "TAG": lambda a, b: layers.TAGConv(a, b, K=2),
    "Chebyshev": lambda a, b: layers.ChebConv(a, b, K=2),
    "ARMA": layers.ARMAConv,
    "gated": lambda _, b: layers.GatedGraphConv(b, 2),
    "EdgeConv": lambda a, b: layers.EdgeConv(nn.Linear(2 * a, b)),
    "cluster": layers.ClusterGCNConv,
    "molecular fingerprint": lambda a, b: layers.MFConv(a, b, max_degree=4),
    "from target to source": lambda a, b: layers.GCNConv(a, b, flow="target_to_source"),
}
WITH_EDGES = {
    "GINE": lambda a, b: layers.GINEConv(nn.Linear(a, b), edge_dim=2),
    "NNConv": lambda a, b: layers.NNConv(a, b, nn.Linear(2, a * b)),
    "GAT with edges": lambda a, b: layers.GATConv(a, b, edge_dim=2),
}


class Network(nn.Module):
    """Two layers, an average and a linear head."""

    def __init__(self, make):
        super().__init__()
        self.layers, self.head = nn.ModuleList([make(3, 6), make(6, 6)]), nn.Linear(6, 2)

    def forward(self, x, edge_index, batch):
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        return self.head(layers.global_mean_pool(x, batch))


class NetworkWithEdges(Network):
    def forward(self, x, edge_index, edge_attr, batch):
        for layer in self.layers:
            x = layer(x, edge_index, edge_attr=edge_attr).relu()
        return self.head(layers.global_mean_pool(x, batch))


def a_graph(edges, seed):
    torch.manual_seed(seed)
    pairs = torch.from_numpy(random_graph(8, 0.28, seed).edges.T.copy())
    edge_index = {
        "both ways": torch.cat([pairs, pairs.flip(0)], dim=1),
        "one way": pairs,
        "messy": torch.cat([pairs, pairs.flip(0)[:, :4], pairs[:, :2], torch.tensor([[1], [1]])], dim=1),
    }[edges]
    features = torch.eye(3).double()[torch.randint(3, (8,))]
    return Data(x=features, edge_index=edge_index, edge_attr=torch.rand(edge_index.size(1), 2).double())


@pytest.mark.parametrize("edges", ["both ways", "one way", "messy"])
@pytest.mark.parametrize("name", [*PLAIN, *WITH_EDGES])
def test_the_index_is_the_exact_one(name, edges):
    for seed in range(2):
        data = a_graph(edges, seed)
        model = (Network(PLAIN[name]) if name in PLAIN else NetworkWithEdges(WITH_EDGES[name])).double().eval()
        computed = mage.interactions(
            ModelGame(model, data, masking="split", target=0, output="logit"), method="exact-local"
        )
        exact = mage.interactions(ModelGame(model, data, masking="split", target=0, output="logit"), method="exact")
        assert computed.values == pytest.approx(exact.values, abs=1e-10 * np.abs(exact.values).max())


@pytest.mark.parametrize("name", ["GCN", "GAT", "gated", "GINE"])
def test_most_layers_take_computation_trees(name, monkeypatch):
    monkeypatch.setattr(nodes, "_covering_coalitions", lambda *_: pytest.fail("coalitions were asked for"))
    model = (Network(PLAIN[name]) if name in PLAIN else NetworkWithEdges(WITH_EDGES[name])).double().eval()
    assert mage.interactions(
        ModelGame(model, a_graph("both ways", 3), masking="split", output="logit"), method="exact-local"
    ).exact


def test_what_comes_from_afar_counts_however_faint():
    """A thousandth of a percent is a violation in double precision, and rounding in single."""

    class Faint(nn.Module):
        def __init__(self):
            super().__init__()
            self.near, self.head = layers.GraphConv(4, 4), nn.Linear(4, 2)

        def forward(self, x, edge_index, batch):
            nearby = self.near(x, edge_index).relu()
            everywhere = layers.global_add_pool(nearby, batch)[batch]
            return layers.global_add_pool(self.head(nearby) * (1 + 1e-6 * everywhere.sum(1, keepdim=True)), batch)

    torch.manual_seed(0)
    edges = torch.tensor([(i, i + 1) for i in range(11)]).T
    data = Data(x=torch.rand(12, 4).double(), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    model = Faint().double().eval()
    with pytest.raises(NotLocalError, match="a violation of"):
        mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact-local")
    data.x = data.x.float()
    assert mage.interactions(
        ModelGame(model.float(), data, masking="split", output="logit"), method="exact-local"
    ).exact
