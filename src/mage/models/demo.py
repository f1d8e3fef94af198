"""A small graph network that tells houses from grids, with its weights, and a graph that tempts it to err.

The setting is Figure 3c of the paper (Bui et al., *Explaining Graph Neural Networks via Structure-aware Interaction
Index*, ICML 2024): a GIN trained on BA-HouseGrid looks at a graph with a grid, and somebody added a five-cycle. The
grid is for the prediction; the five-cycle, which resembles a house, is against it.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import IO

import numpy as np
import torch
from torch_geometric.data import Data

from mage._core.checks import checked_seed
from mage._torch.randomness import OwnRandomNumbers
from mage.datasets.shapes import FIVE_CYCLE, GRID, Sketch
from mage.models.networks import GIN

HOUSE_LABEL = 0
GRID_LABEL = 1

_WEIGHTS = "demo_house_grid.npz"
_BASE_SIZE = 10  # keeps the connected coalitions of `demo_graph` few enough for exact indices in seconds


class DemoGIN(GIN):
    """Three GIN convolutions on constant features, mean pooling and a linear head: house (0) or 3 × 3 grid (1).

    Args:
        width: Size of all hidden layers.
    """

    rectified = True

    def __init__(self, width: int = 20) -> None:
        super().__init__(num_features=1, num_classes=2, width=width)


def load_demo_model() -> DemoGIN:
    """The demo network with the weights that ship with the library, in evaluation mode."""
    with resources.files("mage.models").joinpath(_WEIGHTS).open("rb") as file:
        return read_weights(file)


def read_weights(file: IO[bytes] | Path) -> DemoGIN:
    """A demo network with weights that :mod:`mage.models.demo_training` wrote, in evaluation mode."""
    with np.load(file, allow_pickle=False) as arrays:
        weights = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    # Initial weights are drawn and thrown away; the caller's random numbers stay as they were.
    with OwnRandomNumbers(0):
        model = DemoGIN()
    model.load_state_dict(weights)
    return model.eval()


def demo_graph(seed: int = 0) -> Data:
    """A grid graph with an injected five-cycle: both hang by one edge each from a Barabási-Albert tree.

    Args:
        seed: Chooses the tree and where the grid and the cycle are attached.

    Returns:
        ``x``, ``edge_index`` and ``y`` (grid), with ``names`` (one per node), ``grid_nodes`` and ``cycle_nodes`` (the
        numbers of the nodes of the two motifs).
    """
    generator = np.random.default_rng(checked_seed("seed", seed))
    sketch = tree_sketch(_BASE_SIZE, generator).attach_anywhere(GRID, generator)
    first_of_cycle = sketch.size
    sketch.attach_anywhere(FIVE_CYCLE, generator)
    data = demo_data(sketch, GRID_LABEL)
    data.names = (
        *(f"tree {i}" for i in range(_BASE_SIZE)),
        *(f"grid {i}" for i in range(first_of_cycle - _BASE_SIZE)),
        *(f"cycle {i}" for i in range(sketch.size - first_of_cycle)),
    )
    data.grid_nodes = torch.arange(_BASE_SIZE, first_of_cycle)
    data.cycle_nodes = torch.arange(first_of_cycle, sketch.size)
    return data


def tree_sketch(num_nodes: int, generator: np.random.Generator) -> Sketch:
    """A tree in which each new node joins an old one with probability proportional to its degree."""
    edges = [(0, 1)]
    ends = [0, 1]
    for node in range(2, num_nodes):
        # A uniform draw among the ends of edges meets each node as often as its degree.
        old = ends[generator.integers(len(ends))]
        edges.append((old, node))
        ends += [old, node]
    return Sketch(num_nodes, edges)


def demo_data(sketch: Sketch, label: int) -> Data:
    """The graph as the demo network reads it: a constant feature, each edge in both directions."""
    forward = torch.tensor(sketch.edges).T
    edge_index = torch.cat([forward, forward.flip(0)], dim=1)
    return Data(x=torch.ones(sketch.size, 1), edge_index=edge_index, y=torch.tensor([label]))
