"""Small graphs with types of nodes, and models for them as people write them."""

import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import (
    GATConv,
    HANConv,
    HeteroConv,
    HGTConv,
    RGCNConv,
    SAGEConv,
    global_mean_pool,
    to_hetero,
)

COUNTS = {"paper": 5, "author": 4, "venue": 1}
WIDTHS = {"paper": 4, "author": 3, "venue": 2}


def typed_graph(seed=0, width=None, counts=None):
    """Papers that cite each other, their authors, and venues; ``width``: the same features for all types."""
    generator = torch.Generator().manual_seed(seed)
    counts = counts or COUNTS
    data = HeteroData()
    for kind, count in counts.items():
        data[kind].x = torch.randn(count, width or WIDTHS[kind], generator=generator).double()
    papers, authors, venues = counts.values()
    written = torch.stack([torch.arange(papers) % authors, torch.arange(papers)])
    more = torch.stack([(torch.arange(papers) + 1) % authors, torch.arange(papers)])[:, ::2]
    written = torch.cat([written, more], dim=1)
    printed = torch.stack([torch.arange(papers), torch.arange(papers) % venues])
    data["author", "writes", "paper"].edge_index = written
    data["paper", "written_by", "author"].edge_index = written.flip(0)
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]).clamp(max=papers - 1)
    data["paper", "in", "venue"].edge_index = printed
    data["venue", "prints", "paper"].edge_index = printed.flip(0)
    data["author", "writes", "paper"].edge_attr = torch.rand(written.size(1), 1, generator=generator).double()
    return data


class Sage(nn.Module):
    def __init__(self, outputs=3):
        super().__init__()
        self.first, self.second = SAGEConv((-1, -1), 6), SAGEConv((-1, -1), outputs)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class Transformer(nn.Module):
    def __init__(self, metadata, outputs=3):
        super().__init__()
        self.first = HGTConv(dict(WIDTHS), 8, metadata, heads=2)
        self.second, self.head = HGTConv(8, 8, metadata, heads=2), nn.Linear(8, outputs)

    def forward(self, x_dict, edge_index_dict):
        x_dict = self.second(self.first(x_dict, edge_index_dict), edge_index_dict)
        return {kind: self.head(x) for kind, x in x_dict.items()}


class Relations(nn.Module):
    """HeteroConv with another layer per relation; outputs for papers only."""

    def __init__(self, metadata):
        super().__init__()
        self.layers = nn.ModuleList(
            HeteroConv(
                {
                    kind: GATConv((-1, -1), 6, add_self_loops=False) if kind[1] == "cites" else SAGEConv((-1, -1), 6)
                    for kind in metadata[1]
                },
                aggr="sum",
            )
            for _ in range(2)
        )
        self.head = nn.Linear(6, 3)

    def forward(self, data):
        x_dict = data.x_dict
        for layer in self.layers:
            x_dict = {kind: x.relu() for kind, x in layer(x_dict, data.edge_index_dict).items()}
        return self.head(x_dict["paper"])


class Attention(nn.Module):
    def __init__(self, metadata):
        super().__init__()
        self.conv, self.head = HANConv(dict(WIDTHS), 8, metadata, heads=2), nn.Linear(8, 3)

    def forward(self, x_dict, edge_index_dict):
        return self.head(self.conv(x_dict, edge_index_dict)["paper"])


class Rgcn(nn.Module):
    """All types in one numbering."""

    def __init__(self, relations=5):
        super().__init__()
        self.first, self.second = RGCNConv(4, 6, relations), RGCNConv(6, 3, relations)

    def forward(self, x, edge_index, edge_type):
        return self.second(self.first(x, edge_index, edge_type).relu(), edge_index, edge_type)


class Pooled(nn.Module):
    """One output for the whole graph, from papers and authors."""

    def __init__(self, metadata):
        super().__init__()
        self.inner, self.head = to_hetero(Sage(6), metadata), nn.Linear(12, 2)

    def forward(self, x_dict, edge_index_dict, batch_dict):
        x_dict = self.inner(x_dict, edge_index_dict)
        parts = [global_mean_pool(x_dict[kind].relu(), batch_dict[kind]) for kind in ("paper", "author")]
        return self.head(torch.cat(parts, dim=1))


class Link(nn.Module):
    """Scores of links between authors and papers."""

    def __init__(self, metadata):
        super().__init__()
        self.inner = to_hetero(Sage(4), metadata)

    def forward(self, x_dict, edge_index_dict, edge_label_index):
        x_dict = self.inner(x_dict, edge_index_dict)
        source, target = edge_label_index
        return (x_dict["author"][source] * x_dict["paper"][target]).sum(dim=1)


class Tables(nn.Module):
    """Embeddings by position instead of features, as in recommendation."""

    def __init__(self, metadata):
        super().__init__()
        self.embeddings = nn.ModuleDict({kind: nn.Embedding(count, 4) for kind, count in COUNTS.items()})
        self.inner = to_hetero(Sage(3), metadata)

    def forward(self, edge_index_dict):
        return self.inner({kind: table.weight for kind, table in self.embeddings.items()}, edge_index_dict)


def ready(model, data, *names):
    """The model in double precision, after one run that fills its lazy weights."""
    model = model.double()
    torch.manual_seed(1)
    with torch.no_grad():
        arguments = {"x_dict": data.x_dict, "edge_index_dict": data.edge_index_dict} | {
            "batch_dict": {kind: torch.zeros(len(x), dtype=torch.long) for kind, x in data.x_dict.items()},
            "edge_label_index": torch.zeros(2, 1, dtype=torch.long),
            "data": data,
        }
        if names:
            model(*(arguments[name] for name in names))
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, dtype=weight.dtype) * 0.7)
    return model.eval()


def model_on(kind, data):
    """A model by name, and the arguments that a game of it needs."""
    torch.manual_seed(0)
    metadata, two = data.metadata(), ("x_dict", "edge_index_dict")
    makers = {
        "to_hetero": lambda: (ready(to_hetero(Sage(), metadata), data, *two), {"node": ("paper", 2)}),
        "hgt": lambda: (ready(Transformer(metadata), data, *two), {"node": ("author", 1)}),
        "hetero conv": lambda: (ready(Relations(metadata), data, "data"), {"node": ("paper", 3)}),
        "han": lambda: (ready(Attention(metadata), data, *two), {"node": ("paper", 1)}),
        "rgcn": lambda: (ready(Rgcn(), data), {"node": ("paper", 2)}),
        "graph": lambda: (ready(Pooled(metadata), data, *two, "batch_dict"), {}),
        "link": lambda: (
            ready(Link(metadata), data, *two, "edge_label_index"),
            {"edge": (("author", 1), ("paper", 2))},
        ),
        "tables": lambda: (ready(Tables(metadata), data, "edge_index_dict"), {"node": ("paper", 2)}),
    }
    return makers[kind]()


def part_of(data, present, masking):
    """One masked graph by PyG's own tools; ``present``: for each type which nodes are present."""
    if masking == "remove":
        return data.subgraph({kind: torch.from_numpy(mask).nonzero().flatten() for kind, mask in present.items()})
    part = data.clone()
    for kind, mask in present.items():
        is_present = torch.from_numpy(mask)
        if masking in ("zero", "mean"):
            other = data[kind].x.mean(dim=0) if masking == "mean" else torch.zeros_like(data[kind].x[0])
            part[kind].x = torch.where(is_present[:, None], data[kind].x, other)
    if masking == "split":
        for kind in data.edge_types:
            source, target = data[kind].edge_index
            stays = torch.from_numpy(present[kind[0]])[source] & torch.from_numpy(present[kind[2]])[target]
            part[kind].edge_index = data[kind].edge_index[:, stays]
            if "edge_attr" in data[kind]:
                part[kind].edge_attr = data[kind].edge_attr[stays]
    return part
