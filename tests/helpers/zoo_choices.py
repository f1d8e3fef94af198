"""Models in which some nodes hide others: the largest number, the best few, a median, steps until all is still."""

import torch
from torch import nn
from torch_geometric import nn as layers
from torch_geometric.nn import aggr, global_add_pool
from torch_geometric.utils import degree, to_dense_batch, to_undirected

from tests.helpers.zoo_graphs import NODES, WIDTH, Case, graph, plain
from tests.helpers.zoo_models import Convolution, Wide

# One layer sees one hop around the last node; what is far away shows only when what is near has gone.
END = {"node": NODES - 1, "target": 0, "output": "logit"}
COUPLED = "depends on the rest of the batch"


class NodeOfOneLayer(nn.Module):
    """One layer; something happens to the features before it, and to the answer after it."""

    def __init__(self, before=None, after=None):
        super().__init__()
        self.layer, self.head = layers.GraphConv(WIDTH, WIDTH), nn.Linear(WIDTH, 2)
        self.before, self.after = before, after

    def forward(self, x, edge_index):
        x = x if self.before is None else self.before(x, edge_index)
        x = self.layer(x, edge_index).tanh()
        return self.head(x if self.after is None else self.after(x))


class UntilStill(NodeOfOneLayer):
    """Repeats its layer until no node changes much."""

    def forward(self, x, edge_index):
        for _ in range(6):
            following = (0.2 * self.layer(x, edge_index)).tanh()
            change, x = (following - x).abs().max(), following
            if change < 0.5:
                break
        return self.head(x)


class BestOfGraph(Convolution):
    """The three best nodes of each graph, found by hand."""

    def forward(self, x, edge_index, batch):
        dense, mask = to_dense_batch(self.embed(x, edge_index), batch)
        scores = dense[..., 0].masked_fill(~mask, -1e9)
        best = scores.topk(min(3, dense.size(1)), dim=1).indices
        kept = torch.zeros_like(scores).scatter(1, best, 1.0) * mask
        return self.head((dense * kept[..., None]).sum(dim=1))


class FirstNode(Convolution):
    """Reads the first node of each graph."""

    def forward(self, x, edge_index, batch):
        is_first = torch.cat([batch.new_ones(1, dtype=torch.bool), batch[1:] != batch[:-1]])
        return self.head(self.embed(x, edge_index)[is_first])


class OneWay(Convolution):
    """Follows edges from the lower number to the higher one only."""

    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index[:, edge_index[0] < edge_index[1]], batch)


class BothWays(Convolution):
    def forward(self, x, edge_index, batch):
        upper = edge_index[:, edge_index[0] < edge_index[1]]
        return super().forward(x, to_undirected(upper, num_nodes=len(x)), batch)


class Clamped(Convolution):
    """Sums that are cut off."""

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.embed(x, edge_index), batch).clamp(-1.5, 1.5))


class Mapped(Convolution):
    def forward(self, x, edge_index, batch):
        x = self.embed(x, edge_index)
        return self.head(global_add_pool(x * torch.func.vmap(torch.linalg.vector_norm)(x)[:, None], batch))


class OtherWeights(Convolution):
    def forward(self, x, edge_index, batch):
        weights = {name: 1.1 * weight for name, weight in self.named_parameters()}
        return torch.func.functional_call(Inner(self), weights, (x, edge_index, batch))


class Inner(Convolution):
    """A second body for the same layers."""

    def __init__(self, other):
        nn.Module.__init__(self)
        self._modules.update(other._modules)


class LittleNoise(Convolution):
    """Less noise than single precision may be off by after many roundings."""

    def forward(self, x, edge_index, batch):
        return super().forward(x + 1e-4 * torch.randn_like(x), edge_index, batch)


def parametrized():
    model = Convolution()
    nn.utils.parametrizations.spectral_norm(model.head)
    nn.utils.parametrizations.weight_norm(model.first.lin_rel)
    nn.utils.parametrizations.orthogonal(model.second.lin_l)
    return model


def by_largest(x, _):
    return x / x.abs().max().clamp(min=1e-9)


def from_median(x, _):
    return x - x.median()


def by_largest_degree(x, edge_index):
    degrees = degree(edge_index[0], len(x)).to(x)
    return x * (1 + degrees / degrees.max().clamp(min=1.0))[:, None]


def best_doubled(x):
    """The two nodes with the best scores count twice."""
    is_best = torch.zeros(len(x), dtype=x.dtype)
    is_best[x[:, 0].topk(min(2, len(x))).indices] = 1.0
    return x * (1 + is_best[:, None])


def by_rank(x):
    return x * (1 + 0.1 * x[:, 0].argsort().argsort().to(x)[:, None])


def with_largest(x):
    return x + x.amax(dim=0)


def end_row(model, part):
    return model(part.x, part.edge_index)[part.nodes.tolist().index(NODES - 1)]


def near_extremes():
    """What is largest, smallest and best is next to the last node."""
    data = graph()
    data.x[NODES - 2] *= 3
    return data


def single():
    data = graph()
    data.x = data.x.float()
    return data


FAR = {
    "divided by the largest number": lambda: NodeOfOneLayer(by_largest),
    "minus the median": lambda: NodeOfOneLayer(from_median),
    "divided by the largest degree": lambda: NodeOfOneLayer(by_largest_degree),
    "best nodes count twice": lambda: NodeOfOneLayer(after=best_doubled),
    "ranks": lambda: NodeOfOneLayer(after=by_rank),
    "largest of all nodes": lambda: NodeOfOneLayer(after=with_largest),
    "until it is still": UntilStill,
}
READOUTS = {
    "minimum": aggr.MinAggregation,
    "deviation": aggr.StdAggregation,
    "variance preserving": aggr.VariancePreservingAggregation,
    "degree scaler": lambda: aggr.DegreeScalerAggregation("mean", "amplification", torch.tensor([0, 1, 2, 3, 3, 2])),
    "MLP over nodes": lambda: aggr.MLPAggregation(WIDTH, WIDTH, 20, num_layers=1),
}

CHOICES: dict[str, Case] = {
    **{
        f"{name}, of a node, {masking}": Case(
            make, end_row, near_extremes, options=END, masking=masking, warning=COUPLED
        )
        for name, make in FAR.items()
        for masking in ("remove", "split")
        if masking == "remove" or name not in ("divided by the largest number", "minus the median")
    },
    **{name: Case(lambda make=make: Wide(make(), WIDTH), plain) for name, make in READOUTS.items()},
    "best three by hand": Case(BestOfGraph, plain),
    "commutative monoid": Case(lambda: Wide(aggr.LCMAggregation(WIDTH, WIDTH), WIDTH), plain, warning=COUPLED),
    "first node": Case(FirstNode, plain, warning="no finite output for an empty graph"),
    **{f"edges one way, {masking}": Case(OneWay, plain, masking=masking) for masking in ("remove", "split")},
    "edges made to go both ways": Case(BothWays, plain),
    "clamped sums": Case(Clamped, plain),
    "vmap": Case(Mapped, plain),
    "functional_call": Case(OtherWeights, plain),
    "parametrizations": Case(parametrized, plain),
    "neural fingerprint": Case(lambda: layers.NeuralFingerprint(WIDTH, 8, 3, 2), plain),
    "little noise": Case(LittleNoise, data=single, refusal="differently each time"),
}
