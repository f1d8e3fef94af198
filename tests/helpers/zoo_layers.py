"""Further layers of PyG, in models as people write them."""

import torch
from torch import nn
from torch_geometric import nn as layers
from torch_geometric.data import Batch, Data
from torch_geometric.nn import aggr, global_mean_pool

from tests.helpers.zoo_graphs import PAIRS, WIDTH, Case, as_batch, both_ways, graph, plain
from tests.helpers.zoo_models import Convolution

DEGREES = torch.tensor([0, 2, 3, 3, 1])


class Stack(nn.Module):
    """One or two layers, a mean and a head."""

    def __init__(self, *convolutions):
        super().__init__()
        self.convolutions, self.head = nn.ModuleList(convolutions), nn.Linear(WIDTH, 3)

    def forward(self, x, edge_index, batch):
        for convolution in self.convolutions:
            x = convolution(x, edge_index).tanh()
        return self.head(global_mean_pool(x, batch))


class StackWithEdges(Stack):
    def forward(self, x, edge_index, edge_attr, batch):
        for convolution in self.convolutions:
            x = convolution(x, edge_index, edge_attr).tanh()
        return self.head(global_mean_pool(x, batch))


class Typed(Stack):
    def forward(self, x, edge_index, edge_type, batch):
        for convolution in self.convolutions:
            x = convolution(x, edge_index, edge_type).tanh()
        return self.head(global_mean_pool(x, batch))


class InitialResidual(nn.Module):
    """GCNII: each layer takes the first features too."""

    def __init__(self):
        super().__init__()
        self.first, self.second = (layers.GCN2Conv(WIDTH, 0.1, 0.5, k) for k in (1, 2))
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, batch):
        first = x
        x = self.second(self.first(x, first, edge_index).relu(), first, edge_index).relu()
        return self.head(global_mean_pool(x, batch))


class Signed(nn.Module):
    """Friends and foes: two edge sets under names of their own."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.SignedConv(WIDTH, 3, first_aggr=True), nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, batch):
        friends = x[edge_index[0], 0] > 0
        return self.head(global_mean_pool(self.layer(x, edge_index[:, friends], edge_index[:, ~friends]).tanh(), batch))


class Points(nn.Module):
    """PointNet++ and PPFNet look at where nodes are."""

    def __init__(self):
        super().__init__()
        self.layer = layers.PointNetConv(nn.Linear(WIDTH + 3, WIDTH), nn.Linear(WIDTH, WIDTH))
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x, pos, edge_index, batch):
        return self.head(global_mean_pool(self.layer(x, pos, edge_index).tanh(), batch))


class CrystalPoints(Points):
    def __init__(self):
        super().__init__()
        self.layer = layers.PointTransformerConv(WIDTH, WIDTH)


class NoEdgeFeatures(nn.Module):
    """Could take features of edges, but was made without."""

    def __init__(self):
        super().__init__()
        self.layer = layers.GATConv(WIDTH, 3)

    def forward(self, x, edge_index, edge_attr=None, batch=None):
        return global_mean_pool(self.layer(x, edge_index, edge_attr).tanh(), batch)


class Arguments(Convolution):
    """Says nothing of what it takes."""

    def forward(self, *args):
        return Convolution.forward(self, *args)


class FirstPart(nn.Module):
    """Passes on what it takes, by position."""

    def __init__(self):
        super().__init__()
        self.inside = layers.GraphConv(WIDTH, 3)

    def forward(self, *args):
        return self.inside(*args).tanh()


class TwoMaxima(nn.Module):
    """Two hops of a maximum, written by hand; what is near hides what is further away."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index):
        for _ in range(2):
            ends = edge_index[1][:, None].expand(-1, WIDTH)
            x = x.scatter_reduce(0, ends, x[edge_index[0]], "amax")
        return self.head(x)


class Votes(nn.Module):
    """As many columns as there are labels among the nodes."""

    def forward(self, x, edge_index):
        return layers.LabelPropagation(2, 0.9)(x.argmax(dim=1), edge_index)


def with_edges(model, part):
    return model(part.x, part.edge_index, part.edge_attr, as_batch(part))


def with_types(model, part):
    return model(part.x, part.edge_index, part.edge_type, as_batch(part))


def with_places(model, part):
    return model(part.x, part.pos, part.edge_index, as_batch(part))


def node_row(model, part):
    return model(part.x, part.edge_index)[part.nodes.tolist().index(3)]


def without_cache(model, part):
    model.convolutions[0]._cached_x = None
    return plain(model, part)


def after_another(model, part):
    """PyG's median fails where the very first node has no neighbours."""
    pair = Batch.from_data_list([Data(x=part.x[:1].repeat(2, 1), edge_index=both_ways([(0, 1)])), part])
    return model(pair.x, pair.edge_index, pair.batch)[1]


def types():
    return graph(edge_type=torch.arange(2 * len(PAIRS)) % 3)


def places():
    return graph(pos=torch.randn(7, 3, generator=torch.Generator().manual_seed(5)).double())


def half(kind):
    return lambda: Data(x=graph().x.to(kind), edge_index=both_ways(PAIRS))


NODE = {"node": 3, "target": 0, "output": "logit"}
STACKS = {
    "MixHop": lambda: [layers.MixHopConv(WIDTH, 2, [0, 1, 3]), layers.MixHopConv(WIDTH, 2)],
    "APPNP": lambda: [layers.APPNP(3, 0.1)],
    "SSG": lambda: [layers.SSGConv(WIDTH, WIDTH, 0.1, K=2)],
    "Chebyshev of order 1": lambda: [layers.ChebConv(WIDTH, WIDTH, 1), layers.GCNConv(WIDTH, WIDTH)],
    "ARMA, stacks": lambda: [layers.ARMAConv(WIDTH, WIDTH, num_stacks=2, num_layers=3)],
    "FiLM": lambda: [layers.FiLMConv(WIDTH, WIDTH), layers.FiLMConv(WIDTH, WIDTH)],
    "SuperGAT, scaled": lambda: [layers.SuperGATConv(WIDTH, WIDTH, attention_type="SD")],
    "AGNN": lambda: [layers.AGNNConv(), layers.AGNNConv()],
    "GATv2, heads": lambda: [layers.GATv2Conv(WIDTH, 3, heads=2), layers.GATv2Conv(WIDTH, WIDTH)],
    "LightGCN's layer": lambda: [layers.LGConv(), layers.LGConv()],
    "WL, continuous": lambda: [layers.WLConvContinuous(), layers.WLConvContinuous()],
    "SimpleConv": lambda: [layers.SimpleConv("mean"), layers.SimpleConv(combine_root="self_loop")],
    "antisymmetric": lambda: [layers.AntiSymmetricConv(WIDTH, num_iters=3)],
    "SAGE, several": lambda: [layers.SAGEConv(WIDTH, WIDTH, aggr=["mean", "max", "std"])],
    "SAGE, softmax": lambda: [layers.SAGEConv(WIDTH, WIDTH, aggr=aggr.SoftmaxAggregation(learn=True))],
    "SAGE, normalised": lambda: [layers.SAGEConv(WIDTH, WIDTH, normalize=True, project=True)],
    "hyperedges as edges": lambda: [layers.HypergraphConv(WIDTH, WIDTH)],
}
EDGE_STACKS = {
    "GEN": lambda: [layers.GENConv(WIDTH, WIDTH, edge_dim=2), layers.GENConv(WIDTH, WIDTH, edge_dim=2)],
    "GEN, learned power": lambda: [layers.GENConv(WIDTH, WIDTH, aggr="powermean", learn_p=True, edge_dim=2)],
    "PDN": lambda: [layers.PDNConv(WIDTH, WIDTH, 2, 4)],
    "GMM": lambda: [layers.GMMConv(WIDTH, WIDTH, dim=2, kernel_size=3)],
    "general, attention": lambda: [layers.GeneralConv(WIDTH, WIDTH, in_edge_channels=2, attention=True)],
    "Transformer with edges": lambda: [layers.TransformerConv(WIDTH, 3, heads=2, edge_dim=2, beta=True)],
    "PNA, towers": lambda: [
        layers.PNAConv(WIDTH, WIDTH, ["min", "std"], ["attenuation"], DEGREES, edge_dim=2, towers=2)
    ],
    "residual gated with edges": lambda: [layers.ResGatedGraphConv(WIDTH, WIDTH, edge_dim=2)],
    "NNConv, mean": lambda: [layers.NNConv(WIDTH, WIDTH, nn.Linear(2, WIDTH * WIDTH), aggr="mean")],
}

LAYERS: dict[str, Case] = {
    **{name: Case(lambda make=make: Stack(*make()), plain) for name, make in STACKS.items()},
    **{name: Case(lambda make=make: StackWithEdges(*make()), with_edges) for name, make in EDGE_STACKS.items()},
    "SAGE, median": Case(lambda: Stack(layers.SAGEConv(WIDTH, WIDTH, aggr="median")), after_another),
    "SGC, cached": Case(lambda: Stack(layers.SGConv(WIDTH, WIDTH, K=2, cached=True)), without_cache),
    "GCNII": Case(InitialResidual, plain),
    "signed": Case(Signed, plain),
    "PointNet": Case(Points, with_places, places),
    "point transformer": Case(CrystalPoints, with_places, places),
    "RGAT": Case(lambda: Typed(layers.RGATConv(WIDTH, WIDTH, num_relations=3)), with_types, types),
    "FastRGCN": Case(lambda: Typed(layers.FastRGCNConv(WIDTH, WIDTH, 3, num_bases=2)), with_types, types),
    "features of edges that it was not made for": Case(
        NoEdgeFeatures, lambda model, part: model(part.x, part.edge_index, None, as_batch(part))
    ),
    "takes *args": Case(Arguments, plain),
    "passes on *args": Case(FirstPart, node_row, options=NODE),
    "DeepGCN": Case(
        lambda: layers.DeepGCNLayer(layers.GENConv(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU(), "res+", 0.1),
        node_row,
        options=NODE,
    ),
    "two maxima by hand": Case(TwoMaxima, node_row, options=NODE),
    "columns that come and go": Case(Votes, options=NODE, refusal="columns must be the same for all graphs"),
    "half precision": Case(lambda: Stack(layers.GCNConv(WIDTH, WIDTH)), plain, half(torch.float16), tolerance=5e-3),
    "bfloat16": Case(lambda: Stack(layers.GCNConv(WIDTH, WIDTH)), plain, half(torch.bfloat16), tolerance=3e-2),
}
