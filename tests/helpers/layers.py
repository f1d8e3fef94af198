"""PyG's layers and readouts, small, for tests that must hold for all of them."""

import torch
from torch import nn
from torch_geometric import nn as layers
from torch_geometric.data import Data
from torch_geometric.nn import aggr

from mage.testing import random_graph

DEGREES = torch.tensor([1, 4, 5, 3, 1, 1])


def perceptron(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))


PLAIN = {
    "GCN": layers.GCNConv,
    "GCN without degrees": lambda a, b: layers.GCNConv(a, b, normalize=False),
    "GraphConv": layers.GraphConv,
    "SAGE": layers.SAGEConv,
    "SAGE, maximum": lambda a, b: layers.SAGEConv(a, b, aggr="max"),
    "GIN": lambda a, b: layers.GINConv(perceptron(a, b)),
    "GAT": layers.GATConv,
    "GATv2": layers.GATv2Conv,
    "SuperGAT": layers.SuperGATConv,
    "Transformer": layers.TransformerConv,
    "PNA": lambda a, b: layers.PNAConv(a, b, ["mean", "max"], ["identity", "amplification"], DEGREES),
    "TAG": lambda a, b: layers.TAGConv(a, b, K=2),
    "SG": lambda a, b: layers.SGConv(a, b, K=2),
    "Chebyshev": lambda a, b: layers.ChebConv(a, b, K=2),
    "ARMA": layers.ARMAConv,
    "gated": lambda _, b: layers.GatedGraphConv(b, 2),
    "residual gated": layers.ResGatedGraphConv,
    "EdgeConv": lambda a, b: layers.EdgeConv(nn.Linear(2 * a, b)),
    "cluster": layers.ClusterGCNConv,
    "molecular fingerprint": lambda a, b: layers.MFConv(a, b, max_degree=4),
    "local extrema": layers.LEConv,
    "general": layers.GeneralConv,
    "FeaSt": lambda a, b: layers.FeaStConv(a, b, heads=2),
    "efficient": lambda a, b: layers.EGConv(a, b, num_heads=2),
    "directed": lambda a, b: layers.DirGNNConv(layers.GraphConv(a, b)),
    "from target to source": lambda a, b: layers.GCNConv(a, b, flow="target_to_source"),
}
WITH_EDGES = {
    "GINE": lambda a, b: layers.GINEConv(nn.Linear(a, b), edge_dim=2),
    "NNConv": lambda a, b: layers.NNConv(a, b, nn.Linear(2, a * b)),
    "GAT with edges": lambda a, b: layers.GATConv(a, b, edge_dim=2),
    "crystal": lambda a, _: layers.CGConv(a, dim=2),
}
READOUTS = {
    "sum": aggr.SumAggregation,
    "mean": aggr.MeanAggregation,
    "max": aggr.MaxAggregation,
    "softmax": lambda: aggr.SoftmaxAggregation(t=0.5, learn=True),
    "attention": lambda: aggr.AttentionalAggregation(nn.Linear(6, 1)),
    "several": lambda: aggr.MultiAggregation(["mean", "std", "max"], mode="sum"),
}
EDGES = ("both ways", "one way", "loops", "messy")


class Network(nn.Module):
    """Two layers, a readout and a head that is not linear."""

    def __init__(self, make, readout="mean", edge_features=False):
        super().__init__()
        self.layers, self.readout = nn.ModuleList([make(6, 6), make(6, 6)]), READOUTS[readout]()
        self.head = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))
        self.edge_features = edge_features

    def forward(self, x, edge_index, edge_attr, batch):
        for layer in self.layers:
            x = layer(x, edge_index, edge_attr=edge_attr) if self.edge_features else layer(x, edge_index)
            x = x.relu()
        return self.head(self.readout(x, batch))


def network(name, readout="mean", seed=0):
    torch.manual_seed(seed)
    return Network(PLAIN.get(name) or WITH_EDGES[name], readout, name in WITH_EDGES).double().eval()


def graph(edges="both ways", seed=0, nodes=9, density=0.26, kinds=2):
    """A graph of nodes of few kinds, so that there is much to take for equal."""
    torch.manual_seed(seed)
    pairs = torch.from_numpy(random_graph(nodes, density, seed).edges.T.copy())
    directed = torch.cat([pairs, pairs.flip(0)], dim=1)
    loops = torch.tensor([[1, 4], [1, 4]])
    edge_index = {
        "both ways": directed,
        "one way": pairs,
        "loops": torch.cat([directed, loops], dim=1),
        "messy": torch.cat([pairs, pairs.flip(0)[:, :4], pairs[:, :2], loops[:, :1]], dim=1),
    }[edges]
    features = torch.eye(6).double()[torch.randint(kinds, (nodes,))]
    attributes = torch.eye(2).double()[torch.randint(2, (edge_index.size(1),))]
    return Data(x=features, edge_index=edge_index, edge_attr=attributes)
