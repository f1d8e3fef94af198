"""Motif problems whose interactions are the real index of a fixed-weight GNN on graphs like the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import networkx as nx
import numpy as np
import torch
from graphs import HOUSE
from torch_geometric.nn import GCNConv, GINConv, global_mean_pool

from mage import Game, Interactions, interactions

GRID = tuple(nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3)).edges())
Edges = list[tuple[int, int]]


class Row(NamedTuple):
    """One line of the benchmark's table: graphs of one kind, with the paper's budgets for them."""

    name: str
    max_nodes: int
    num_motifs: int
    graph: Callable[[int], tuple[int, Edges]]
    superpixels: bool = False
    order: int = 2


def _attached(base: nx.Graph, motifs: list[tuple[tuple[tuple[int, int], ...], int]], seed: int) -> tuple[int, Edges]:
    rng = np.random.default_rng(seed)
    edges, size = list(base.edges()), len(base)
    for motif, count in motifs:
        edges += [(size + i, size + j) for i, j in motif]
        edges.append((int(rng.integers(len(base))), size))
        size += count
    return size, edges


def _superpixels(seed: int) -> tuple[int, Edges]:
    """75 points in the unit square; the shortest 295 distances are edges."""
    points = np.random.default_rng(seed).random((75, 2))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    rows, columns = np.triu_indices(75, 1)
    nearest = np.argsort(distance[rows, columns], kind="stable")[:295]
    return 75, list(zip(rows[nearest].tolist(), columns[nearest].tolist(), strict=True))


def _intensities(seed: int) -> torch.Tensor:
    """Features of MNIST75SP's kind: brightness three times, then the position; a bright vertical stroke."""
    points = np.random.default_rng(seed).random((75, 2))
    bright = np.exp(-((points[:, 0] - 0.5) ** 2) / 0.02) * (np.abs(points[:, 1] - 0.5) < 0.35)
    return torch.tensor(np.column_stack([bright, bright, bright, points]), dtype=torch.float32)


def _tree(base: int) -> Callable[[int], nx.Graph]:
    return lambda seed: nx.barabasi_albert_graph(base, 1 + seed % 2, seed=seed)


ROWS = (
    Row("25 nodes, M 5, m 1", 5, 1, lambda s: _attached(nx.barabasi_albert_graph(20, 1, seed=s), [(HOUSE, 5)], s)),
    Row("29 nodes, M 14, m 2", 14, 2, lambda s: _attached(_tree(15)(s), [(HOUSE, 5), (GRID, 9)], s)),
    Row("34 nodes, M 19, m 3", 19, 3, lambda s: _attached(_tree(20)(s), [(HOUSE, 5), (GRID, 9)], s)),
    Row("46 nodes, M 6, m 1", 6, 1, lambda s: _attached(nx.random_labeled_tree(41, seed=s), [(HOUSE, 5)], s)),
    Row("75 nodes, M 15, m 1", 15, 1, _superpixels, superpixels=True),
)
ORDER_3 = tuple(row._replace(name=f"{row.name}, order 3", order=3) for row in ROWS[:3])


class Network(torch.nn.Module):
    """Three layers of GCN or GIN, mean pooling, linear head, weights fixed by a seed."""

    def __init__(self, kind: str, features: int, seed: int, width: int = 20) -> None:
        super().__init__()
        torch.manual_seed(seed)
        sizes = [features, width, width]

        def perceptron(size: int) -> torch.nn.Module:
            return torch.nn.Sequential(torch.nn.Linear(size, width), torch.nn.ReLU(), torch.nn.Linear(width, width))

        self.convs = torch.nn.ModuleList(
            GCNConv(size, width, normalize=False) if kind == "gcn" else GINConv(perceptron(size), train_eps=True)
            for size in sizes
        )
        self.head = torch.nn.Linear(width, 2)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor, size: int) -> torch.Tensor:
        """Difference of the two logits for a batch of graphs."""
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        logits = self.head(global_mean_pool(x, batch, size))
        return logits[:, 0] - logits[:, 1]


def _worth(row: Row, kind: str, seed: int, size: int, edges: Edges) -> Callable[[np.ndarray], np.ndarray]:
    columns = torch.tensor(edges).T
    edge_index = torch.cat([columns, columns.flip(0)], dim=1)
    features = _intensities(seed) if row.superpixels else torch.ones(size, 10)
    model = Network(kind, features.shape[1], seed).eval()

    @torch.no_grad()
    def worth(masks: np.ndarray) -> np.ndarray:
        presence = torch.from_numpy(masks)
        count = len(masks)
        if row.superpixels:  # features of absent nodes become zero, as the paper does on images
            x = (features[None] * presence[..., None]).reshape(-1, features.shape[1])
            union = (edge_index[:, None] + torch.arange(count)[None, :, None] * size).reshape(2, -1)
        else:  # edges of absent nodes go
            graph, column = torch.nonzero(presence[:, edge_index[0]] & presence[:, edge_index[1]], as_tuple=True)
            x, union = features.repeat(count, 1), edge_index[:, column] + graph * size
        return model(x, union, torch.arange(count).repeat_interleave(size), count).double().numpy()

    return worth


def instances(row: Row, seeds: range) -> Iterator[Interactions]:
    """The Myerson-Taylor index of a GCN and a GIN for each seed, from 200 orderings (100 on super-pixels)."""
    torch.set_num_threads(1)
    for seed in seeds:
        size, edges = row.graph(seed)
        for kind in ("gcn", "gin"):
            game = Game(_worth(row, kind, seed, size, edges), size, edges)
            count = 100 if row.superpixels else 200
            yield interactions(game, order=row.order, method="permutation", permutations=count, seed=seed)
