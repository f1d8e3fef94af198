"""Graphs that the benchmarks run on."""

from __future__ import annotations

import networkx as nx

HOUSE = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4))


def ba_with_house(seed: int, base: int = 20) -> tuple[int, list[tuple[int, int]]]:
    """A Barabási-Albert tree with a house hung onto it: number of nodes and edges."""
    tree = nx.barabasi_albert_graph(base, 1, seed=seed)
    house = [(base + i, base + j) for i, j in HOUSE]
    return base + 5, [*tree.edges(), *house, (seed % base, base)]
