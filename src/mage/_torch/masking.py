"""What becomes of a graph when some nodes are absent: many coalitions as one disjoint union."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from mage._core.checks import did_you_mean
from mage._torch.graph_input import GraphInput


class MaskedBatch(NamedTuple):
    """A disjoint union of masked copies of a graph, and where each node of each copy went.

    ``place[g, v]`` is the row of node v of copy g; meaningless where that node was removed.
    """

    data: Data
    place: Tensor


MaskingFunction = Callable[[GraphInput, Tensor], MaskedBatch]


def union_of_copies(graph: GraphInput, count: int, nodes: dict[str, Tensor], edge: Tensor, batch: Tensor) -> Data:
    """Assemble all but the edges' ends; ``edge`` lists the edge of the original that each edge of the union is."""
    union = Batch(
        **graph.copies(count),
        **nodes,
        **{key: value[edge] for key, value in graph.edge.items()},
        batch=batch,
        ptr=torch.searchsorted(batch, torch.arange(count + 1, device=batch.device)),
        num_nodes=len(batch),
    )
    union._num_graphs = count  # what Batch.from_data_list would have noted
    return union


def note_parts(data: Any, graph: GraphInput, count: int) -> None:
    """Note where each copy is in a union, for models that take it apart with ``to_data_list`` or ``get_example``."""
    ptr = data.ptr.cpu()
    ends = torch.bincount(data.batch[data.edge_index[0]], minlength=count).cumsum(0).cpu()
    edges, rows = torch.cat([ends.new_zeros(1), ends]), torch.arange(count + 1)
    slices = {"edge_index": edges} | dict.fromkeys(graph.node, ptr) | dict.fromkeys(graph.edge, edges)
    slices |= {
        key: rows for key, value in graph.copies(1).items() if isinstance(value, Tensor) and len(data[key]) == count
    }
    data._slice_dict = slices
    data._inc_dict = {key: ptr[:-1] if key == "edge_index" else torch.zeros(count) for key in slices}
    data._store._num_nodes = ptr.diff().tolist()


def add_structures(data: Data, graph: GraphInput, masks: Tensor, place: Tensor) -> None:
    """Give a union of copies what the graph has besides its edges, as far as these nodes are there."""
    for name, structure in graph.structures.items():
        for key, value in structure.masked(masks, place, len(data.batch)).items():
            data[key or name] = value


def _kept_edges(graph: GraphInput, masks: Tensor) -> tuple[Tensor, Tensor]:
    source, target = graph.edge_index
    copy, edge = torch.nonzero(masks[:, source] & masks[:, target], as_tuple=True)
    return copy, edge


def remove(graph: GraphInput, masks: Tensor) -> MaskedBatch:
    """Absent nodes are gone, with all their edges: the induced subgraph."""
    copy_of_node, node = torch.nonzero(masks, as_tuple=True)
    place = torch.cumsum(masks.flatten(), dim=0).view_as(masks) - 1
    copy, edge = _kept_edges(graph, masks)
    data = union_of_copies(
        graph, len(masks), {key: value[node] for key, value in graph.node.items()}, edge, copy_of_node
    )
    data.edge_index = place[copy, graph.edge_index[:, edge]]
    add_structures(data, graph, masks, place)
    return MaskedBatch(data, place)


def split(graph: GraphInput, masks: Tensor) -> MaskedBatch:
    """Absent nodes stay, with their features, but lose all edges (the paper's choice on structural data)."""
    copy, edge = _kept_edges(graph, masks)
    return with_all_nodes(graph, masks, graph.node, copy, edge)


def zero(graph: GraphInput, masks: Tensor) -> MaskedBatch:
    """Absent nodes have features of zero; all edges stay (the paper's choice on text and images)."""
    return _with_features(graph, masks, torch.zeros_like(_features(graph, "zero")))


def mean(graph: GraphInput, masks: Tensor) -> MaskedBatch:
    """Absent nodes have the mean features of the graph; all edges stay."""
    features = _features(graph, "mean")
    return _with_features(graph, masks, features.mean(dim=0, keepdim=True).expand_as(features))


def _features(graph: GraphInput, name: str) -> Tensor:
    features = graph.node.get("x")
    if features is None or not features.is_floating_point():
        kind = "missing" if features is None else str(features.dtype)
        raise ValueError(f"masking={name!r} replaces features, but data.x is {kind}; use masking='remove' or 'split'")
    return features


def _with_features(graph: GraphInput, masks: Tensor, absent: Tensor) -> MaskedBatch:
    presence = masks.view(*masks.shape, *[1] * (absent.dim() - 1))
    return with_features_of_copies(graph, torch.where(presence, graph.node["x"], absent))


def with_features_of_copies(graph: GraphInput, features: Tensor) -> MaskedBatch:
    """Copies of the whole graph, each with node features of its own [q, n, …]."""
    count, edges = len(features), graph.edge_index.size(1)
    copy = torch.arange(count, device=features.device).repeat_interleave(edges)
    edge = torch.arange(edges, device=features.device).repeat(count)
    all_nodes = torch.ones(features.shape[:2], dtype=torch.bool, device=features.device)
    return with_all_nodes(graph, all_nodes, {**graph.node, "x": features}, copy, edge)


def with_all_nodes(
    graph: GraphInput, masks: Tensor, node: dict[str, Tensor], copy: Tensor, edge: Tensor
) -> MaskedBatch:
    """Copies of the graph, one per mask, with all nodes and some of the edges.

    Args:
        graph: The graph.
        masks: Nodes [q, n] that keep what they have besides edges, such as hyperedges.
        node: What the nodes have: the same in all copies, or with one more dimension for the copies.
        copy: For each edge that stays, the number of its copy.
        edge: Its column of ``edge_index``.
    """
    count, size = masks.shape
    rows = {}
    for key, value in node.items():
        # Values that differ between copies come with a dimension more.
        differs = value.dim() > graph.node[key].dim()
        rows[key] = value.flatten(0, 1) if differs else value.repeat(count, *[1] * (value.dim() - 1))
    batch = torch.arange(count, device=masks.device).repeat_interleave(size)
    data = union_of_copies(graph, count, rows, edge, batch)
    data.edge_index = graph.edge_index[:, edge] + copy * size
    place = torch.arange(count * size, device=masks.device).view(count, size)
    add_structures(data, graph, masks, place)
    return MaskedBatch(data, place)


# By name. A new masking is a function and an entry here.
MASKINGS: dict[str, MaskingFunction] = {"remove": remove, "split": split, "zero": zero, "mean": mean}
# Sharing of node states and graphs with types rely on what these do. With any other masking every coalition is
# evaluated as it is, and graphs with types refuse it.
CUTTING_EDGES: frozenset[MaskingFunction] = frozenset({remove, split})
REPLACING_FEATURES: frozenset[MaskingFunction] = frozenset({zero, mean})


def masking_named(masking: Any) -> MaskingFunction:
    """One of the maskings by name, or the user's own function."""
    if callable(masking):
        function: MaskingFunction = masking
        return function
    if masking not in MASKINGS:
        hint = did_you_mean(masking, MASKINGS)
        raise ValueError(f"masking must be one of {', '.join(MASKINGS)} or a function; got {masking!r}{hint}")
    return MASKINGS[masking]
