"""Calls of a model the way PyG's ``Explainer`` makes them, on many masked copies of a graph at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._torch.evaluation import agree, evaluating, resolution_of
from mage._torch.signatures import parameters_of, unwrapped

GRAPH_OF_NODE = "graph_of_node"
"""Name of the tensor that says which graph of the user's batch a node belongs to."""

COUNTS = ("batch_size", "num_graphs", "size")
"""Names of the argument that gives the number of graphs to a model."""

_ROUNDINGS = 1000  # how often an output may be rounded where a batch is named instead of left out


class PyGCall:
    """Calls a model with features and edges, then everything else by name; those that a graph has, from the graph.

    Args:
        extras: Other arguments by name, as the user gave them.
        batched: Whether the model gets the graph number of each node.
        num_graphs: Graphs that the user's batch has in each copy; their rows follow each other in the output.
        row: Which of these rows is explained; None where the output has rows of nodes or links.
        per_graph: Names of arguments with a row per graph, where there are several.
        whole: The unmasked input with ``num_graphs`` graphs. It is put behind the copies, so that graphs at the end
            have a row when all their nodes are gone.
    """

    def __init__(
        self,
        extras: Mapping[str, Any],
        batched: bool = False,
        num_graphs: int = 1,
        row: int | None = None,
        per_graph: Collection[str] = (),
        whole: Data | None = None,
    ) -> None:
        self.extras = extras
        self.batched = batched
        self.num_graphs = num_graphs
        self.row = row
        self.per_graph = per_graph
        self.whole = whole

    def __call__(self, model: Any, data: Data) -> Any:
        """The output for one graph, or for a batch of graphs."""
        copies = _count(data)
        if self.whole is not None:
            data = _joined(data, self.whole)
        keywords = {key: self._argument(key, value, data) for key, value in self.extras.items()}
        if self.batched:
            keywords["batch"] = self._batch(data)
        out = unwrapped(model)(data.x, data.edge_index, **keywords)
        if self.row is None:
            return out
        rows = out.reshape(-1, self.num_graphs, *out.shape[1:])
        return rows[:copies, self.row]

    def _argument(self, key: str, value: Any, data: Data) -> Any:
        if value is None or key == "batch":
            return None if value is None else self._batch(data)
        if key == "num_nodes" or (key == "ptr" and self.num_graphs == 1):
            return data[key]
        count = _count(data) + (self.whole is not None)
        if key in COUNTS and isinstance(value, int):
            return count * self.num_graphs
        if key in self.per_graph:
            return value.repeat(count, *[1] * (value.dim() - 1))
        return data.get(key, value)

    def _batch(self, data: Data) -> Tensor:
        if self.num_graphs == 1:
            copies: Tensor = data.batch
            return copies
        numbers: Tensor = data.batch * self.num_graphs + data[GRAPH_OF_NODE]
        return numbers


def takes_batch(model: Any, x: Any, edge_index: Any, extras: Mapping[str, Any]) -> bool:
    """Whether a model that was called without a batch can be told one, and says the same then.

    Args:
        model: The model.
        x: Features, or features by type.
        edge_index: Edges, or edges by type.
        extras: The other arguments by name.
    """
    name = "batch_dict" if isinstance(x, Mapping) else "batch"
    if extras.get(name) is not None:
        return True
    try:
        names = [parameter.name for parameter in parameters_of(unwrapped(model))]
    except ValueError:
        return False
    if name not in names:
        return False
    one = {kind: _one_graph(table) for kind, table in x.items()} if isinstance(x, Mapping) else _one_graph(x)
    with evaluating(model):
        alone = model(x, edge_index, **extras)
        try:
            with_batch = model(x, edge_index, **{**extras, name: one})
        except Exception:  # whatever a model does with a batch that it was not given
            return False
    if not isinstance(alone, Tensor) or not isinstance(with_batch, Tensor) or alone.shape != with_batch.shape:
        return False
    return agree(with_batch, alone, _ROUNDINGS * resolution_of(alone))


def _one_graph(features: Tensor) -> Tensor:
    return torch.zeros(len(features), dtype=torch.long, device=features.device)


def _count(data: Data) -> int:
    """Copies in a union."""
    return int(getattr(data, "_num_graphs", 1))


def _joined(data: Data, whole: Data) -> Data:
    """A union of copies with the unmasked graph behind it."""
    both = Data(
        x=torch.cat([data.x, whole.x]),
        edge_index=torch.cat([data.edge_index, whole.edge_index + data.num_nodes], dim=1),
        batch=torch.cat([data.batch, torch.full((whole.num_nodes,), _count(data), device=data.batch.device)]),
        num_nodes=data.num_nodes + whole.num_nodes,
    )
    both._num_graphs = _count(data)
    for key, value in whole.items():
        if key not in both and key in data:
            rows = whole.is_node_attr(key) or whole.is_edge_attr(key)
            both[key] = torch.cat([data[key], value]) if rows else data[key]
    return both
