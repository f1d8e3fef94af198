"""Models as people write them, each with the way its author calls it on one graph."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch_geometric import nn as layers
from torch_geometric.data import Batch, Data
from torch_geometric.nn import aggr, global_add_pool, global_mean_pool
from torch_geometric.utils import subgraph, to_dense_adj, to_dense_batch, unbatch

from tests.helpers.layers import PLAIN, WITH_EDGES, Network

NODES, WIDTH = 7, 6
PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6)]
SECOND = [(0, 4), (4, 6), (6, 1), (1, 5), (2, 6)]


def both_ways(pairs):
    ends = torch.tensor(pairs).T
    return torch.cat([ends, ends.flip(0)], dim=1)


def graph(**extra):
    generator = torch.Generator().manual_seed(3)
    edges = both_ways(PAIRS)
    return Data(
        x=torch.randn(NODES, WIDTH, generator=generator).double(),
        edge_index=edges,
        edge_attr=torch.randn(edges.size(1), 2, generator=generator).double(),
        **extra,
    )


def part_of(data, kept, masking):
    """One masked graph, made with PyG's own tools; whatever is not a node's or an edge's is left as it is."""
    if masking == "remove":
        part = data.subgraph(kept)
    else:
        part = data.clone()
        part.edge_index, columns = subgraph(kept, data.edge_index, torch.arange(data.num_edges), num_nodes=NODES)
        for key in ("edge_attr", "edge_weight", "edge_type"):
            if key in data:
                part[key] = data[key][columns]
    part.kept = torch.arange(NODES)[kept] if masking == "remove" else torch.arange(NODES)
    return part


def second_edges(data, kept, masking):
    """The graph with its second edges cut as well."""
    part = part_of(data, kept, masking)
    part.edge_index_2, columns = subgraph(
        kept, data.edge_index_2, torch.arange(10), relabel_nodes=masking == "remove", num_nodes=NODES
    )
    part.edge_weight_2 = data.edge_weight_2[columns]
    return part


def hyperedges(data, kept, masking):
    part = part_of(data, kept, masking)
    inside = kept[data.hyperedge_index[0]]
    number = torch.cumsum(kept, 0) - 1 if masking == "remove" else torch.arange(NODES)
    part.hyperedge_index = torch.stack([number[data.hyperedge_index[0, inside]], data.hyperedge_index[1, inside]])
    return part


def matrix(data, kept, masking):
    part = Data(x=data.x[kept] if masking == "remove" else data.x)
    dense = data.adj_t.to_dense() * kept[:, None] * kept[None]
    dense = dense[kept][:, kept] if masking == "remove" else dense
    part.adj_t = dense.to_sparse_csr()
    return part


@dataclass(frozen=True)
class Case:
    """A model of the zoo.

    Attributes:
        make: Makes the model.
        ask: How its author calls it on one graph, with one row of numbers for it: ``ask(model, part)``.
        data: The graph.
        options: How the game is asked for.
        cut: What a coalition leaves of the graph.
        masking: What absence means.
        refusal: What the error says; empty for models that are explained.
        warning: What the user is told.
        readout: From the row to the explained number.
    """

    make: Callable[[], Any]
    ask: Callable[[Any, Data], torch.Tensor] | None = None
    data: Callable[[], Data] = graph
    options: dict[str, Any] = field(default_factory=lambda: {"target": 0, "output": "logit"})
    cut: Callable[..., Data] = part_of
    masking: str = "remove"
    refusal: str = ""
    warning: str = ""
    readout: Callable[[torch.Tensor], float] = lambda row: float(row.flatten()[0])


def as_batch(part):
    return torch.zeros(part.num_nodes, dtype=torch.long)


def plain(model, part):
    return model(part.x, part.edge_index, as_batch(part))


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


def near(pos, batch):
    """All atoms of one molecule that are near each other, as SchNet's own graph of interactions."""
    distance = torch.cdist(pos, pos)
    joined = (distance < 2.0) & (batch[:, None] == batch[None])
    ends = torch.nonzero(joined.fill_diagonal_(False)).T
    return ends, distance[ends[0], ends[1]]


def atoms():
    generator = torch.Generator().manual_seed(1)
    return Data(z=torch.tensor([6, 6, 8, 1, 1, 7, 1]), pos=torch.randn(NODES, 3, generator=generator))


def end_rows(model, part, call):
    """The row of a link between nodes 0 and 3, wherever these are now."""
    place = [part.kept.tolist().index(node) for node in (0, 3)]
    return call(model, part, torch.tensor([[place[0]], [place[1]]]))


def node_row(model, part):
    return model(part.x, part.edge_index)[part.kept.tolist().index(3)]


def lightgcn_row(model, part, link):
    """LightGCN's own sum over layers, with the embeddings of the nodes that are there."""
    x = model.embedding.weight[part.kept]
    out = x * model.alpha[0]
    for i in range(model.num_layers):
        x = model.convs[i](x, part.edge_index)
        out = out + x * model.alpha[i + 1]
    return (out[link[0]] * out[link[1]]).sum(dim=-1)


def linkx_row(model, part):
    """LINKX with the weights of the nodes that are there."""
    twin = layers.LINKX(part.num_nodes, WIDTH, 5, 2, 1)
    state = {key: value[part.kept] if key == "edge_lin.weight" else value for key, value in model.state_dict().items()}
    twin.double().eval().load_state_dict(state)
    return twin(part.x, part.edge_index)[part.kept.tolist().index(3)]


def select_case(wrap, select=None, refusal=""):
    return Case(
        lambda: Heads(wrap),
        lambda model, part: Convolution.forward(model, part.x, part.edge_index, as_batch(part)),
        options={"target": 0, "output": "logit", "select": select},
        refusal=refusal,
    )


def pooled(readout, **changes):
    return Case(lambda: Pooled(readout()), plain, **changes)


def log_odds(chances):
    return float(torch.log(chances[0, 0]) - torch.log(1 - chances[0, 0]))


def traced(model):
    data = graph()
    return torch.jit.trace(model.double().eval(), (data.x, data.edge_index, as_batch(data)), check_trace=False)


def closed_over(model):
    def call(x, edge_index, batch):
        return model(x, edge_index, batch)

    return call


LINK = {"edge": (0, 3), "output": "logit"}
NODE = {"node": 3, "target": 0, "output": "logit"}
LABEL = {"column": 1, "task": "binary", "target": 1, "output": "logit"}
NUMBER = {"column": 2, "output": "logit"}
TARGETED = {"target": 0, "output": "log-odds"}

ZOO: dict[str, Case] = {
    **{
        name: Case(
            lambda make=make: Network(make),
            lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
        )
        for name, make in PLAIN.items()
    },
    **{
        name: Case(
            lambda make=make: Network(make, edge_features=True),
            lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
        )
        for name, make in WITH_EDGES.items()
    },
    # Readouts.
    "Set2Set": Case(lambda: Wide(aggr.Set2Set(WIDTH, 2), 2 * WIDTH), plain),
    "SortAggregation": Case(lambda: Wide(aggr.SortAggregation(3), 3 * WIDTH), plain),
    "LSTM readout": pooled(lambda: aggr.LSTMAggregation(WIDTH, WIDTH), warning="depends on the rest of the batch"),
    "median": pooled(aggr.MedianAggregation, warning="no finite output for an empty graph"),
    "quantile": pooled(lambda: aggr.QuantileAggregation(0.3), warning="no finite output for an empty graph"),
    "loop over graphs": Case(LoopReadout, plain, warning="no finite output for an empty graph"),
    "unbatch": Case(UnbatchReadout, plain, warning="no finite output for an empty graph"),
    "to_data_list": Case(ListReadout, lambda model, part: model(Batch.from_data_list([part]))),
    "ptr and num_nodes": Case(
        PtrReadout,
        lambda model, part: model(part.x, part.edge_index, torch.tensor([0, part.num_nodes]), part.num_nodes),
    ),
    "TopKPooling": Case(lambda: HierarchicalPool(layers.TopKPooling(WIDTH)), plain),
    "SAGPooling": Case(lambda: HierarchicalPool(layers.SAGPooling(WIDTH)), plain),
    "ASAPooling": Case(
        lambda: HierarchicalPool(layers.ASAPooling(WIDTH)),
        plain,
        lambda: Data(x=graph().x.float(), edge_index=both_ways(PAIRS)),
    ),
    "EdgePooling": Case(lambda: HierarchicalPool(layers.EdgePooling(WIDTH)), plain, warning="EdgePooling breaks ties"),
    "DiffPool": Case(DensePool, plain),
    # Normalisations and global context.
    "GraphNorm with batch": Case(lambda: WithNorm(layers.GraphNorm(WIDTH), True), plain),
    "PairNorm without batch": Case(
        lambda: WithNorm(layers.PairNorm(), False), plain, warning="depends on the rest of the batch"
    ),
    "BatchNorm": Case(lambda: WithNorm(layers.BatchNorm(WIDTH), False), plain),
    "virtual node": Case(VirtualNode, plain),
    "GPS": Case(Transformer, plain),
    "jumping knowledge": Case(Jumping, plain),
    "AttentiveFP": Case(
        lambda: layers.AttentiveFP(WIDTH, 5, 2, 2, 2, 2),
        lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
    ),
    "RGCN": Case(
        Relations,
        lambda model, part: model(part.x, part.edge_index, part.edge_type, as_batch(part)),
        lambda: graph(edge_type=torch.arange(2 * len(PAIRS)) % 3),
    ),
    # Structure that is not edge_index.
    **{
        f"two edge sets, {masking}": Case(
            TwoEdgeSets,
            lambda model, part: model(part.x, part.edge_index, part.edge_index_2, part.edge_weight_2, as_batch(part)),
            lambda: graph(edge_index_2=both_ways(SECOND), edge_weight_2=torch.rand(10).double()),
            cut=second_edges,
            masking=masking,
        )
        for masking in ("remove", "split")
    },
    **{
        f"hyperedges, {masking}": Case(
            Hypergraph,
            lambda model, part: model(part.x, part.hyperedge_index, as_batch(part)),
            lambda: graph(hyperedge_index=torch.tensor([[0, 1, 2, 2, 3, 4, 5, 6, 6], [0, 0, 0, 1, 1, 1, 2, 2, 0]])),
            cut=hyperedges,
            masking=masking,
        )
        for masking in ("remove", "split")
    },
    **{
        f"adj_t, {masking}": Case(
            Convolution,
            lambda model, part: model(part.x, part.adj_t, as_batch(part)),
            lambda: Data(
                x=graph().x, adj_t=torch.sparse_coo_tensor(both_ways(PAIRS), torch.ones(16).double()).to_sparse_csr()
            ),
            cut=matrix,
            masking=masking,
        )
        for masking in ("remove", "split")
    },
    "dense adjacency": Case(
        DenseAdjacency,
        data=lambda: graph(adj=to_dense_adj(both_ways(PAIRS))[0].double()),
        refusal="data: adj has a row",
    ),
    "edges of another name": Case(
        lambda: lambda x, bonds, batch: global_add_pool(x[bonds[0]], batch[bonds[1]]),
        data=lambda: graph(bonds=both_ways(SECOND)),
        refusal="data: bonds looks like edges",
    ),
    "graph inside the model": Case(OwnGraph, refusal="carries a graph inside"),
    # What comes back.
    "tuple": select_case(lambda loss, out: (loss, out), refusal="pass select="),
    "tuple, named": select_case(lambda loss, out: (loss, out), 1),
    "tuple of one": select_case(lambda loss, out: (out,)),
    "dictionary": select_case(lambda loss, out: {"loss": loss, "logits": out}, refusal="select='loss'"),
    "dictionary, named": select_case(lambda loss, out: {"loss": loss, "logits": out}, "logits"),
    "list of heads": select_case(lambda loss, out: [out, out[:, :2]], refusal="several things"),
    "list of heads, named": select_case(lambda loss, out: [-out, out], 1),
    "object": select_case(lambda loss, out: SimpleNamespace(loss=loss, logits=out), "logits"),
    "nested": select_case(lambda loss, out: {"heads": [out, loss]}, ("heads", 0)),
    "softmax inside": Case(lambda: Ends(lambda out: out.softmax(dim=1)), plain, options=TARGETED, readout=log_odds),
    "softmax inside, as logit": Case(
        lambda: Ends(lambda out: out.softmax(dim=1)), refusal="output='logit' cannot be had"
    ),
    "log_softmax inside": Case(
        lambda: Ends(lambda out: out.log_softmax(dim=1)),
        plain,
        options=TARGETED,
        readout=lambda row: log_odds(row.exp()),
    ),
    "sigmoid inside": Case(
        lambda: Ends(torch.sigmoid, 1), plain, options={"target": 1, "output": "log-odds"}, readout=log_odds
    ),
    "labels": Case(
        lambda: Ends(torch.sigmoid, 5), options={"target": 0, "output": "log-odds"}, refusal="labels and not classes"
    ),
    "one label": Case(lambda: Convolution(5), plain, options=LABEL, readout=lambda row: float(row[0, 1])),
    "19 numbers": Case(lambda: Convolution(19), plain, options=NUMBER, readout=lambda row: float(row[0, 2])),
    "19 numbers with their truth": Case(
        lambda: Convolution(19), data=lambda: graph(y=torch.randn(1, 19)), options={}, refusal="pass column="
    ),
    # How it is called.
    "GraphGym": Case(
        GraphGym,
        lambda model, part: model(Batch.from_data_list([part.clone()]))[0],
        lambda: graph(y=torch.tensor([1])),
        options={"target": 0, "output": "logit", "select": 0},
    ),
    "GraphGym without select": Case(GraphGym, data=lambda: graph(y=torch.tensor([1])), refusal="pass select="),
    "Lightning": Case(Lightning, lambda model, part: model(Batch.from_data_list([part]))),
    "compiled": Case(lambda: torch.compile(Convolution()), lambda model, part: plain(model._orig_mod, part)),
    "DataParallel": Case(lambda: nn.DataParallel(Convolution()), lambda model, part: plain(model.module, part)),
    "AveragedModel": Case(lambda: torch.optim.swa_utils.AveragedModel(Convolution()), plain),
    "wrapper": Case(lambda: Passing(Convolution()), plain),
    "PyG's Sequential": Case(
        lambda: layers.Sequential(
            "x, edge_index, edge_attr, batch",
            [
                (layers.GATConv(WIDTH, 4, edge_dim=2), "x, edge_index, edge_attr -> x"),
                (global_add_pool, "x, batch -> x"),
                nn.Linear(4, 2),
            ],
        ),
        lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
    ),
    "closure": Case(
        lambda: closed_over(Convolution().double().eval()),
        plain,
    ),
    "optional weights": Case(
        OptionalWeights, data=lambda: graph(edge_weight=torch.rand(16).double()), refusal="inputs=\\('x', 'edge_index'"
    ),
    "optional weights, given": Case(
        OptionalWeights,
        lambda model, part: model(part.x, part.edge_index, part.edge_weight, as_batch(part)),
        lambda: graph(edge_weight=torch.rand(16).double()),
        options={"target": 0, "output": "logit", "inputs": ("x", "edge_index", "edge_weight")},
    ),
    "optional weights, left out": Case(
        OptionalWeights,
        lambda model, part: model(part.x, part.edge_index, None, as_batch(part)),
        lambda: graph(edge_weight=torch.rand(16).double()),
        options={"target": 0, "output": "logit", "inputs": ("x", "edge_index")},
    ),
    "functional dropout": Case(FunctionalDropout, refusal="differently each time"),
    "traced": Case(lambda: traced(Convolution()), plain, warning="one by one"),
    # Nodes and links.
    "node level": Case(NodeOnly, node_row, options=NODE),
    "directed, both ways": Case(
        Directed, node_row, lambda: Data(x=graph().x, edge_index=torch.tensor(PAIRS).T), options=NODE
    ),
    **{
        name: Case(lambda make=make: make(WIDTH, 5, 2, 3, act="tanh"), node_row, options=NODE)
        for name, make in {
            "PyG's GCN": layers.GCN,
            "PyG's GIN": layers.GIN,
            "PyG's GAT": layers.GAT,
            "PyG's GraphSAGE": layers.GraphSAGE,
        }.items()
    },
    "LINKX": Case(lambda: layers.LINKX(NODES, WIDTH, 5, 2, 1), linkx_row, options=NODE),
    "LightGCN": Case(
        lambda: layers.LightGCN(NODES, 4, 2),
        lambda model, part: end_rows(model, part, lightgcn_row),
        options=LINK,
    ),
    "GAE": Case(
        lambda: layers.GAE(Encoder()),
        lambda model, part: end_rows(
            model, part, lambda model, part, link: model.decode(model.encode(part.x, part.edge_index), link)
        ),
        options=LINK,
    ),
    "VGAE": Case(
        lambda: layers.VGAE(Encoder(True)),
        lambda model, part: end_rows(
            model, part, lambda model, part, link: model.decode(model.encode(part.x, part.edge_index), link)
        ),
        options=LINK,
    ),
    "PyG's link example": Case(
        LinkExample,
        lambda model, part: end_rows(
            model, part, lambda model, part, link: model.decode(model.encode(part.x, part.edge_index), link)
        ),
        options=LINK,
    ),
    "link example as a graph": Case(LinkExample, refusal="pass edge= to explain a link"),
    # Atoms.
    "SchNet": Case(
        lambda: layers.SchNet(8, 8, 1, 6, 2.0, interaction_graph=near),
        lambda model, part: model(part.z, part.pos, as_batch(part)),
        atoms,
        options={"output": "logit"},
        cut=lambda data, kept, masking: Data(z=data.z[kept], pos=data.pos[kept]),
    ),
    "SchNet, split": Case(
        lambda: layers.SchNet(8, 8, 1, 6, 2.0, interaction_graph=near),
        data=atoms,
        masking="split",
        options={},
        refusal="use masking='remove'",
    ),
    "DimeNet without torch-cluster": Case(
        lambda: layers.DimeNet(8, 1, 1, 2, 2, 2), data=atoms, options={}, refusal="fails on data itself"
    ),
}
