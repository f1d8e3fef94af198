"""Graphs, nodes and links of PyG's input as graphs that can be explained one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from mage._torch.graph_input import GraphInput
from mage.pyg.call import GRAPH_OF_NODE, PyGCall
from mage.pyg.explanation import MAGEExplanation
from mage.pyg.merging import ExplainedPart, edge_masks, feature_masks, node_masks, signed_data
from mage.pyg.rows import level_of

_NOT_DATA = ("batch", "edge_label_index", "ptr", "num_nodes", "batch_size", "num_graphs", "size")


@dataclass(frozen=True)
class InputPart:
    """What one output is explained from.

    Attributes:
        data: The graph.
        nodes: Its nodes in the user's graph.
        call: How the model is called on masked copies of it.
        node: The explained node of the part, if one is.
        edge: The explained link of the part, if one is.
    """

    data: Data | HeteroData
    nodes: Tensor
    call: Callable[[Any, Any], Any]
    node: int | tuple[str, int] | None = None
    edge: tuple[Any, Any] | None = None

    @property
    def place(self) -> dict[str, Any]:
        """Node and link as fields of a request."""
        return {"node": self.node, "edge": self.edge}


class PyGInput:
    """Features, edges and further arguments as PyG's ``Explainer`` hands them on.

    Args:
        x: Node features.
        edge_index: Edges.
        extras: Further arguments of the model, by name.

    Attributes:
        batched: Whether the model gets the graph number of each node.
    """

    def __init__(self, x: Tensor, edge_index: Tensor, extras: Mapping[str, Any]) -> None:
        self.x, self.edge_index, self.extras, self.batched = x, edge_index, extras, False
        batch = _checked_batch(extras.get("batch"), len(x))
        several = isinstance(batch, Tensor) and batch.numel() > 0 and int(batch.max()) > 0
        self.batch: Tensor | None = batch if several else None
        GraphInput.of(self._data())  # what is wrong with the graph is said before the model fails on it

    @property
    def num_graphs(self) -> int:
        """Graphs in the user's batch."""
        return 1 if self.batch is None else int(self.batch.max()) + 1

    @property
    def links(self) -> Tensor | None:
        """Pairs of nodes [2, l] whose links are predicted."""
        pairs = self.extras.get("edge_label_index")
        return pairs if isinstance(pairs, Tensor) and pairs.dim() == 2 and len(pairs) == 2 else None

    def level(self, model: Any, declared: str, prediction: Tensor, select: Any = None) -> str:
        """What the rows of the output are: what PyG's configuration says, else what there are as many of."""
        del model, select
        links = 0 if self.links is None else self.links.size(1)
        return level_of(declared, len(prediction), {"graph": self.num_graphs, "node": len(self.x), "edge": links})

    def converted(self, parts: Sequence[ExplainedPart], nodes: str | None, edges: bool) -> MAGEExplanation:
        """The explanation in PyG's form.

        Args:
            parts: The explained outputs.
            nodes: Kind of the node mask.
            edges: Whether there is an edge mask.
        """
        masks, count = {}, len(self.x)
        if nodes is not None:
            masks["node"] = node_masks(parts, count) if nodes == "object" else feature_masks(parts, count)[None]
        if edges:
            masks["edge"] = edge_masks(parts, self.edge_index, count)
        tensors = {f"{name}_mask": mask for name, (mask, _) in masks.items()}
        tensors |= {f"{name}_score": score for name, (_, score) in masks.items()}
        return MAGEExplanation(
            **tensors,
            **signed_data(parts),
            node_id=torch.arange(count, device=self.x.device),
            original_num_nodes=count,
        )

    def part(self, level: str, row: int, num_rows: int) -> InputPart:
        """What one row of the output is explained from.

        Args:
            level: What the rows belong to.
            row: Number of the row.
            num_rows: Rows of the output.
        """
        if level == "graph" and self.batch is not None and num_rows > 1:
            return self._one_of_several(self.batch, row)
        data = self._data()
        nodes = torch.arange(len(self.x), device=self.x.device)
        call = PyGCall(self.extras, self.batched, self.num_graphs, per_graph=self._per_graph(GraphInput.of(data)))
        if level == "node":
            return InputPart(data, nodes, call, node=row)
        if level == "edge" and self.links is not None:
            source, target = self.links[:, row].tolist()
            return InputPart(data, nodes, call, edge=(source, target))
        return InputPart(data, nodes, call)

    def _data(self) -> Data:
        extras = {key: value for key, value in self.extras.items() if key not in _NOT_DATA}
        if self.batch is not None:
            extras[GRAPH_OF_NODE] = self.batch
        return Data(x=self.x, edge_index=self.edge_index, num_nodes=len(self.x), **extras)

    def _per_graph(self, graph: GraphInput) -> set[str]:
        """Names of arguments with a row for each graph of the batch."""
        tensors = {key: value for key, value in graph.graph.items() if isinstance(value, Tensor) and value.dim() > 0}
        return {key for key, value in tensors.items() if len(value) == self.num_graphs > 1}

    def _one_of_several(self, batch: Tensor, row: int) -> InputPart:
        """One graph of a batch, with all nodes that edges join to it."""
        nodes = _joined_to(batch == row, self.edge_index)
        graphs, numbers = torch.unique(batch[nodes], return_inverse=True)
        if row not in graphs.tolist():
            raise ValueError(f"index: graph {row} of the batch has no nodes")
        graph = GraphInput.of(self._data()).restricted_to(nodes)
        if graph.structures:
            raise ValueError(
                f"batch: {next(iter(graph.structures))} cannot be divided among the graphs of a batch; explain "
                "them one by one"
            )
        per_graph = self._per_graph(graph)
        rows = {key: value[graphs] if key in per_graph else value for key, value in graph.graph.items()}
        graph.node.pop(GRAPH_OF_NODE, None)
        data = Data(edge_index=graph.edge_index, num_nodes=len(nodes), **graph.node, **graph.edge, **rows)
        extras = {**self.extras, **{key: value for key, value in rows.items() if key in self.extras}}
        if len(graphs) == 1:
            return InputPart(data, nodes, PyGCall(extras, self.batched))
        data[GRAPH_OF_NODE] = numbers
        place = int(torch.nonzero(graphs == row))
        return InputPart(data, nodes, PyGCall(extras, self.batched, len(graphs), place, per_graph, data))


def _checked_batch(batch: Any, num_nodes: int) -> Tensor | None:
    """The graph of each node; None where there is one graph."""
    if batch is None:
        return None
    if not isinstance(batch, Tensor) or batch.dtype != torch.long or batch.shape != (num_nodes,):
        what = f"{batch.dtype} {list(batch.shape)}" if isinstance(batch, Tensor) else type(batch).__name__
        raise ValueError(f"batch must be an int64 tensor with the graph of each of {num_nodes} nodes, got {what}")
    if batch.numel() and int(batch.min()) < 0:
        raise ValueError(f"batch must number graphs from 0 on, got {int(batch.min())}")
    return batch


def _joined_to(nodes: Tensor, edge_index: Tensor) -> Tensor:
    """Some nodes [n] and all that edges join to them, however far."""
    reached = nodes.clone()
    while True:
        touched = reached[edge_index].any(dim=0)
        larger = reached.clone()
        larger[edge_index[:, touched].flatten()] = True
        if torch.equal(larger, reached):
            return torch.nonzero(reached).flatten()
        reached = larger
