"""Networks and graphs for tests of games played by models."""

import networkx as nx
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    GCNConv,
    GINConv,
    SAGEConv,
    global_mean_pool,
)

NODES, FEATURES, EDGE_FEATURES = 11, 4, 3


def make_data(seed=0, nodes=NODES, **extra):
    torch.manual_seed(seed)
    edges = torch.tensor(list(nx.barabasi_albert_graph(nodes, 2, seed=seed).edges())).T
    edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    edge_index = edge_index[:, torch.randperm(edge_index.size(1))]
    return Data(
        x=torch.randn(nodes, FEATURES),
        edge_index=edge_index,
        edge_attr=torch.randn(edge_index.size(1), EDGE_FEATURES),
        edge_weight=torch.rand(edge_index.size(1)),
        pos=torch.randn(nodes, 2),
        atom=torch.randint(0, 5, (nodes,)),
        **extra,
    )


class Plain(nn.Module):
    def __init__(self, conv, pool=global_mean_pool, classes=3):
        super().__init__()
        self.first, self.second, self.head = conv(FEATURES, 8), conv(8, 8), nn.Linear(8, classes)
        self.pool = pool

    def forward(self, x, edge_index, batch=None):
        x = self.second(self.first(x, edge_index).relu(), edge_index).relu()
        return self.head(self.pool(x, batch))


def gin(inputs, outputs):
    return GINConv(nn.Sequential(nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()), train_eps=True)


class NodeModel(nn.Module):
    def __init__(self, conv=GCNConv, layers=2):
        super().__init__()
        sizes = [FEATURES, *[8] * (layers - 1)]
        self.convs = nn.ModuleList(conv(size, 8 if i < layers - 1 else 3) for i, size in enumerate(sizes))

    def forward(self, x, edge_index):
        for conv in self.convs:
            x = conv(x, edge_index).tanh()
        return x


class LinkModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = SAGEConv(FEATURES, 8)

    def forward(self, x, edge_index, edge_label_index):
        z = self.conv(x, edge_index).tanh()
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=1)


class TwoHopLayer(nn.Module):
    """Two hops in one layer that does not say so."""

    def __init__(self):
        super().__init__()
        self.conv = SAGEConv(FEATURES, FEATURES)

    def forward(self, x, edge_index):
        first = self.conv(x, edge_index)
        return first + 0.1 * torch.zeros_like(first).index_add(0, edge_index[1], first[edge_index[0]])
