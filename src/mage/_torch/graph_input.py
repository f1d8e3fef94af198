"""One input graph, its tensors sorted by what they belong to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._core.typing import Integers

# Bookkeeping of batches and labels for training: never an input of the model by themselves.
_NOT_INPUT = ("edge_index", "batch", "ptr", "num_nodes", "y", "edge_label", "edge_label_index")

# One row may be the only node's, the only edge's or the graph's: then the name decides.
_OF_NODES = re.compile(r"^(x|x_.*|feat|features|pos|crd|normal|z|n_id|tf)$|node|atom|mask")
_OF_EDGES = re.compile(r"^e_id$|edge|bond|weight")


@dataclass(frozen=True)
class GraphInput:
    """The tensors of one graph: a row per node, a row per edge, or one for the whole graph."""

    num_nodes: int
    edge_index: Tensor
    node: dict[str, Tensor]
    edge: dict[str, Tensor]
    graph: dict[str, Any]

    @classmethod
    def of(cls, data: Any) -> GraphInput:
        """Read a PyG ``Data`` object, refusing what cannot be explained."""
        if not isinstance(data, Data):
            kind = type(data).__name__
            hint = "; convert it with to_homogeneous()" if "Hetero" in kind else ""
            raise TypeError(f"data must be a torch_geometric.data.Data graph, got {kind}{hint}")
        if data.get("edge_index") is None:
            way_out = "graphs without edges need an empty one of shape [2, 0]"
            if data.get("adj_t") is not None:
                way_out = "make it from adj_t: torch_geometric.utils.to_edge_index(data.adj_t)[0].flip(0)"
            raise ValueError(f"data: edge_index is missing; {way_out}")
        batch = data.get("batch")
        several = isinstance(batch, Tensor) and batch.numel() > 0 and int(batch.max()) > 0
        if several or getattr(data, "num_graphs", 1) not in (None, 1):
            raise ValueError("data holds 2 graphs or more; explain them one by one or with explain_many")
        num_nodes = data.num_nodes
        if not num_nodes:
            raise ValueError("data: the graph has no nodes")
        edge_index = _checked_edges(data, num_nodes)
        node, edge, graph = {}, {}, {}
        for key, value in data.items():
            if key in _NOT_INPUT:
                continue
            by_row = isinstance(value, Tensor) and value.dim() > 0 and data.__cat_dim__(key, value) == 0
            if by_row and data.is_node_attr(key) and (num_nodes > 1 or _OF_NODES.search(key)):
                node[key] = value
            elif by_row and data.is_edge_attr(key) and (edge_index.size(1) != 1 or _OF_EDGES.search(key)):
                edge[key] = value
            else:
                graph[key] = value
        return cls(int(num_nodes), edge_index, node, edge, graph)

    @property
    def device(self) -> torch.device:
        """Where the edges are."""
        return self.edge_index.device

    def restricted_to(self, nodes: Tensor) -> GraphInput:
        """The induced subgraph on ``nodes``, renumbered in that order."""
        position = torch.full((self.num_nodes,), -1, dtype=torch.long, device=self.device)
        position[nodes] = torch.arange(len(nodes), device=self.device)
        kept = (position[self.edge_index] >= 0).all(dim=0)
        return GraphInput(
            num_nodes=len(nodes),
            edge_index=position[self.edge_index[:, kept]],
            node={key: value[nodes] for key, value in self.node.items()},
            edge={key: value[kept] for key, value in self.edge.items()},
            graph=self.graph,
        )

    def blanked(self, nodes: Tensor, edges: bool = True) -> GraphInput:
        """The graph with the features of some nodes at zero (whole numbers stay), and without edges if asked."""
        features = dict(self.node)
        if "x" in features and features["x"].is_floating_point():
            features["x"] = features["x"].clone()
            features["x"][nodes] = 0.0
        count = self.edge_index.size(1) if edges else 0
        kept = {key: value[:count] for key, value in self.edge.items()}
        return replace(self, node=features, edge=kept, edge_index=self.edge_index[:, :count])

    def edges_among(self, count: int) -> Integers:
        """Edges [e, 2] between the first ``count`` nodes."""
        edges = self.edge_index.T.cpu().numpy()
        return np.asarray(edges[(edges < count).all(axis=1)])

    def half_of(self, free: Tensor) -> Tensor:
        """Half of the nodes that are free to go, of those with edges if there are any: their absence is felt."""
        linked = torch.zeros_like(free)
        linked[self.edge_index.flatten()] = True
        chosen = free & linked if bool((free & linked).any()) else free
        nodes = torch.nonzero(chosen).flatten()
        # One node must stay where none is bound to.
        return nodes[::2] if len(nodes) < len(free) else nodes[1::2]

    def looked_at(self, uses: Callable[[str], bool]) -> GraphInput:
        """The graph with only the tensors that a model looks at, by their names."""
        node, edge = ({key: value for key, value in part.items() if uses(key)} for part in (self.node, self.edge))
        return replace(self, node=node, edge=edge)

    def copies(self, count: int) -> dict[str, Any]:
        """Graph-level values for a union of ``count`` copies: tensors of one row are repeated."""
        repeated = {}
        for key, value in self.graph.items():
            one_row = isinstance(value, Tensor) and value.dim() > 0 and value.size(0) == 1
            repeated[key] = value.repeat(count, *[1] * (value.dim() - 1)) if one_row else value
        return repeated


def _checked_edges(data: Data, num_nodes: int) -> Tensor:
    edge_index: Tensor = data.edge_index
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(f"data: edge_index must have shape [2, e], got {list(edge_index.shape)}")
    if edge_index.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"data: edge_index must hold int64 numbers, got {edge_index.dtype}; convert it with .long()")
    if edge_index.numel() and (int(edge_index.min()) < 0 or int(edge_index.max()) >= num_nodes):
        raise ValueError(f"data: edge_index names nodes outside 0 … {num_nodes - 1}")
    return edge_index


def positions_among(nodes: Tensor, wanted: Tensor) -> Tensor:
    """Where each wanted node stands among others, all of which are different."""
    return torch.cat([torch.nonzero(nodes == v).flatten() for v in wanted.unbind()] or [wanted])
