"""Models as people write them."""

import torch
from torch import nn
from torch.nn import functional
from torch_geometric import nn as layers
from torch_geometric.nn import global_add_pool, global_mean_pool
from torch_geometric.utils import to_dense_adj, to_dense_batch, unbatch

from tests.helpers.zoo_graphs import PAIRS, WIDTH, both_ways


class Convolution(nn.Module):
    """Two layers, a pool and a head; others build on it."""

    def __init__(self, classes=3):
        super().__init__()
        self.first, self.second = layers.GraphConv(WIDTH, WIDTH), layers.SAGEConv(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, classes)

    def embed(self, x, edge_index):
        return self.second(self.first(x, edge_index).tanh(), edge_index).tanh()

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.embed(x, edge_index), batch))


class OwnSAGEConv(layers.SAGEConv):
    """PyG compiles a layer's class once: after a SAGEConv with an aggregation of its own no other takes matrices."""


class SparseConvolution(Convolution):
    """Takes a sparse matrix instead of edges."""

    def __init__(self):
        super().__init__()
        self.second = OwnSAGEConv(WIDTH, WIDTH)


class Pooled(Convolution):
    """A readout of its own."""

    def __init__(self, readout):
        super().__init__()
        self.readout = readout

    def forward(self, x, edge_index, batch):
        return self.head(self.readout(self.embed(x, edge_index), batch))


class Wide(Pooled):
    """A readout that changes the width."""

    def __init__(self, readout, width):
        super().__init__(readout)
        self.head = nn.Linear(width, 2)


class LoopReadout(Convolution):
    def forward(self, x, edge_index, batch):
        x = self.embed(x, edge_index)
        return torch.stack([self.head(x[batch == g].max(dim=0).values) for g in batch.unique()])


class UnbatchReadout(Convolution):
    def forward(self, x, edge_index, batch):
        return torch.stack([self.head(rows.median(dim=0).values) for rows in unbatch(self.embed(x, edge_index), batch)])


class ListReadout(Convolution):
    def forward(self, data):
        rows = [self.embed(g.x, g.edge_index).sum(dim=0) for g in data.to_data_list()]
        return self.head(torch.stack(rows))


class PtrReadout(Convolution):
    def forward(self, x, edge_index, ptr, num_nodes):
        x = self.embed(x, edge_index)
        assert len(x) == num_nodes
        sums = torch.cat([x.new_zeros(1, WIDTH), x.cumsum(0)])
        return self.head(sums[ptr[1:]] - sums[ptr[:-1]])


class HierarchicalPool(nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.first, self.pool, self.second = layers.GraphConv(WIDTH, WIDTH), pool, layers.GraphConv(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x, edge_index, batch):
        x = self.first(x, edge_index).tanh()
        out = self.pool(x, edge_index, batch=batch)
        batch = out[2] if isinstance(self.pool, layers.EdgePooling) else out[3]
        return self.head(global_mean_pool(self.second(out[0], out[1]), batch, int(batch.max()) + 1))


class DensePool(nn.Module):
    def __init__(self):
        super().__init__()
        self.assign, self.embed, self.head = (
            layers.DenseGCNConv(WIDTH, 2),
            layers.DenseSAGEConv(WIDTH, 4),
            nn.Linear(4, 2),
        )

    def forward(self, x, edge_index, batch):
        dense, mask = to_dense_batch(x, batch)
        adjacency = to_dense_adj(edge_index, batch, max_num_nodes=dense.size(1)).to(x)
        s = self.assign(dense, adjacency, mask)
        pooled, *_ = layers.dense_diff_pool(self.embed(dense, adjacency, mask), adjacency, s, mask)
        return self.head(pooled.sum(dim=1))


class WithNorm(Convolution):
    def __init__(self, norm, gives_batch):
        super().__init__()
        self.norm, self.gives_batch = norm, gives_batch

    def forward(self, x, edge_index, batch):
        x = self.first(x, edge_index)
        x = self.norm(x, batch) if self.gives_batch else self.norm(x)
        return self.head(global_add_pool(self.second(x, edge_index), batch))


class VirtualNode(Convolution):
    def forward(self, x, edge_index, batch):
        x = self.first(x, edge_index).tanh()
        x = x + global_mean_pool(x, batch)[batch]
        return self.head(global_add_pool(self.second(x, edge_index), batch))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = (
            layers.GPSConv(WIDTH, layers.GraphConv(WIDTH, WIDTH), heads=2, norm=None),
            nn.Linear(WIDTH, 2),
        )

    def forward(self, x, edge_index, batch):
        return self.head(global_mean_pool(self.layer(x, edge_index, batch), batch))


class TwoEdgeSets(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = layers.GraphConv(WIDTH, 4), layers.GraphConv(4, 4), nn.Linear(4, 2)

    def forward(self, x, edge_index, edge_index_2, edge_weight_2, batch):
        x = self.second(self.first(x, edge_index).tanh(), edge_index_2, edge_weight_2)
        return self.head(global_add_pool(x, batch))


class Hypergraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.HypergraphConv(WIDTH, 4), nn.Linear(4, 2)

    def forward(self, x, hyperedge_index, batch):
        return self.head(global_add_pool(self.layer(x, hyperedge_index).tanh(), batch))


class DenseAdjacency(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x, adj, batch):
        return self.head(global_add_pool(adj @ x, batch))


class OwnGraph(nn.Module):
    """Carries the training graph inside."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.GraphConv(WIDTH, 4), nn.Linear(4, 2)
        self.register_buffer("bonds", both_ways(PAIRS))

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.layer(x, self.bonds).tanh(), batch))


class Heads(Convolution):
    """Returns more than one thing."""

    def __init__(self, wrap):
        super().__init__()
        self.wrap = wrap

    def forward(self, x, edge_index, batch):
        out = super().forward(x, edge_index, batch)
        return self.wrap(out.square().mean(dim=1), out)


class Ends(Convolution):
    """Its last step is a function."""

    def __init__(self, last, classes=3):
        super().__init__(classes)
        self.last = last

    def forward(self, x, edge_index, batch):
        return self.last(super().forward(x, edge_index, batch))


class GraphGym(Convolution):
    """Changes the batch in place and returns the truth beside the prediction."""

    def forward(self, batch):
        batch.x = self.embed(batch.x, batch.edge_index)
        return self.head(global_add_pool(batch.x, batch.batch)), batch.y


class Lightning(Convolution):
    def forward(self, batch):
        return super().forward(batch.x, batch.edge_index, batch.batch)


class FunctionalDropout(Convolution):
    def forward(self, x, edge_index, batch):
        return super().forward(functional.dropout(x, 0.5), edge_index, batch)


class OptionalWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.GCNConv(WIDTH, 4), nn.Linear(4, 2)

    def forward(self, x, edge_index, edge_weight=None, batch=None):
        return self.head(global_add_pool(self.layer(x, edge_index, edge_weight).tanh(), batch))


class Relations(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.RGCNConv(WIDTH, 4, 3), nn.Linear(4, 2)

    def forward(self, x, edge_index, edge_type, batch):
        return self.head(global_add_pool(self.layer(x, edge_index, edge_type).tanh(), batch))


class Directed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.DirGNNConv(layers.GraphConv(WIDTH, WIDTH)), nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index):
        return self.head(self.layer(x, edge_index).tanh())


class Encoder(nn.Module):
    def __init__(self, variational=False):
        super().__init__()
        self.first, self.mean, self.spread = (layers.GraphConv(WIDTH, WIDTH) for _ in range(3))
        self.variational = variational

    def forward(self, x, edge_index):
        x = self.first(x, edge_index).tanh()
        return (self.mean(x, edge_index), self.spread(x, edge_index)) if self.variational else self.mean(x, edge_index)


class LinkExample(nn.Module):
    """As in PyG's examples: no forward at all."""

    def __init__(self):
        super().__init__()
        self.first, self.second = layers.GraphConv(WIDTH, WIDTH), layers.GraphConv(WIDTH, 4)

    def encode(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)

    def decode(self, z, edge_label_index):
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=-1)


class NodeOnly(Convolution):
    def forward(self, x, edge_index):
        return self.head(self.embed(x, edge_index))


class Passing(nn.Module):
    """A wrapper of the user's own."""

    def __init__(self, inside):
        super().__init__()
        self.inside = inside

    def forward(self, *args, **kwargs):
        return self.inside(*args, **kwargs)


class Jumping(Convolution):
    def __init__(self):
        super().__init__()
        self.jump, self.head = layers.JumpingKnowledge("cat"), nn.Linear(2 * WIDTH, 2)

    def forward(self, x, edge_index, batch):
        first = self.first(x, edge_index).tanh()
        return self.head(global_add_pool(self.jump([first, self.second(first, edge_index)]), batch))
