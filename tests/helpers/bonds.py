"""A small graph of six nodes."""

import torch
from torch_geometric.data import Data

BONDS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 4)]


def graph(**more):
    edges = torch.tensor(BONDS).T
    features = torch.rand(6, 3, generator=torch.Generator().manual_seed(1))
    return Data(x=features, edge_index=torch.cat([edges, edges.flip(0)], dim=1), **more)
