"""The shapes that synthetic graphs are made of, and how they are put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mage._core.ragged import pointers
from mage.datasets.columns import Columns
from mage.datasets.ground_truth import motif_numbers

Edges: TypeAlias = Sequence[tuple[int, int]]

HOUSE: Edges = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4))
GRID: Edges = (
    *((3 * row + column, 3 * row + column + 1) for row in range(3) for column in range(2)),
    *((3 * row + column, 3 * row + column + 3) for row in range(2) for column in range(3)),
)
FIVE_CYCLE: Edges = tuple((i, (i + 1) % 5) for i in range(5))
SIX_CYCLE: Edges = tuple((i, (i + 1) % 6) for i in range(6))
# SPMotif's shapes; its graphs join them to a base by their first node, the house by its roof.
HOUSE_BY_ROOF: Edges = ((1, 2), (2, 3), (3, 4), (4, 1), (0, 1), (0, 4))
# Two nodes with the same three neighbours.
CRANE: Edges = ((1, 2), (2, 3), (3, 4), (4, 1), (0, 1), (0, 3))


class Sketch:
    """A graph under construction: a base, and motifs that are joined to it by one edge each.

    Args:
        base_size: Number of nodes of the base.
        base_edges: Its edges, each in one direction.
    """

    def __init__(self, base_size: int, base_edges: Iterable[tuple[int, int]]) -> None:
        self.base_size = base_size
        self.size = base_size
        self.edges = list(base_edges)
        self.in_motif = [False] * len(self.edges)

    def attach_anywhere(self, motif: Edges, generator: np.random.Generator, in_truth: bool = True) -> Sketch:
        """Add a motif and one edge from a random node of the base to a random node of it.

        Args:
            motif: Its edges.
            generator: Chooses the two nodes.
            in_truth: Whether it is part of the ground truth.
        """
        motif_size = 1 + max(map(max, motif))
        base_node = int(generator.integers(self.base_size))
        return self.attach(motif, base_node, int(generator.integers(motif_size)), in_truth)

    def attach(self, motif: Edges, base_node: int, motif_node: int = 0, in_truth: bool = True) -> Sketch:
        """Add a motif and one edge from a node of the base to a node of it."""
        motif_size = 1 + max(map(max, motif))
        bridge = (base_node, self.size + motif_node)
        self.edges += [*((self.size + i, self.size + j) for i, j in motif), bridge]
        self.in_motif += [in_truth] * len(motif) + [False]
        self.size += motif_size
        return self

    def disturb(self, share: float, generator: np.random.Generator) -> Sketch:
        """Add random edges, so many for each edge there is; a motif stays as it is inside."""
        present = {frozenset(edge) for edge in self.edges}
        for _ in range(int(len(self.edges) * share)):
            while True:
                first, second = map(int, generator.integers(self.size, size=2))
                if first != second and frozenset((first, second)) not in present:
                    break
            if min(first, second) < self.base_size:
                present.add(frozenset((first, second)))
                self.edges.append((first, second))
                self.in_motif.append(False)
        return self

    def without_truth(self) -> Sketch:
        """The same graph, in which no motif explains anything."""
        self.in_motif = [False] * len(self.edges)
        return self


def columns_of_sketches(sketches: Sequence[Sketch], labels: Sequence[int], x: NDArray[np.float32]) -> Columns:
    """Sketches as columns: each edge in both directions, ground truth from the motifs."""
    node_start = pointers([sketch.size for sketch in sketches])
    edge_start = pointers([2 * len(sketch.edges) for sketch in sketches])
    edge_index = np.empty((2, edge_start[-1]), dtype=np.int32)
    inside = np.zeros(edge_start[-1], dtype=bool)
    for sketch, start, stop in zip(sketches, edge_start[:-1], edge_start[1:], strict=True):
        one_way = np.asarray(sketch.edges, dtype=np.int32).T.reshape(2, -1)
        both_ways = np.concatenate([one_way, one_way[::-1]], axis=1)
        order = np.lexsort((both_ways[1], both_ways[0]))
        edge_index[:, start:stop] = both_ways[:, order]
        inside[start:stop] = np.tile(sketch.in_motif, 2)[order]
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, inside)
    return Columns.of_arrays(
        node_start,
        edge_start,
        edge_index,
        {"x": x, "node_motif": node_motif},
        {"edge_motif": edge_motif},
        {"y": np.asarray(labels, dtype=np.int64)},
    )
