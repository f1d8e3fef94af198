"""Ground truth as motifs: a partition of nodes and edges, not only a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mage._core.checks import checked_array, shortened
from mage.datasets.columns import OUTSIDE, Indices

if TYPE_CHECKING:
    from torch_geometric.data import Data


def motif_numbers(
    node_start: Indices,
    edge_start: Indices,
    edge_index: NDArray[np.integer],
    inside: NDArray[np.bool_],
    nodes_inside: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Numbers of the motifs of nodes and of edges: connected components of the ground-truth edges of each graph.

    Args:
        node_start: First node of each graph, and the number of nodes at the end.
        edge_start: Likewise for edges.
        edge_index: Ends of the edges, numbered within their graph.
        inside: Which edges belong to the ground truth.
        nodes_inside: Which nodes belong to it besides the ends of those edges; each that stands alone is a motif.

    Returns:
        ``node_motif`` and ``edge_motif``; motifs of a graph are numbered from 0 by their smallest node.
    """
    num_graphs, num_nodes = len(node_start) - 1, int(node_start[-1])
    owner = np.repeat(np.arange(num_graphs), np.diff(node_start))
    edge_owner = np.repeat(np.arange(num_graphs), np.diff(edge_start))
    ends = edge_index[:, inside] + node_start[edge_owner[inside]]
    adjacency = coo_array((np.ones(ends.shape[1], np.int8), (ends[0], ends[1])), shape=(num_nodes, num_nodes))
    _, component = connected_components(adjacency, directed=False)
    touched = np.zeros(num_nodes, dtype=bool) if nodes_inside is None else nodes_inside.copy()
    touched[ends.ravel()] = True
    # The first touched node of each component, in order of nodes, numbers the motifs of its graph.
    firsts = np.unique(component[touched], return_index=True)[1]
    firsts = np.sort(np.flatnonzero(touched)[firsts])
    motif_owner = owner[firsts]
    number = np.arange(len(firsts)) - np.searchsorted(motif_owner, motif_owner)
    of_component = np.full(int(component.max(initial=0)) + 1, OUTSIDE, dtype=np.int32)
    of_component[component[firsts]] = number
    node_motif = np.where(touched, of_component[component], OUTSIDE).astype(np.int32)
    edge_motif = np.full(len(inside), OUTSIDE, dtype=np.int32)
    edge_motif[inside] = node_motif[ends[0]]
    return node_motif, edge_motif


def motifs_of(data: Data) -> tuple[tuple[int, ...], ...]:
    """The nodes of each ground-truth motif that a graph's ``node_motif`` numbers."""
    if getattr(data, "node_motif", None) is None:
        raise TypeError(f"data must be a graph with node_motif, got {shortened(data)}")
    numbers = checked_array("data.node_motif", data.node_motif, "a number for each node")
    return tuple(tuple(np.flatnonzero(numbers == i).tolist()) for i in range(int(numbers.max(initial=OUTSIDE)) + 1))
