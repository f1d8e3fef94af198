"""The search problem: weights, graph, budgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mage._core.typing import Floats, Integers, Masks
from mage.graph import PlayerGraph, checked_player
from mage.motifs.objective import OBJECTIVES, Parts
from mage.motifs.terms import TermArrays

if TYPE_CHECKING:
    from mage.motifs.request import MotifRequest

FOR, AGAINST = 0, 1


@dataclass(frozen=True)
class MotifProblem:
    """Find at most m disjoint connected sets of at most M nodes in all that are worth most together.

    A set is worth the sum of all weights inside it, on the side (for the output or against it) where that is more.

    Attributes:
        graph: The graph in which motifs are connected; the complete graph where they need not be.
        node: First-order weights [2, n], for motifs for the output and against it; τ already applied.
        pair: Second-order weights [2, n, n], symmetric, zero on the diagonal.
        triples: Triples with a weight other than zero, [t, 3].
        triple: Their weights [2, t].
        sides: The sides that count, of ``FOR`` and ``AGAINST``.
        num_motifs: m.
        max_nodes: M.
        required: Nodes that must be in some motif, as booleans [n].
        forbidden: Nodes that must be in none.
    """

    graph: PlayerGraph
    node: Floats
    pair: Floats
    triples: Integers
    triple: Floats
    sides: tuple[int, ...]
    num_motifs: int
    max_nodes: int
    required: Masks
    forbidden: Masks

    @classmethod
    def of(cls, request: MotifRequest, terms: TermArrays, graph: PlayerGraph) -> MotifProblem:
        """The problem that a request poses on a graph; requests that no family can meet are refused."""
        n, tau = graph.num_players, request.weight
        objective = OBJECTIVES[request.objective_at(len(terms.values))]
        by_side = objective(terms.values, tau, request.noise_floor)
        node, pair, triple = (np.stack(both) for both in zip(*(_three(parts, n) for parts in by_side), strict=True))
        nonzero = np.flatnonzero((triple != 0).any(axis=0))
        problem = cls(
            graph=graph if request.connected else PlayerGraph.complete(n),
            node=node,
            pair=pair,
            triples=np.ascontiguousarray(terms.triples[nonzero], dtype=np.int64),
            triple=np.ascontiguousarray(triple[:, nonzero]),
            sides=(FOR,) * (tau > 0) + (AGAINST,) * (tau < 1),
            num_motifs=request.most_motifs,
            max_nodes=request.max_nodes_of(n),
            required=_as_mask("include", request.include, n),
            forbidden=_as_mask("exclude", request.exclude, n),
        )
        problem.check_possible()
        return problem

    def check_possible(self) -> None:
        """Refuse requests that no family can meet, before solving."""
        if not self.required.any():
            return
        both = np.flatnonzero(self.required & self.forbidden).tolist()
        if both:
            raise ValueError(f"include and exclude both name nodes {both}")
        if self.required.sum() > self.max_nodes:
            count = int(self.required.sum())
            raise ValueError(f"include names {count} nodes, more than max_nodes = {self.max_nodes}; raise max_nodes")
        labels = self.graph.component_labels(~self.forbidden[None])[0]
        if len(np.unique(labels[self.required])) > self.num_motifs:
            raise ValueError(self.impossible)

    @property
    def impossible(self) -> str:
        """The message where no family holds all required nodes."""
        nodes = np.flatnonzero(self.required).tolist()
        return (
            f"include: no {self.num_motifs} connected motifs of at most {self.max_nodes} nodes in all hold {nodes}; "
            "raise max_nodes or num_motifs, or include fewer nodes"
        )

    @property
    def no_motifs(self) -> Integers:
        """Labels of the family without motifs."""
        return np.zeros(self.num_nodes, dtype=np.int64)

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return self.graph.num_players

    @cached_property
    def useful_sides(self) -> tuple[int, ...]:
        """Sides on which some motif may be worth something; all that count where nodes are required."""
        if self.required.any():
            return self.sides
        parts = (self.node, self.pair, self.triple)
        return tuple(side for side in self.sides if any((part[side] > 0).any() for part in parts))

    @cached_property
    def merging(self) -> bool:
        """Whether one side is useful and no weight of it is negative; adjacent motifs may then be merged at no loss."""
        parts = (self.node, self.pair, self.triple)
        return len(self.useful_sides) < 2 and all(
            bool((part[side] >= 0).all()) for side in self.useful_sides for part in parts
        )

    @cached_property
    def scale(self) -> float:
        """Largest absolute weight, 1 where all are zero."""
        largest = max(np.abs(part).max(initial=0.0) for part in (self.node, self.pair, self.triple))
        return float(largest) or 1.0

    @cached_property
    def largest_worth(self) -> float:
        """An upper bound on the absolute worth of any family."""
        m = self.max_nodes
        counts = (m, m * (m - 1) / 2, m * (m - 1) * (m - 2) / 6)
        parts = (self.node, self.pair, self.triple)
        return float(sum(n * np.abs(part).max(initial=0.0) for n, part in zip(counts, parts, strict=True))) + self.scale

    @property
    def tolerance(self) -> float:
        """Differences in worth up to this count as ties."""
        return 1e-12 * self.scale

    @cached_property
    def adjacency_lists(self) -> tuple[Integers, Integers]:
        """Where the neighbours of each node start, and the neighbours of all nodes one after the other."""
        lists = self.graph.neighbour_lists()
        starts = np.cumsum([0, *(len(near) for near in lists)]).astype(np.int64)
        return starts, np.array([j for near in lists for j in near], dtype=np.int64)

    def worth(self, members: Masks, side: int) -> float:
        """What one set is worth on a side."""
        nodes = np.flatnonzero(members)
        total = self.node[side, nodes].sum() + self.pair[side][np.ix_(nodes, nodes)].sum() / 2
        if len(self.triples):
            total += self.triple[side, members[self.triples].all(axis=1)].sum()
        return float(total)

    def side_of(self, members: Masks) -> int:
        """The side on which one set is worth more."""
        return max(self.sides, key=lambda side: self.worth(members, side))

    def strength(self, members: Masks) -> float:
        """What one set is worth on the side where it is worth more."""
        return max(self.worth(members, side) for side in self.sides)

    def objective(self, labels: Integers) -> float:
        """Worth of the motifs that ``labels`` name, together."""
        return sum(self.strength(labels == label) for label in np.unique(labels[labels != 0]))

    def feasible(self, labels: Integers) -> bool:
        """Whether the motifs respect m, M, connectivity, required and forbidden nodes."""
        members = labels != 0
        names = np.unique(labels[members])
        if members.sum() > self.max_nodes or len(names) > self.num_motifs:
            return False
        if (members & self.forbidden).any() or (self.required & ~members).any():
            return False
        return all(self.connected(labels == name) for name in names)

    def connected(self, members: Masks) -> bool:
        """Whether members are connected; an empty set is."""
        starts, neighbours = self.adjacency_lists
        unreached = set(np.flatnonzero(members).tolist())
        queue = [unreached.pop()] if unreached else []
        while queue and unreached:
            node = queue.pop()
            near = unreached.intersection(neighbours[starts[node] : starts[node + 1]].tolist())
            unreached -= near
            queue.extend(near)
        return not unreached


def _three(parts: Parts, num_nodes: int) -> Parts:
    """Weights of nodes, pairs and triples, zero or none where the order is lower."""
    return (*parts, np.zeros((num_nodes, num_nodes)), np.zeros(0))[:3] if len(parts) < 2 else (*parts, np.zeros(0))[:3]


def _as_mask(name: str, nodes: Iterable[int], num_nodes: int) -> Masks:
    mask = np.zeros(num_nodes, dtype=np.bool_)
    for node in nodes:
        try:
            mask[checked_player(node, num_nodes)] = True
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return mask
