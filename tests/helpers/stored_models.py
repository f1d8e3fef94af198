"""Models and graphs of the stored numbers."""

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, GINConv, global_mean_pool

import mage


def with_weights(model, seed=0):
    """The model in double precision with weights that depend on the seed and their names only."""
    generator = np.random.default_rng(seed)
    for _, weight in sorted(model.named_parameters()):
        scale = 0.9 / max(1.0, weight.shape[-1] ** 0.5) if weight.dim() > 1 else 0.3
        weight.data = torch.from_numpy(generator.normal(size=tuple(weight.shape)) * scale)
    return model.double().eval()


class GraphNet(nn.Module):
    def __init__(self, conv="gcn", pool=global_mean_pool, classes=3):
        super().__init__()
        self.first, self.second = layer(conv, 4, 6), layer(conv, 6, 6)
        self.head, self.pool = nn.Linear(6, classes), pool

    def forward(self, x, edge_index, batch):
        x = self.second(self.first(x.double(), edge_index).relu(), edge_index).tanh()
        return self.head(self.pool(x, batch))


class NodeNet(nn.Module):
    def __init__(self, conv="gcn"):
        super().__init__()
        self.first, self.second = layer(conv, 4, 6), layer(conv, 6, 2)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).tanh(), edge_index)


class LinkNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = layer("gcn", 4, 6), layer("gcn", 6, 6)

    def forward(self, x, edge_index, edge_label_index):
        x = self.second(self.first(x, edge_index).tanh(), edge_index)
        return (x[edge_label_index[0]] * x[edge_label_index[1]]).sum(dim=1)


class ImageNet(nn.Module):
    """Looks at the means of the quarters of an image, and at products of neighbouring ones."""

    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(16, 8), nn.Linear(8, 3)

    def forward(self, images):
        small = nn.functional.adaptive_avg_pool2d(images.mean(dim=1, keepdim=True), 4)
        return self.head(self.first(small.flatten(1)).tanh())


def layer(conv, inputs, outputs):
    if conv == "gin":
        return GINConv(nn.Sequential(nn.Linear(inputs, outputs), nn.Tanh(), nn.Linear(outputs, outputs)))
    return {"gcn": GCNConv, "gat": GATConv}[conv](inputs, outputs)


def graph(nodes=9, chords=3, seed=0):
    """A random tree with some more edges."""
    generator = np.random.default_rng(100 + seed)
    pairs = {(int(generator.integers(v)), v) for v in range(1, nodes)}
    while len(pairs) < nodes - 1 + chords:
        i, j = sorted(generator.choice(nodes, 2, replace=False).tolist())
        pairs.add((i, j))
    edges = torch.tensor(sorted(pairs)).T
    x = torch.from_numpy(generator.normal(size=(nodes, 4)))
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1))


# Defaults of the version that wrote the file.
BEFORE = {"output": "logit", "masking": "remove", "objective": "paper"}


def explained(model, data=None, **options):
    data = graph() if data is None else data
    settings = {"num_motifs": 2, "max_nodes": 0.4, "tau": 1.0, "noise_floor": 0.1, "order": 2, "seed": 0, **BEFORE}
    return mage.explain(with_weights(model), data, progress=False, **{**settings, **options})
