"""A model with layers and attributes of many kinds, and its fingerprint."""

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, MessagePassing, PNAConv

from mage.explainers.graphs import fingerprint


class Apply:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


def scaled(factor):
    return lambda model, data: factor * model(data.x)


class Own(MessagePassing):
    def __init__(self):
        super().__init__(aggr="max")
        self._names = {"b", "a", "c"}
        self.choose = lambda x: x if str(x) in {"one", "two", "three"} else torch.relu(x)
        self.thing, self.odd, self.callback = object(), Apply(2), print

    def forward(self, x, edge_index):
        return super().forward(x, edge_index)


def everything():
    torch.manual_seed(0)
    pna = PNAConv(2, 2, ["mean", "max"], ["identity"], torch.tensor([0, 1, 2]))
    model = nn.ModuleList([Own(), GATConv(2, 2), GCNConv(2, 2), pna, nn.TransformerEncoderLayer(4, 2, 8)])
    return fingerprint(model, Data(x=torch.zeros(2, 1)), {"forward": scaled(2), "masking": {"q", "r", "s"}})
