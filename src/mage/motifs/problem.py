"""The search problem: weights, graph, budgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mage._core.typing import Floats, Integers, Masks
from mage.graph import PlayerGraph, checked_player
from mage.motifs.objective import OBJECTIVES, Terms

if TYPE_CHECKING:
    from mage.motifs.request import MotifRequest

NO_TRIPLES: Floats = np.zeros((0, 0, 0))


@dataclass(frozen=True)
class MotifProblem:
    """Find at most m disjoint connected sets of at most M nodes in all that maximise Σ |GrAttr(S)|.

    Attributes:
        graph: What "connected" means; the complete graph where connectivity is not asked for.
        node: First-order weights [n], τ already applied.
        pair: Second-order weights [n, n], symmetric, zero on the diagonal.
        triple: Third-order weights [n, n, n], symmetric, zero where indices repeat; [0, 0, 0] for none.
        num_motifs: m.
        max_nodes: M.
        required: Nodes that must be in some motif, as booleans [n].
        forbidden: Nodes that must be in none.
    """

    graph: PlayerGraph
    node: Floats
    pair: Floats
    triple: Floats
    num_motifs: int
    max_nodes: int
    required: Masks
    forbidden: Masks

    @classmethod
    def of(cls, request: MotifRequest, terms: Terms, graph: PlayerGraph) -> MotifProblem:
        """The problem that a request poses on a graph; requests that no family can meet are refused."""
        n = graph.num_players
        weights = OBJECTIVES[request.objective](terms, request.tau, request.noise_floor)
        node, pair, triple = (*weights, np.zeros((n, n)), NO_TRIPLES)[:3] if len(weights) < 3 else weights
        problem = cls(
            graph=graph if request.connected else PlayerGraph.complete(n),
            node=node,
            pair=pair,
            triple=triple if (triple != 0).any() else NO_TRIPLES,
            num_motifs=request.num_motifs,
            max_nodes=request.max_nodes_of(n),
            required=_as_mask("include", request.include, n),
            forbidden=_as_mask("exclude", request.exclude, n),
        )
        problem.check_possible()
        return problem

    def check_possible(self) -> None:
        """Refuse requests that no family can meet, before solving."""
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
        """What to say where no family holds all required nodes."""
        nodes = np.flatnonzero(self.required).tolist()
        return (
            f"include: no {self.num_motifs} connected motifs of at most {self.max_nodes} nodes in all hold {nodes}; "
            "raise max_nodes or num_motifs, or include fewer nodes"
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return self.graph.num_players

    @property
    def has_triples(self) -> bool:
        """Whether third-order weights count."""
        return len(self.triple) > 0

    @cached_property
    def has_positive(self) -> bool:
        """Whether some weight is positive."""
        return bool((self.node > 0).any() or (self.pair > 0).any() or (self.triple > 0).any())

    @cached_property
    def has_negative(self) -> bool:
        """Whether some weight is negative."""
        return bool((self.node < 0).any() or (self.pair < 0).any() or (self.triple < 0).any())

    @property
    def one_sign(self) -> bool:
        """Whether no two weights have opposite signs; adjacent motifs may then be merged at no loss."""
        return not (self.has_positive and self.has_negative)

    @cached_property
    def scale(self) -> float:
        """Largest absolute weight, 1 where all are zero."""
        largest = max(np.abs(part).max(initial=0.0) for part in (self.node, self.pair, self.triple))
        return float(largest) or 1.0

    @property
    def tolerance(self) -> float:
        """Differences in worth up to this count as ties."""
        return 1e-12 * self.scale

    @cached_property
    def adjacency_lists(self) -> tuple[Integers, Integers]:
        """Neighbours of all nodes one after the other, and where each node's start."""
        lists = self.graph.neighbour_lists()
        starts = np.cumsum([0, *(len(near) for near in lists)]).astype(np.int64)
        return np.array([j for near in lists for j in near], dtype=np.int64), starts

    def attribution(self, members: Masks) -> float:
        """GrAttr of one set, with its sign."""
        chosen = np.flatnonzero(members)
        total = self.node[chosen].sum() + self.pair[np.ix_(chosen, chosen)].sum() / 2
        if self.has_triples:
            total += self.triple[np.ix_(chosen, chosen, chosen)].sum() / 6
        return float(total)

    def objective(self, labels: Integers) -> float:
        """Σ |GrAttr| of the motifs that ``labels`` name."""
        return sum(abs(self.attribution(labels == label)) for label in np.unique(labels[labels != 0]))

    def feasible(self, labels: Integers) -> bool:
        """Whether the motifs respect m, M, connectivity, required and forbidden nodes."""
        taken = labels != 0
        names = np.unique(labels[taken])
        if taken.sum() > self.max_nodes or len(names) > self.num_motifs:
            return False
        if (taken & self.forbidden).any() or (self.required & ~taken).any():
            return False
        return len(names) == 0 or bool(self.graph.is_connected(labels == names[:, None]).all())


def _as_mask(name: str, nodes: Iterable[int], num_nodes: int) -> Masks:
    mask = np.zeros(num_nodes, dtype=np.bool_)
    for node in nodes:
        try:
            mask[checked_player(node, num_nodes)] = True
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return mask
