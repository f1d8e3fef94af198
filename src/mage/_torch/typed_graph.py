"""A graph with several types of nodes: one numbering over all types, and typed tensors for unions of masked copies.

Nodes are numbered type by type, columns of edges too. What is left of a graph without its types is a plain
:class:`GraphInput` whose nodes and edges only carry their numbers. It is masked, cut and searched like any other graph;
the typed tensors are put together from the numbers when the model is called.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData

from mage._torch.graph_input import GraphInput, checked_num_nodes

EdgeType = tuple[str, str, str]
_NOT_INPUT = ("edge_index", "batch", "ptr", "num_nodes", "edge_label", "edge_label_index")
_FEATURES = "x"
_HAS_FEATURES = "x"  # of a graph without types: 1 where a node has its features, 0 where a masking took them away
_NODE, _EDGE = "n_id", "e_id"


@dataclass(frozen=True)
class TypedGraph:
    """The tensors of one graph with types.

    Attributes:
        node_types: Types of nodes.
        edge_types: Types of edges: source type, relation, target type.
        node_starts: The first number of each type of nodes, and the number of all nodes.
        edge_starts: The same for columns of edges.
        edge_index: Edges [2, e] between nodes by their numbers, one type after the other.
        node: For each type of nodes what they have, a row each, by name.
        edge: For each type of edges what they have, a row each, by name.
        graph: What belongs to the whole graph, by name.
    """

    node_types: tuple[str, ...]
    edge_types: tuple[EdgeType, ...]
    node_starts: tuple[int, ...]
    edge_starts: tuple[int, ...]
    edge_index: Tensor
    node: dict[str, dict[str, Tensor]]
    edge: dict[EdgeType, dict[str, Tensor]]
    graph: dict[str, Any]

    @classmethod
    def of(cls, data: HeteroData) -> TypedGraph:
        """Read a PyG ``HeteroData`` object, refusing what cannot be explained."""
        node_types, edge_types = tuple(data.node_types), tuple(data.edge_types)
        if not node_types:
            raise ValueError("data: the graph has no nodes")
        counts = {kind: _num_nodes(data, kind) for kind in node_types}
        starts = (0, *accumulate(counts.values()))
        if starts[-1] == 0:
            raise ValueError("data: the graph has no nodes")
        first = dict(zip(node_types, starts, strict=False))
        ends, edge = [], {}
        for kind in edge_types:
            edge_index = _edges(data, kind, counts)
            offset = torch.tensor([[first[kind[0]]], [first[kind[2]]]], device=edge_index.device)
            ends.append(edge_index + offset)
            edge[kind] = _rows(data[kind], edge_index.size(1))
        device = next((edges.device for edges in ends), None) or _device(data)
        return cls(
            node_types,
            edge_types,
            starts,
            (0, *accumulate(edges.size(1) for edges in ends)),
            torch.cat(ends, dim=1) if ends else torch.empty(2, 0, dtype=torch.long, device=device),
            {kind: _rows(data[kind], counts[kind]) for kind in node_types},
            edge,
            {key: value for key, value in data._global_store.items() if key not in _NOT_INPUT},
        )

    @property
    def num_nodes(self) -> int:
        """Nodes of all types together."""
        return self.node_starts[-1]

    @cached_property
    def type_of_node(self) -> Tensor:
        """The position of each node's type [n]."""
        return _labels(self.node_starts, self.edge_index.device)

    @cached_property
    def type_of_edge(self) -> Tensor:
        """The position of each column's type [e]."""
        return _labels(self.edge_starts, self.edge_index.device)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The type of each node by name."""
        return tuple(self.node_types[kind] for kind in self.type_of_node.tolist())

    @property
    def relations(self) -> tuple[str, ...]:
        """The relation of each column of edges by name."""
        return tuple(self.edge_types[kind][1] for kind in self.type_of_edge.tolist())

    @property
    def has_float_features(self) -> bool:
        """Whether there are features that a masking can replace."""
        return any(_FEATURES in rows and rows[_FEATURES].is_floating_point() for rows in self.node.values())

    @property
    def plain(self) -> GraphInput:
        """The graph without its types: numbers of nodes and edges, and whether nodes have their features."""
        device = self.edge_index.device
        node = {_NODE: torch.arange(self.num_nodes, device=device)}
        if self.has_float_features:
            node[_HAS_FEATURES] = torch.ones(self.num_nodes, 1, device=device)
        return GraphInput(
            num_nodes=self.num_nodes,
            edge_index=self.edge_index,
            node=node,
            edge={_EDGE: torch.arange(self.edge_index.size(1), device=device)},
            graph={},
        )

    def number(self, name: str, node: Any) -> int:
        """The number of a node that is given as ``(type, number within the type)``.

        Args:
            name: The argument it was given as, for messages.
            node: The pair.
        """
        kinds = ", ".join(map(repr, self.node_types))
        if not isinstance(node, tuple | list) or len(node) != 2 or not isinstance(node[0], str):
            raise ValueError(
                f"{name}: nodes of a graph with types are pairs such as ({self.node_types[0]!r}, 0); types are "
                f"{kinds}; got {node!r}"
            )
        kind: str = node[0]
        row: Any = node[1].item() if isinstance(node[1], Tensor) and node[1].numel() == 1 else node[1]
        if kind not in self.node_types:
            raise ValueError(f"{name}: there is no type {kind!r}; types are {kinds}")
        place = self.node_types.index(kind)
        count = self.node_starts[place + 1] - self.node_starts[place]
        try:
            number = operator.index(row)
        except TypeError:
            number = -1
        if isinstance(row, bool) or not 0 <= number < count:
            raise ValueError(f"{name}: {kind} {row!r} does not exist; nodes of this type are 0 … {count - 1}")
        return self.node_starts[place] + number

    def rows_of_type(self, union: Data, kind: str) -> Tensor:
        """Rows of a union of masked copies that are nodes of a type, ascending."""
        return torch.nonzero(self.type_of_node[union[_NODE]] == self.node_types.index(kind)).flatten()

    def numbers_in_type(self, union: Data, kind: str) -> Tensor:
        """For each of these rows the number that the node has within its type."""
        start = self.node_starts[self.node_types.index(kind)]
        numbers: Tensor = union[_NODE][self.rows_of_type(union, kind)] - start
        return numbers

    def positions(self, union: Data) -> Tensor:
        """For each row of a union its position among the rows of the same type."""
        position = torch.empty_like(union[_NODE])
        for kind in self.node_types:
            rows = self.rows_of_type(union, kind)
            position[rows] = torch.arange(len(rows), device=position.device)
        return position

    def typed(self, union: Data, count: int, fill: str = "zero") -> HeteroData:
        """A union of masked copies of :attr:`plain` with its types: what a model is given.

        Args:
            union: The copies.
            count: How many there are.
            fill: What stands for features that were taken away: ``"zero"``, or the ``"mean"`` of the type.
        """
        batch = Batch(_base_cls=HeteroData)
        position, graphs = self.positions(union), torch.arange(count + 1, device=union.batch.device)
        for kind in self.node_types:
            rows, numbers = self.rows_of_type(union, kind), self.numbers_in_type(union, kind)
            store = batch[kind]
            for key, value in self.node[kind].items():
                store[key] = value[numbers]
            if _FEATURES in store and store[_FEATURES].is_floating_point() and _HAS_FEATURES in union:
                absent = union[_HAS_FEATURES][rows] == 0  # one for all features of a node, or one each
                store[_FEATURES] = _replaced(store[_FEATURES], absent, self.node[kind][_FEATURES], fill)
            store.num_nodes = len(rows)
            store.batch = union.batch[rows]
            store.ptr = torch.searchsorted(store.batch, graphs)
        of_edge = self.type_of_edge[union[_EDGE]]
        for place, relation in enumerate(self.edge_types):
            columns = torch.nonzero(of_edge == place).flatten()
            numbers = union[_EDGE][columns] - self.edge_starts[place]
            store = batch[relation]
            store.edge_index = position[union.edge_index[:, columns]]
            for key, value in self.edge[relation].items():
                store[key] = value[numbers]
        for key, value in self.graph.items():
            one_row = isinstance(value, Tensor) and value.dim() > 0 and value.size(0) == 1
            batch[key] = value.repeat(count, *[1] * (value.dim() - 1)) if one_row else value
        batch._num_graphs = count
        return batch

    def with_last_graph(self, union: Data, count: int) -> Data:
        """The union with one more graph, a node of each type without edges: pools then have a row for all before it."""
        last = torch.tensor(self.node_starts[:-1], device=union.batch.device)
        counts = torch.tensor(self.node_starts, device=last.device).diff()
        last = last[counts > 0]
        longer = Data(edge_index=union.edge_index, **{_EDGE: union[_EDGE]})
        longer[_NODE] = torch.cat([union[_NODE], last])
        if _HAS_FEATURES in union:
            has_features = union[_HAS_FEATURES]
            longer[_HAS_FEATURES] = torch.cat([has_features, has_features.new_ones(len(last), has_features.size(1))])
        longer.batch = torch.cat([union.batch, torch.full_like(last, count)])
        return longer


def _replaced(features: Tensor, absent: Tensor, whole: Tensor, fill: str) -> Tensor:
    if not bool(absent.any()):
        return features
    other = whole.mean(dim=0) if fill == "mean" else torch.zeros_like(whole[0])
    if absent.size(1) > 1:
        return torch.where(absent[:, : features.size(1)], other, features)
    return torch.where(absent.view(-1, *[1] * (features.dim() - 1)), other, features)


def _labels(starts: tuple[int, ...], device: torch.device) -> Tensor:
    sizes = torch.tensor(starts, device=device).diff()
    return torch.arange(len(sizes), device=device).repeat_interleave(sizes)


def _device(data: HeteroData) -> torch.device:
    tensors = (value for store in data.stores for value in store.values() if isinstance(value, Tensor))
    return next((tensor.device for tensor in tensors), torch.device("cpu"))


def check_typed_graph(data: HeteroData) -> None:
    """Refuse types whose nodes cannot be counted."""
    for kind in data.node_types:
        _num_nodes(data, kind)


def _num_nodes(data: HeteroData, kind: str) -> int:
    stated, features = data[kind].get("num_nodes"), data[kind].get(_FEATURES)
    if stated is not None:
        checked_num_nodes(f"data[{kind!r}].num_nodes", stated, data[kind])
    if features is not None and not (isinstance(features, Tensor) and features.dim() > 0):
        what = "a single number" if isinstance(features, Tensor) else type(features).__name__
        raise ValueError(f"data[{kind!r}]: x must be a tensor with a row per node, got {what}")
    if isinstance(features, Tensor) and features.layout != torch.strided:
        raise ValueError(f"data[{kind!r}]: x must be a dense tensor; convert it with .to_dense()")
    count = data[kind].num_nodes
    if count is None:
        raise ValueError(f"data: nothing says how many nodes of type {kind!r} there are; set data[{kind!r}].num_nodes")
    if isinstance(features, Tensor) and len(features) != count:
        raise ValueError(f"data[{kind!r}]: x has {len(features)} rows for {count} nodes")
    return int(count)


def _edges(data: HeteroData, kind: EdgeType, counts: dict[str, int]) -> Tensor:
    place = f"data[{', '.join(map(repr, kind))}]"
    edge_index = data[kind].get("edge_index")
    if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or len(edge_index) != 2:
        raise ValueError(f"{place}: edge_index must be a tensor of whole numbers [2, e]; adj_t cannot be cut")
    for end, row in ((kind[0], edge_index[0]), (kind[2], edge_index[1])):
        if end not in counts:
            raise ValueError(f"{place}: there are no nodes of type {end!r}; set data[{end!r}].num_nodes")
        if row.numel() and (int(row.min()) < 0 or int(row.max()) >= counts[end]):
            raise ValueError(f"{place}: edge_index names nodes outside 0 … {counts[end] - 1} of type {end!r}")
    return edge_index.long()


def _rows(store: Any, count: int) -> dict[str, Tensor]:
    """What nodes or edges of one type have, a row each."""
    return {
        key: value
        for key, value in store.items()
        if key not in _NOT_INPUT and isinstance(value, Tensor) and value.dim() > 0 and len(value) == count
    }
