"""Networks that go behind the front door of PyG."""

import networkx as nx
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINEConv, global_add_pool


class GraphNet(nn.Module):
    def __init__(self, classes=3, conv=GCNConv):
        super().__init__()
        self.conv, self.head = conv(4, 8), nn.Linear(8, classes)

    def forward(self, x, edge_index, batch=None):
        return self.head(global_add_pool(self.conv(x, edge_index).relu(), batch))


class NodeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(4, 8), GCNConv(8, 3)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class EdgeFeatureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = GINEConv(nn.Linear(4, 8), edge_dim=2), nn.Linear(8, 1)

    def forward(self, x, edge_index, edge_attr, batch=None):
        return self.head(global_add_pool(self.conv(x, edge_index, edge_attr), batch))


def graph(nodes=9, seed=0):
    torch.manual_seed(seed)
    edges = torch.tensor(list(nx.barabasi_albert_graph(nodes, 1, seed=seed).edges())).T
    return Data(x=torch.randn(nodes, 4), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


def long_but_some(settings, sample):
    """All settings as parameters of a test; those outside the sample run with the long tests."""
    return [setting if setting in sample else pytest.param(setting, marks=pytest.mark.long) for setting in settings]
