"""BA-Shapes: one graph whose nodes say where in a house they sit."""

from __future__ import annotations

import random

import numpy as np
import torch

from mage.datasets._truth import motif_numbers
from mage.datasets.dataset import Columns

_BASE_NODES, _EDGES_EACH, _HOUSES, _FEATURES = 300, 5, 80, 10


def shapes(seed: int) -> Columns:
    """A Barabási-Albert graph of 300 nodes with 80 houses; ``y`` is the part of the house that a node is, or 0.

    Reference: Ying et al., "GNNExplainer", NeurIPS 2019. The graph comes from PyG's generators, which draw from global
    random numbers; these are put back.
    """
    # Here and not above: PyG's datasets take seconds to import, and nothing else needs them.
    from torch_geometric.datasets import ExplainerDataset
    from torch_geometric.datasets.graph_generator import BAGraph

    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002 (what PyG draws from)
    try:
        with torch.random.fork_rng(devices=[]):
            np.random.seed(seed)  # noqa: NPY002 (likewise)
            random.seed(seed)
            torch.manual_seed(seed)
            made = ExplainerDataset(BAGraph(_BASE_NODES, _EDGES_EACH), "house", num_motifs=_HOUSES)[0]
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002 (likewise)
        random.setstate(python_state)
    num_nodes, num_edges = made.num_nodes, made.num_edges
    node_start, edge_start = np.array([0, num_nodes]), np.array([0, num_edges])
    edge_index = made.edge_index.numpy()
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, made.edge_mask.numpy() > 0)
    return Columns(
        node_start,
        edge_start,
        made.edge_index,
        {
            "x": torch.ones(num_nodes, _FEATURES),
            "y": made.y,
            "node_motif": torch.from_numpy(node_motif),
        },
        {"edge_motif": torch.from_numpy(edge_motif)},
        {},
    )
