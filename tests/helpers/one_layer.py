"""A network of one layer, for pictures."""

import torch
from torch import nn
from torch_geometric.nn import GCNConv, global_add_pool


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = GCNConv(features, 8), nn.Linear(8, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.conv(x, edge_index).relu(), batch))
