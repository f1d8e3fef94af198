"""Barabási-Albert graphs with houses, grids and five-cycles hung on them."""

from __future__ import annotations

import numpy as np

from mage._core.optional import require
from mage.datasets._shapes import FIVE_CYCLE, GRID, HOUSE, Edges, Sketch, columns_of
from mage.datasets.dataset import Columns

BASE_SIZE = 20


def _base(edges_each: int, generator: np.random.Generator) -> Sketch:
    networkx = require("networkx", "pyg")
    seed = int(generator.integers(2**31))
    return Sketch(BASE_SIZE, networkx.barabasi_albert_graph(BASE_SIZE, edges_each, seed=seed).edges)


def house_or_other(count: int, other: Edges, generator: np.random.Generator, features: int, value: float) -> Columns:
    """A house (class 0) or another motif (class 1) on a tree of 20 nodes, half of the graphs each.

    This is BA-HouseGrid with the 3 × 3 grid, and the construction of BA-2Motifs with the five-cycle.
    """
    labels = generator.permutation(np.arange(count) % 2).tolist()
    sketches = [_base(1, generator).attach((HOUSE, other)[label], generator) for label in labels]
    x = np.full((sum(sketch.size for sketch in sketches), features), value, dtype=np.float32)
    return columns_of(sketches, labels, x)


def house_grid(count: int, generator: np.random.Generator) -> Columns:
    """BA-HouseGrid: class 0 has a house, class 1 a grid."""
    return house_or_other(count, GRID, generator, 1, 1.0)


def two_motifs(count: int, generator: np.random.Generator) -> Columns:
    """BA-2Motifs by its construction: class 0 has a five-cycle, class 1 a house, as in the published file."""
    columns = house_or_other(count, FIVE_CYCLE, generator, 10, 0.1)
    return Columns(
        columns.node_start,
        columns.edge_start,
        columns.edge_index,
        columns.nodes,
        columns.edges,
        {"y": 1 - columns.graphs["y"]},
    )


def house_and_or_grid(count: int, label_of_one: int, generator: np.random.Generator) -> Columns:
    """No, one or both motifs on a base in which each node brings one or two edges.

    Half of the graphs have the label 1. With ``label_of_one`` 0 (BA-HouseAndGrid) the label says that both motifs are
    there, with 1 (BA-HouseOrGrid) that at least one is; kinds with the same label are equally frequent.
    """
    kinds: list[tuple[Edges, ...]] = [(), (HOUSE,), (GRID,), (HOUSE, GRID)]
    labels_of_kinds = np.array([0, label_of_one, label_of_one, 1])
    labels = generator.permutation(np.arange(count) % 2)
    sketches = []
    for label in labels:
        sketch = _base(int(generator.integers(1, 3)), generator)
        for motif in kinds[generator.choice(np.flatnonzero(labels_of_kinds == label))]:
            sketch.attach(motif, generator)
        sketches.append(sketch)
    # Only what makes up label 1 explains: a lone house in BA-HouseAndGrid is no reason for label 1.
    for sketch, label in zip(sketches, labels, strict=True):
        if label == 0:
            sketch.motif_edges = 0
    x = np.ones((sum(sketch.size for sketch in sketches), 1), dtype=np.float32)
    return columns_of(sketches, labels.tolist(), x)
