"""From scores of edges or nodes to at most M nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mage._core.typing import Floats

if TYPE_CHECKING:
    from mage.datasets.dataset import GraphDataset


def nodes_of_best_edges(edge_index: NDArray[np.integer], scores: Floats, max_nodes: int) -> list[int]:
    """The nodes of the best edges, as many as the budget holds.

    Edges are taken by falling score, of equal ones the earlier first; loops and edges that score 0 are left out.
    An edge whose new nodes do not fit any more is passed over, so there are never more than ``max_nodes``. (The paper's
    released pipeline takes such an edge when one place is left, and may end with M + 1 nodes.)
    """
    nodes: dict[int, None] = {}
    for column in np.argsort(-scores, kind="stable"):
        first, second = (int(node) for node in edge_index[:, column])
        if first == second or scores[column] == 0:
            continue
        new = [node for node in (first, second) if node not in nodes]
        if len(nodes) + len(new) <= max_nodes:
            nodes.update(dict.fromkeys(new))
    return sorted(nodes)


def best_nodes(scores: Floats, max_nodes: int) -> list[int]:
    """The nodes with the highest scores, of equal ones the earlier first; nodes that score exactly 0 are left out."""
    order = np.argsort(-scores, kind="stable")[:max_nodes]
    return sorted(int(node) for node in order if scores[node] != 0)


def dataset_class() -> type[GraphDataset]:
    """The class of datasets, imported when it is needed: it needs PyTorch."""
    from mage.datasets.dataset import GraphDataset

    return GraphDataset
