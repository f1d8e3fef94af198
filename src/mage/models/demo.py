"""A small graph network that tells houses from grids, with its weights, and a graph that tempts it to err.

The setting is Figure 3c of the paper (Bui et al., *Explaining Graph Neural Networks via Structure-aware Interaction
Index*, ICML 2024): a GIN trained on BA-HouseGrid looks at a graph with a grid, and somebody added a five-cycle. The
grid speaks for the prediction; the five-cycle, which resembles a house, speaks against it.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import IO

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_mean_pool

from mage.datasets._shapes import FIVE_CYCLE, GRID, Edges

HOUSE_LABEL = 0
GRID_LABEL = 1

_WEIGHTS = "demo_house_grid.npz"
_BASE_SIZE = 10  # keeps the connected coalitions of `demo_graph` few enough for exact indices in seconds


class DemoGIN(torch.nn.Module):
    """Three GIN convolutions on constant features, mean pooling and a linear head: house (0) or 3 × 3 grid (1).

    Args:
        width: Size of all hidden layers.
    """

    def __init__(self, width: int = 20) -> None:
        super().__init__()
        self.convolutions = torch.nn.ModuleList(
            GINConv(
                torch.nn.Sequential(
                    torch.nn.Linear(inputs, width),
                    torch.nn.BatchNorm1d(width),
                    torch.nn.ReLU(),
                    torch.nn.Linear(width, width),
                ),
                train_eps=True,
            )
            for inputs in (1, width, width)
        )
        self.head = torch.nn.Linear(width, 2)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor | None = None) -> torch.Tensor:
        """Logits [number of graphs, 2]."""
        for convolution in self.convolutions:
            x = convolution(x, edge_index).relu()
        logits: torch.Tensor = self.head(global_mean_pool(x, batch))
        return logits


def load_demo_model() -> DemoGIN:
    """The demo network with the weights that ship with the library, in evaluation mode."""
    with resources.files("mage.models").joinpath(_WEIGHTS).open("rb") as file:
        return read_weights(file)


def read_weights(file: IO[bytes] | Path) -> DemoGIN:
    """A demo network with weights that :mod:`mage.models.train_demo` wrote, in evaluation mode."""
    with np.load(file, allow_pickle=False) as arrays:
        weights = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    # Initial weights are drawn and thrown away; the caller's random numbers stay as they were.
    with torch.random.fork_rng(devices=[]):
        model = DemoGIN()
    model.load_state_dict(weights)
    return model.eval()


def demo_graph(seed: int = 0) -> Data:
    """A grid graph with an injected five-cycle: both hang by one edge each from a Barabási-Albert tree.

    Args:
        seed: Chooses the tree and where the grid and the cycle are attached.

    Returns:
        ``x``, ``edge_index`` and ``y`` (grid), with ``names`` (one a node), ``grid_nodes`` and ``cycle_nodes`` (the
        numbers of the nodes of the two motifs).
    """
    generator = np.random.default_rng(seed)
    edges = barabasi_albert_tree(_BASE_SIZE, generator)
    first_of_grid, first_of_cycle, size = _BASE_SIZE, _BASE_SIZE + 9, _BASE_SIZE + 14
    edges += attached(GRID, 9, first_of_grid, _BASE_SIZE, generator)
    edges += attached(FIVE_CYCLE, 5, first_of_cycle, _BASE_SIZE, generator)
    data = graph_data(size, edges, GRID_LABEL)
    data.names = (
        *(f"tree {i}" for i in range(_BASE_SIZE)),
        *(f"grid {i}" for i in range(9)),
        *(f"cycle {i}" for i in range(5)),
    )
    data.grid_nodes = torch.arange(first_of_grid, first_of_cycle)
    data.cycle_nodes = torch.arange(first_of_cycle, size)
    return data


def barabasi_albert_tree(num_nodes: int, generator: np.random.Generator) -> list[tuple[int, int]]:
    """Edges of a tree in which each new node joins an old one with probability proportional to its degree."""
    edges = [(0, 1)]
    ends = [0, 1]
    for node in range(2, num_nodes):
        # A uniform draw among the ends of edges meets each node as often as its degree.
        old = ends[generator.integers(len(ends))]
        edges.append((old, node))
        ends += [old, node]
    return edges


def attached(
    motif: Edges, motif_size: int, first: int, base_size: int, generator: np.random.Generator
) -> list[tuple[int, int]]:
    """Edges of a motif whose nodes are numbered from ``first``, and of one random bridge from the base to it."""
    bridge = (int(generator.integers(base_size)), first + int(generator.integers(motif_size)))
    return [*((first + i, first + j) for i, j in motif), bridge]


def graph_data(num_nodes: int, edges: Edges, label: int) -> Data:
    """The graph as the demo network reads it: a constant feature, each edge in both directions."""
    forward = torch.tensor(edges).T
    return Data(
        x=torch.ones(num_nodes, 1), edge_index=torch.cat([forward, forward.flip(0)], dim=1), y=torch.tensor([label])
    )
