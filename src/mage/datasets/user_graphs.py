"""The user's own graphs as the content of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch_geometric.data import Data

from mage._core.checks import checked_list, shortened
from mage._core.ragged import pointers
from mage.datasets.columns import OUTSIDE, Columns
from mage.datasets.dataset_info import Content, DataRoot


def refuse_loading(_root: DataRoot) -> Content:
    """The ``build`` of a dataset of the user's graphs: an error, since only the user has them."""
    raise ValueError("name: these graphs were given to GraphDataset.from_graphs; they are not loaded by name")


def checked_graphs(graphs: Any) -> list[Data]:
    """A list of graphs, or an error that says what it must be."""
    listed = checked_list("graphs", graphs, "a list of graphs")
    for graph in listed:
        if not hasattr(graph, "edge_index") or not hasattr(graph, "get") or hasattr(graph, "node_types"):
            raise TypeError(f"graphs must be torch_geometric.data.Data graphs, got {shortened(graph)}")
    return listed


def columns_of_graphs(graphs: Sequence[Data]) -> Columns:
    """Graphs as columns, checked; nodes and edges without ground truth count as outside of all motifs."""
    if not graphs:
        raise ValueError("graphs must hold at least one graph")
    for position, graph in enumerate(graphs):
        missing = [name for name in ("x", "edge_index", "y") if graph.get(name) is None]
        if missing:
            raise ValueError(f"graphs: graph {position} has no {missing[0]}")
    y = torch.cat([torch.as_tensor(graph.y).reshape(-1)[:1] for graph in graphs])
    if y.is_floating_point() and bool((y != y.round()).any()):
        raise ValueError("graphs: y must be a class, a whole number; regression sets are explained graph by graph")
    node_motifs = [_node_motif(graph) for graph in graphs]
    edge_motifs = [_edge_motif(graph, motif) for graph, motif in zip(graphs, node_motifs, strict=True)]
    edges = {"edge_motif": torch.cat(edge_motifs)}
    if all(graph.get("edge_attr") is not None for graph in graphs):
        edges["edge_attr"] = torch.cat([graph.edge_attr for graph in graphs])
    return Columns(
        pointers([int(graph.num_nodes) for graph in graphs]),
        pointers([graph.edge_index.shape[1] for graph in graphs]),
        torch.cat([graph.edge_index for graph in graphs], dim=1),
        {"x": torch.cat([graph.x for graph in graphs]), "node_motif": torch.cat(node_motifs)},
        edges,
        {"y": y.long()},
    )


def _node_motif(graph: Data) -> torch.Tensor:
    motif: torch.Tensor | None = graph.get("node_motif")
    return torch.full((int(graph.num_nodes),), OUTSIDE) if motif is None else motif


def _edge_motif(graph: Data, node_motif: torch.Tensor) -> torch.Tensor:
    """The motif of each edge: as given, or the one that both of its ends belong to."""
    motif: torch.Tensor | None = graph.get("edge_motif")
    if motif is not None:
        return motif
    first, second = node_motif[graph.edge_index[0]], node_motif[graph.edge_index[1]]
    return torch.where(first == second, first, torch.full_like(first, OUTSIDE))
