"""The graph of the models as people write them, its parts, and how a model is run on one part."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.utils import subgraph

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


def few_kinds():
    """The same graph with nodes of two kinds and edges of one: much of it is equal to other parts of it."""
    data = graph()
    data.x = torch.eye(WIDTH).double()[torch.tensor([0, 0, 0, 1, 0, 0, 1])]
    data.edge_attr = torch.ones_like(data.edge_attr)
    return data


def part_of(data, present, masking):
    """One masked graph, made with PyG's own tools; whatever is not a node's or an edge's is left as it is."""
    if masking == "remove":
        part = data.subgraph(present)
    else:
        part = data.clone()
        part.edge_index, columns = subgraph(present, data.edge_index, torch.arange(data.num_edges), num_nodes=NODES)
        for key in ("edge_attr", "edge_weight", "edge_type"):
            if key in data:
                part[key] = data[key][columns]
    part.nodes = torch.arange(NODES)[present] if masking == "remove" else torch.arange(NODES)
    return part


def second_edges(data, present, masking):
    """The graph with its second edges cut as well."""
    part = part_of(data, present, masking)
    part.edge_index_2, columns = subgraph(
        present, data.edge_index_2, torch.arange(10), relabel_nodes=masking == "remove", num_nodes=NODES
    )
    part.edge_weight_2 = data.edge_weight_2[columns]
    return part


def hyperedges(data, present, masking):
    part = part_of(data, present, masking)
    inside = present[data.hyperedge_index[0]]
    number = torch.cumsum(present, 0) - 1 if masking == "remove" else torch.arange(NODES)
    part.hyperedge_index = torch.stack([number[data.hyperedge_index[0, inside]], data.hyperedge_index[1, inside]])
    return part


def matrix(data, present, masking):
    part = Data(x=data.x[present] if masking == "remove" else data.x)
    dense = data.adj_t.to_dense() * present[:, None] * present[None]
    dense = dense[present][:, present] if masking == "remove" else dense
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
        tolerance: Of worths, relative to the largest; single precision after a few hundred roundings by default.
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
    tolerance: float = 1e-5


def as_batch(part):
    return torch.zeros(part.num_nodes, dtype=torch.long)


def plain(model, part):
    return model(part.x, part.edge_index, as_batch(part))
