"""One input graph, its tensors sorted by what they belong to."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._core.checks import checked_whole
from mage._core.typing import Integers
from mage._torch.structures import Structure

# Bookkeeping of batches and of links that are to be predicted: never an input of the model by themselves.
_MOST_WITHOUT_ROWS = 2_000_000  # nodes have names
_NOT_INPUT = ("edge_index", "batch", "ptr", "num_nodes", "edge_label", "edge_label_index")
LABELS = ("y",)
"""What models are trained with: part of the graph, but nothing that they look at when they predict."""

# One row may be the only node's, the only edge's or the graph's: then the name decides.
_OF_NODES = re.compile(r"^(x|x_.*|feat|features|pos|crd|normal|z|n_id|tf)$|node|atom|mask")
_OF_EDGES = re.compile(r"^e_id$|edge|bond|weight")


@dataclass(frozen=True)
class GraphInput:
    """The tensors of one graph: a row per node, a row per edge, or one for the whole graph.

    Attributes:
        num_nodes: Number of nodes.
        edge_index: Edges [2, e].
        node: Tensors with a row per node, by name.
        edge: Tensors with a row per edge, by name.
        graph: What belongs to the whole graph, by name.
        structures: Further edges, hyperedges and adjacency matrices, by name.
        from_matrix: Name of the matrix that ``edge_index`` was made from, where the graph has none itself.
    """

    num_nodes: int
    edge_index: Tensor
    node: dict[str, Tensor]
    edge: dict[str, Tensor]
    graph: dict[str, Any]
    structures: dict[str, Structure] = field(default_factory=dict)
    from_matrix: str | None = None

    @classmethod
    def of(cls, data: Any, cutoff: float | None = None) -> GraphInput:
        """Read a PyG ``Data`` object, refusing what cannot be explained.

        Args:
            data: The graph.
            cutoff: Distance up to which nodes with positions are joined where there is no ``edge_index``.
        """
        check_graph(data)
        batch = data.get("batch")
        is_batch = isinstance(batch, Tensor) and batch.numel() > 0 and int(batch.max()) > 0
        if is_batch or getattr(data, "num_graphs", 1) not in (None, 1):
            raise ValueError("data holds 2 graphs or more; explain them one by one or with explain_many")
        num_nodes = _num_nodes(data)
        from_matrix = None
        if data.get("edge_index") is None:
            data = copy.copy(data)
            data.edge_index, from_matrix = _derived_edges(data, num_nodes, cutoff)
            data.num_nodes = num_nodes
        edge_index = _checked_edges(data.edge_index, num_nodes)
        _check_one_graph(data, num_nodes)
        whole = cls(num_nodes, edge_index, {}, {}, {}, {}, from_matrix)
        for key, value in data.items():
            if key not in _NOT_INPUT:
                whole._file(key, value, data)
        whole._give_attributes()
        return whole

    def _file(self, key: str, value: Any, data: Data) -> None:
        """Put a value of the graph where it belongs."""
        structure = Structure.of(key, value, self.num_nodes)
        if structure is not None:
            self.structures[key] = structure
            return
        by_row = isinstance(value, Tensor) and value.dim() > 0 and data.__cat_dim__(key, value) == 0
        if by_row and data.is_node_attr(key) and (self.num_nodes > 1 or _OF_NODES.search(key)):
            self.node[key] = value
        elif by_row and data.is_edge_attr(key) and (self.edge_index.size(1) != 1 or _OF_EDGES.search(key)):
            self.edge[key] = value
        else:
            self.graph[key] = value

    def _give_attributes(self) -> None:
        """Tensors with a row per column of a further structure go with it; their names tell where several could."""
        for name, structure in self.structures.items():
            affix = name.replace("hyperedge_index", "hyperedge").replace("edge_index", "").replace("index", "")
            count = 0 if structure.layout is not None else structure.ends.size(1)
            for group, certain in ((self.graph, True), (self.edge, False), (self.node, False)):
                for key, value in list(group.items()):
                    rows = isinstance(value, Tensor) and value.dim() > 0 and len(value) == count > 0
                    if rows and ((certain and count > 1) or (affix and affix in key)):
                        structure.attributes[key] = group.pop(key)

    @property
    def device(self) -> torch.device:
        """Where the edges are."""
        return self.edge_index.device

    @property
    def all_edges(self) -> Tensor:
        """All pairs [2, m] that are joined in one way or another."""
        further = [structure.pairs for structure in self.structures.values()]
        return torch.cat([self.edge_index, *further], dim=1) if further else self.edge_index

    @property
    def full_mask(self) -> Tensor:
        """The mask [1, n] with which all nodes are present."""
        return torch.ones(1, self.num_nodes, dtype=torch.bool, device=self.device)

    def restricted_to(self, nodes: Tensor) -> GraphInput:
        """The induced subgraph on ``nodes``, renumbered in that order."""
        position = torch.full((self.num_nodes,), -1, dtype=torch.long, device=self.device)
        position[nodes] = torch.arange(len(nodes), device=self.device)
        inner_edges = (position[self.edge_index] >= 0).all(dim=0)
        return replace(
            self,
            num_nodes=len(nodes),
            edge_index=position[self.edge_index[:, inner_edges]],
            node={key: value[nodes] for key, value in self.node.items()},
            edge={key: value[inner_edges] for key, value in self.edge.items()},
            structures={key: structure.renumbered(position) for key, structure in self.structures.items()},
        )

    def blanked(self, nodes: Tensor, edges: bool = True) -> GraphInput:
        """The graph with the features of some nodes at zero (whole numbers stay), and without edges if asked."""
        features = dict(self.node)
        if "x" in features and features["x"].is_floating_point():
            features["x"] = features["x"].clone()
            features["x"][nodes] = 0.0
        if edges:
            return replace(self, node=features)
        nowhere = torch.full((self.num_nodes,), -1, dtype=torch.long, device=self.device)
        return replace(
            self,
            node=features,
            edge={key: value[:0] for key, value in self.edge.items()},
            edge_index=self.edge_index[:, :0],
            structures={key: structure.renumbered(nowhere) for key, structure in self.structures.items()},
        )

    def edges_among(self, count: int) -> Integers:
        """Edges [e, 2] between the first ``count`` nodes."""
        edges = self.all_edges.T.cpu().numpy()
        return np.asarray(edges[(edges < count).all(axis=1)])

    def half_of(self, free: Tensor) -> Tensor:
        """Half of the nodes that may be absent; of those with edges if there are any, since these change the output."""
        linked = torch.zeros_like(free)
        linked[self.all_edges.flatten()] = True
        candidates = free & linked if bool((free & linked).any()) else free
        nodes = torch.nonzero(candidates).flatten()
        # One node must stay where none is bound to.
        return nodes[::2] if len(nodes) < len(free) else nodes[1::2]

    def looked_at(self, uses: Callable[[str], bool]) -> GraphInput:
        """The graph with only the tensors that a model looks at, by their names."""
        node, edge = (
            {key: value for key, value in part.items() if uses(key) and key not in LABELS}
            for part in (self.node, self.edge)
        )
        return replace(self, node=node, edge=edge)

    def copies(self, count: int) -> dict[str, Any]:
        """Graph-level values for a union of ``count`` copies: tensors of one row are repeated."""
        repeated = {}
        for key, value in self.graph.items():
            one_row = isinstance(value, Tensor) and value.dim() > 0 and value.size(0) == 1
            repeated[key] = value.repeat(count, *[1] * (value.dim() - 1)) if one_row else value
        return repeated

    def without(self, key: str) -> GraphInput:
        """The graph without one of its values."""
        node, edge, whole = (
            {name: value for name, value in part.items() if name != key} for part in (self.node, self.edge, self.graph)
        )
        structures = {name: value for name, value in self.structures.items() if name != key}
        return replace(self, node=node, edge=edge, graph=whole, structures=structures)

    @property
    def unmaskable(self) -> dict[str, str]:
        """Values that look like structure and cannot be cut with their nodes, and what to do instead."""
        reasons = {}
        for key, value in {**self.node, **self.graph}.items():
            if not isinstance(value, Tensor) or self.num_nodes < 2 or key in LABELS:
                continue
            sizes = list(value.shape)
            if sizes.count(self.num_nodes) > 1 and not (key in self.node and len(sizes) == 2 and _OF_NODES.search(key)):
                reasons[key] = (
                    f"has a row and a column per node {sizes}, which cannot be cut with the nodes; make it inside the "
                    "model from edge_index, for example with torch_geometric.utils.to_dense_adj(edge_index, batch)"
                )
            elif key in self.graph and _looks_like_edges(value, self.num_nodes):
                reasons[key] = (
                    f"looks like edges {sizes} but has another name; give it a name with 'index' in it, as PyG does, "
                    "so that it is cut with the nodes"
                )
        return reasons

    @property
    def possible_references(self) -> list[str]:
        """Values whose numbers may be numbers of nodes: whole, and none that no node has."""
        values = {**self.node, **self.edge, **self.graph}
        return [
            key
            for key, value in values.items()
            if isinstance(value, Tensor) and key not in LABELS and _may_name_nodes(value, self.num_nodes)
        ]

    def pointing_by(self, key: str, position: Tensor) -> GraphInput:
        """The graph where a value names nodes by their new numbers: ``position`` [n]."""
        node, edge, whole = (
            {name: position[value.long()] if name == key else value for name, value in part.items()}
            for part in (self.node, self.edge, self.graph)
        )
        return replace(self, node=node, edge=edge, graph=whole)


def _looks_like_edges(value: Tensor, num_nodes: int) -> bool:
    """Whether a matrix may hold pairs, triples or quadruples of nodes."""
    return value.dim() == 2 and 1 < min(value.shape) < 5 and value.numel() > 2 and _may_name_nodes(value, num_nodes)


def _may_name_nodes(value: Tensor, num_nodes: int) -> bool:
    whole = not value.is_floating_point() and not value.is_complex() and value.dtype != torch.bool
    return whole and value.numel() > 0 and int(value.min()) >= 0 and int(value.max()) < num_nodes


def check_graph(data: Any) -> None:
    """Refuse what is no graph, and arrays, lists and sparse features in the place of tensors."""
    if not isinstance(data, Data):
        kind = f"the class {data.__name__}" if isinstance(data, type) else type(data).__name__
        raise TypeError(f"data must be a torch_geometric.data.Data or HeteroData graph, got {kind}")
    for key in ("x", "edge_index", "edge_attr", "edge_weight", "pos", "batch"):
        value = data.get(key)
        if isinstance(value, Tensor) and value.dim() == 0:
            raise ValueError(f"data: {key} must have a row per node or edge, got a single number")
        if value is None or (isinstance(value, Tensor) and value.layout == torch.strided):
            continue
        if "SparseTensor" in type(value).__name__ or isinstance(value, Tensor):
            way_out = "convert it with .to_dense()" if key == "x" else "give edges as numbers [2, e]"
        elif key == "x" and hasattr(value, "materialize"):
            continue
        else:
            way_out = "convert it with torch.as_tensor()"
        raise ValueError(f"data: {key} must be a dense tensor, got {type(value).__name__}; {way_out}")
    for key, value in data.items():
        if "SparseTensor" in type(value).__name__:
            raise ValueError(
                f"data: {key} is a torch_sparse.SparseTensor, which cannot be cut; convert it with "
                f"data.{key}.to_torch_sparse_csr_tensor()"
            )
        if key == "num_nodes" and value is not None:
            checked_num_nodes("data: num_nodes", value, data)
            _check_rows(data)
        if key == "self":
            raise ValueError("data: an attribute named 'self' cannot be given to a model; give it another name")


def checked_num_nodes(name: str, value: Any, attributes: Any) -> int:
    """A stated number of nodes; a large one must be that of the rows of some attribute."""
    count = checked_whole(name, value, least=0)
    rows = (len(one) for one in attributes.values() if isinstance(one, Tensor) and one.dim() > 0)
    if count > _MOST_WITHOUT_ROWS and count not in rows:
        raise ValueError(
            f"{name} must be at most {_MOST_WITHOUT_ROWS:,} where no attribute has a row per node, got {count:,}"
        )
    return count


def _check_one_graph(data: Data, num_nodes: int) -> None:
    """Refuse a pair of graphs in one object: ``x_s``, ``edge_index_s``, ``x_t``, ``edge_index_t`` of PyG's guide."""
    for key, value in data.items():
        affix = key.removeprefix("edge_index_") if key.startswith("edge_index_") else ""
        features = data.get(f"x_{affix}") if affix and isinstance(value, Tensor) else None
        if isinstance(features, Tensor) and features.dim() > 0 and (len(features) != num_nodes or affix in ("s", "t")):
            raise ValueError(
                f"data: {key} joins nodes of a second graph, whose features are x_{affix}; explain one graph with "
                "forward=call(model, data), which gives the model the other one"
            )


def _num_nodes(data: Data) -> int:
    num_nodes = data.num_nodes
    if num_nodes is None and isinstance(data.get("z"), Tensor):
        num_nodes = len(data.z)
    if not num_nodes:
        raise ValueError("data: the graph has no nodes")
    _check_rows(data)
    return int(num_nodes)


def _check_rows(data: Data) -> None:
    features = data.get("x")
    if isinstance(features, Tensor) and features.size(0) != data.num_nodes:
        raise ValueError(f"data: x has {features.size(0)} rows for {data.num_nodes} nodes; data.num_nodes must fit")


def _derived_edges(data: Data, num_nodes: int, cutoff: float | None) -> tuple[Tensor, str | None]:
    """Edges of a graph without ``edge_index``, from a matrix (and its name), hyperedges or distances."""
    for key, value in data.items():
        structure = Structure.of(key, value, num_nodes)
        if structure is not None and structure.layout is not None:
            return structure.ends.flip(0), key  # PyG keeps adjacency matrices transposed
    if data.get("hyperedge_index") is not None:
        return torch.empty(2, 0, dtype=torch.long, device=data.hyperedge_index.device), None
    positions = data.get("pos")
    if isinstance(positions, Tensor) and cutoff is not None:
        near = torch.cdist(positions.double(), positions.double()) <= cutoff
        return torch.nonzero(near.fill_diagonal_(False)).T.contiguous(), None
    hint = "graphs without edges need an empty one of shape [2, 0]"
    if isinstance(positions, Tensor):
        hint = "join atoms by their bonds, or by distance with torch_geometric.nn.radius_graph(pos, r)"
    raise ValueError(f"data: edge_index is missing; {hint}")


def _checked_edges(edge_index: Tensor, num_nodes: int) -> Tensor:
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(f"data: edge_index must have shape [2, e], got {list(edge_index.shape)}")
    if edge_index.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"data: edge_index must hold int64 numbers, got {edge_index.dtype}; convert it with .long()")
    if edge_index.numel() and (int(edge_index.min()) < 0 or int(edge_index.max()) >= num_nodes):
        raise ValueError(f"data: edge_index names nodes outside 0 … {num_nodes - 1}")
    return edge_index


def positions_among(nodes: Tensor, targets: Tensor) -> Tensor:
    """Where each target stands among others, all of which are different."""
    return torch.cat([torch.nonzero(nodes == v).flatten() for v in targets.unbind()] or [targets])
