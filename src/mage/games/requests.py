"""What is asked of a model's game: targets that exist, one device, and what a masked copy costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._torch.graph_input import GraphInput
from mage.games.grouping import checked_nodes


def checked_targets(node: int | None, edge: Sequence[int] | None, num_nodes: int) -> list[int] | None:
    """The nodes whose output is explained; None for the whole graph."""
    if node is not None and edge is not None:
        raise ValueError("node and edge: give one of the two")
    if node is None and edge is None:
        return None
    if edge is None:
        return checked_nodes("node", [node], num_nodes)
    ends = checked_nodes("edge", edge, num_nodes)
    if len(ends) != 2:
        raise ValueError(f"edge must be a pair of nodes, got {edge!r}")
    return ends


def check_device(model: Any, data: Any) -> None:
    """Refuse a model and a graph on different devices."""
    tensors: list[Tensor] = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    tensors += [value for _, value in data if isinstance(value, Tensor)] if isinstance(data, Data) else []
    places = {tensor.device for tensor in tensors}
    if len(places) > 1:
        where = ", ".join(sorted(map(str, places)))
        raise ValueError(f"data and model are on different devices ({where}); move one with .to(device)")


def bytes_per_copy(model: Any, graph: GraphInput) -> int:
    """Roughly what one masked copy takes inside the model: a few float rows of its widest layer per node and edge."""
    return 16 * widest_layer(model) * (graph.num_nodes + graph.edge_index.size(1)) + 1024


def widest_layer(model: Any) -> int:
    """Width of the widest layer; a guess where there is none to see."""
    matrices = [p for p in model.parameters() if p.dim() == 2] if isinstance(model, torch.nn.Module) else []
    return min(max((max(matrix.shape) for matrix in matrices), default=64), 4096)
