"""Pools, readouts, normalisations and global attention, in models as people write them."""

import torch
from torch import nn
from torch.nn import functional
from torch_geometric import nn as layers
from torch_geometric.nn import aggr, global_add_pool, global_mean_pool
from torch_geometric.utils import degree, dropout_edge, to_dense_adj, to_dense_batch

from tests.helpers.zoo_graphs import WIDTH, Case, few_kinds, plain
from tests.helpers.zoo_models import Convolution, HierarchicalPool, Pooled, Wide, WithNorm


class MemoryPool(Convolution):
    def __init__(self):
        super().__init__()
        self.memory = layers.MemPooling(WIDTH, WIDTH, 2, 3)

    def forward(self, x, edge_index, batch):
        return self.head(self.memory(self.embed(x, edge_index), batch)[0].sum(dim=1))


class MinCut(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.assign = layers.DenseGCNConv(WIDTH, WIDTH), layers.DenseGCNConv(WIDTH, 2)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, batch):
        dense, mask = to_dense_batch(x, batch)
        adjacency = to_dense_adj(edge_index, batch, max_num_nodes=dense.size(1)).to(x)
        s = self.assign(dense, adjacency, mask)
        pooled, *_ = layers.dense_mincut_pool(self.embed(dense, adjacency, mask), adjacency, s, mask)
        return self.head(pooled.mean(dim=1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = layers.GraphUNet(WIDTH, WIDTH, 2, 2, 0.5)

    def forward(self, x, edge_index):
        return self.inside(x, edge_index)


class PooledUNet(UNet):
    def forward(self, x, edge_index, batch):
        return global_mean_pool(self.inside(x, edge_index, batch), batch)


class VirtualNodeOfTwoLayers(Convolution):
    """As in the benchmarks of OGB: a state per graph that all nodes send to and read."""

    def __init__(self):
        super().__init__()
        self.start, self.update = nn.Embedding(1, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, edge_index, batch):
        count = int(batch.max()) + 1
        state = self.start(torch.zeros(count, dtype=torch.long))
        x = self.first(x + state[batch], edge_index).tanh()
        state = self.update(state + global_add_pool(x, batch, count)).tanh()
        return self.head(global_mean_pool(self.second(x + state[batch], edge_index), batch, count))


class Performers(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = nn.ModuleList(
            layers.GPSConv(WIDTH, layers.GINConv(nn.Linear(WIDTH, WIDTH)), heads=2, attn_type=kind) for _ in range(2)
        )
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, batch):
        for layer in self.layers:
            x = layer(x, edge_index, batch)
        return self.head(global_add_pool(x, batch))


class AllToAll(Convolution):
    """Attention between all nodes of a graph, handed out beside the answer."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)

    def forward(self, x, edge_index, batch):
        dense, mask = to_dense_batch(self.first(x, edge_index), batch)
        out, weights = self.attention(dense, dense, dense, key_padding_mask=~mask)
        return self.head((out * mask[..., None]).sum(dim=1)), weights


class RecurrentJump(Convolution):
    def __init__(self):
        super().__init__()
        self.jump = layers.JumpingKnowledge("lstm", WIDTH, 2)

    def forward(self, x, edge_index, batch):
        first = self.first(x, edge_index).tanh()
        return self.head(global_add_pool(self.jump([first, self.second(first, edge_index).tanh()]), batch))


class Before(Convolution):
    """Something of the user's own happens to the features first."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, x, edge_index, batch):
        return super().forward(self.change(x, edge_index), edge_index, batch)


class Drifting(Convolution):
    """Keeps a running mean of all that it has seen."""

    def forward(self, x, edge_index, batch):
        x = self.embed(x, edge_index)
        self.mean = 0.9 * getattr(self, "mean", torch.zeros_like(x[0])) + 0.1 * x.mean(dim=0)
        return self.head(global_add_pool(x - self.mean, batch))


class InPlaceDrift(Convolution):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(WIDTH))

    def forward(self, x, edge_index, batch):
        x = self.embed(x, edge_index)
        self.mean.mul_(0.9).add_(0.1 * x.mean(dim=0))
        return self.head(global_add_pool(x - self.mean, batch))


def before_it_drifts(model, part):
    vars(model).pop("mean", None)
    return plain(model, part)


class LostEdges(Convolution):
    def forward(self, x, edge_index, batch):
        return super().forward(x, dropout_edge(edge_index, 0.3)[0], batch)


def by_largest_degree(x, edge_index):
    degrees = degree(edge_index[0], len(x)).to(x)
    return x * (degrees / degrees.max().clamp(min=1.0))[:, None]


def gat_score(*arguments, **options):
    return layers.GATConv(*arguments, **options)


def of_a_node(model, part):
    return model(part.x, part.edge_index)[part.nodes.tolist().index(3)]


NODE = {"node": 3, "target": 0, "output": "logit"}
ONE_BY_ONE = "depends on the rest of the batch"
READOUTS = {
    "Set2Set, three steps": (lambda: aggr.Set2Set(WIDTH, 3), 2 * WIDTH),
    "set transformer": (lambda: aggr.SetTransformerAggregation(WIDTH, heads=2), WIDTH),
    "multiset transformer": (lambda: aggr.GraphMultisetTransformer(WIDTH, 3, heads=2), WIDTH),
    "deep sets": (lambda: aggr.DeepSetsAggregation(nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)), WIDTH),
    "variance": (aggr.VarAggregation, WIDTH),
    "product": (aggr.MulAggregation, WIDTH),
    "learned power": (lambda: aggr.PowerMeanAggregation(learn=True), WIDTH),
}
NORMS = {
    "DiffGroupNorm": (lambda: layers.DiffGroupNorm(WIDTH, 2), False),
    "LayerNorm of graphs": (lambda: layers.LayerNorm(WIDTH), True),
    "LayerNorm of nodes": (lambda: layers.LayerNorm(WIDTH, mode="node"), False),
    "InstanceNorm": (lambda: layers.InstanceNorm(WIDTH), True),
    "PairNorm": (layers.PairNorm, True),
    "GraphSizeNorm": (layers.GraphSizeNorm, True),
    "MeanSubtractionNorm": (layers.MeanSubtractionNorm, True),
}

POOLS: dict[str, Case] = {
    **{name: Case(lambda make=make, w=width: Wide(make(), w), plain) for name, (make, width) in READOUTS.items()},
    **{name: Case(lambda make=make, b=batch: WithNorm(make(), b), plain) for name, (make, batch) in NORMS.items()},
    # Nodes of few kinds have equal scores, and rounding decides who stays.
    **{
        f"{name}, equal nodes, {masking}": Case(
            lambda make=make: HierarchicalPool(make()), plain, few_kinds, masking=masking
        )
        for name, make in {
            "TopKPooling": lambda: layers.TopKPooling(WIDTH, 0.5),
            "TopKPooling of three": lambda: layers.TopKPooling(WIDTH, 3),
            "SAGPooling": lambda: layers.SAGPooling(WIDTH, 0.6, gat_score),
        }.items()
        for masking in ("split", "remove")
    },
    "SAGPooling by attention": Case(lambda: HierarchicalPool(layers.SAGPooling(WIDTH, 0.6, gat_score)), plain),
    "TopKPooling above a score": Case(lambda: HierarchicalPool(layers.TopKPooling(WIDTH, min_score=0.2)), plain),
    "MemPooling": Case(MemoryPool, plain),
    "MinCut": Case(MinCut, plain),
    "U-Net of a graph": Case(PooledUNet, plain, few_kinds),
    "U-Net of a node": Case(UNet, of_a_node, options=NODE, warning="one by one"),
    "virtual node with a state": Case(VirtualNodeOfTwoLayers, plain),
    "GPS of two layers": Case(lambda: Performers("multihead"), plain),
    "performer": Case(lambda: Performers("performer"), plain, warning=ONE_BY_ONE),
    "attention beside the answer": Case(AllToAll, refusal="pass select="),
    "attention beside the answer, named": Case(
        AllToAll,
        lambda model, part: plain(model, part)[0],
        options={"target": 0, "output": "logit", "select": 0},
        warning="no finite output for an empty graph",
    ),
    "jumping knowledge, recurrent": Case(RecurrentJump, plain),
    "GRU readout": Case(lambda: Pooled(aggr.GRUAggregation(WIDTH, WIDTH)), plain, warning=ONE_BY_ONE),
    "divided by the largest number": Case(
        lambda: Before(lambda x, _: x / x.max()),
        plain,
        options={"target": 0, "output": "logit", "baseline": 0.0},
        warning=ONE_BY_ONE,
    ),
    "divided by the largest degree": Case(lambda: Before(by_largest_degree), plain, warning=ONE_BY_ONE),
    "noise": Case(lambda: Before(lambda x, _: x + torch.randn_like(x)), refusal="differently each time"),
    "random choice": Case(lambda: Before(lambda x, _: functional.gumbel_softmax(x)), refusal="differently each time"),
    "lost edges": Case(LostEdges, refusal="differently each time"),
    "running mean": Case(Drifting, before_it_drifts, warning=ONE_BY_ONE),
    "running mean in place": Case(InPlaceDrift, refusal="differently each time"),
}
