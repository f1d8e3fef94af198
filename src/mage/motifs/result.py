"""What the search returns: motifs with scores, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from mage._core.checks import (
    checked_flag,
    checked_instance,
    checked_list,
    checked_real,
    checked_text,
    checked_texts,
    checked_whole,
)
from mage._core.printing import printable
from mage._core.typing import Integers

PROVEN = "proven optimal"
"""What is said of motifs that nothing can beat, of exact scores."""


@dataclass(frozen=True)
class Motif:
    """A group of nodes that acts together.

    Attributes:
        nodes: Its nodes, ascending.
        score: Plain sum of all interactions inside it, in the units of the output: what, by the index, the
            nodes contribute together. Positive is for the output, negative against it. It depends on the nodes
            alone, not on τ, the noise floor or the objective of the search.
        names: Names of the nodes, in the same order.
        edges: If the players are edges: the pairs of nodes of the motif; its nodes are their ends.
    """

    nodes: tuple[int, ...]
    score: float
    names: tuple[str, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        nodes = checked_list("nodes", self.nodes, "a list of nodes")
        if not nodes:
            raise ValueError("nodes of a motif must list at least one node")
        object.__setattr__(self, "nodes", tuple(checked_whole("nodes", node, least=0) for node in nodes))
        object.__setattr__(self, "score", checked_real("score", self.score))
        names = checked_list("names", self.names, "a list of names")
        if names and len(names) != len(nodes):
            raise ValueError(f"names of a motif must list {len(nodes)} names, one per node, got {len(names)}")
        object.__setattr__(self, "names", checked_texts("names", names))
        pairs = [checked_list("edges", pair, "pairs of nodes") for pair in checked_list("edges", self.edges, "pairs")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("edges must be pairs of nodes")
        edges = tuple((checked_whole("edges", u, least=0), checked_whole("edges", v, least=0)) for u, v in pairs)
        object.__setattr__(self, "edges", edges)

    @property
    def sign(self) -> int:
        """+1 or −1."""
        return 1 if self.score >= 0 else -1

    def __len__(self) -> int:
        return len(self.nodes)


def labels_of(motifs: Iterable[Motif], num_nodes: int) -> Integers:
    """For each node the place of its motif, from 1; 0 for none."""
    labels = np.zeros(checked_whole("num_nodes", num_nodes, least=0), dtype=np.int64)
    for place, motif in enumerate(checked_list("motifs", motifs, "a list of motifs"), start=1):
        nodes = checked_instance("motifs", motif, Motif, "a list of motifs").nodes
        if any(node >= len(labels) for node in nodes):
            raise ValueError(f"motifs: node {max(nodes)} does not exist; num_nodes is {num_nodes}")
        labels[list(nodes)] = place
    return labels


@dataclass(frozen=True)
class PathStep:
    """The best family of one size, where the size was left open.

    Attributes:
        max_nodes: M.
        num_motifs: Motifs of the family.
        objective: What it is worth to the search.
        merit: What decides: large where the last node adds much and the next one little; see :mod:`mage.motifs.path`.
        optimal: Whether it is proven best.
    """

    max_nodes: int
    num_motifs: int
    objective: float
    merit: float
    optimal: bool


@dataclass(frozen=True)
class MotifSet:
    """Disjoint motifs, the strongest first, with a proof of their quality.

    Attributes:
        motifs: At most m of them; fewer if more would not help.
        objective: The weighted sum that the search maximises, see :mod:`mage.motifs.objective`. It
            compares results of the same settings; the scores are in the units of the output.
        bound: No feasible result has a larger objective, up to rounding (1e-12 of the largest weight); infinite if
            a method other than the search chose the motifs.
        optimal: Whether the bound proves that the objective is the largest.
        num_nodes: Nodes of the graph n.
        num_motifs: The value of m in the request.
        max_nodes: M as used.
        tau: τ.
        connected: Whether motifs had to be connected.
        solver: The solver: ``"search"``, ``"milp"``, or both.
        work: The number of search and solver nodes.
        noise_floor: Share of the largest interaction up to which interactions counted as zero.
        include: Players that had to be in some motif.
        exclude: Players that had to be in none.
        estimated: Whether the interactions behind the scores are estimates.
        objective_name: The weights of the terms, see :data:`mage.motifs.objective.OBJECTIVES`.
        path: The best motifs of all sizes from which M was chosen; empty if M was given.
        against: If both sides were searched: the motifs against the output, among nodes that are in no motif for it.
            This set then holds the motifs for the output only.
    """

    motifs: tuple[Motif, ...]
    objective: float
    bound: float
    optimal: bool
    num_nodes: int
    num_motifs: int
    max_nodes: int
    tau: float
    connected: bool
    solver: str
    work: int
    noise_floor: float = 0.0
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    objective_name: str = "paper"
    estimated: bool = False
    path: tuple[PathStep, ...] = ()
    against: MotifSet | None = None

    def __post_init__(self) -> None:
        for name, kind in (("motifs", Motif), ("path", PathStep)):
            items = checked_list(name, getattr(self, name), f"a list of {kind.__name__}")
            for item in items:
                checked_instance(name, item, kind, f"a list of {kind.__name__}")
            object.__setattr__(self, name, tuple(items))
        for name in ("objective", "bound", "tau", "noise_floor"):
            checked_real(name, getattr(self, name))
        for name in ("num_nodes", "num_motifs", "max_nodes", "work"):
            checked_whole(name, getattr(self, name), least=0)
        for name in ("optimal", "connected", "estimated"):
            checked_flag(name, getattr(self, name))
        for name in ("solver", "objective_name"):
            checked_text(name, getattr(self, name))
        for name in ("include", "exclude"):
            nodes = checked_list(name, getattr(self, name), "a list of nodes")
            object.__setattr__(self, name, tuple(checked_whole(name, node, least=0) for node in nodes))
        if self.against is not None:
            checked_instance("against", self.against, MotifSet, "a MotifSet")

    @property
    def gap(self) -> float:
        """Relative distance from the objective to the bound; 0 if optimal."""
        if self.optimal:
            return 0.0
        return (self.bound - self.objective) / max(abs(self.bound), 1e-300) if np.isfinite(self.bound) else np.inf

    @property
    def proof(self) -> str:
        """How good the motifs are, in words; if both sides were searched, for the side that is less certain."""
        sides = [side for side in (self, self.against) if side is not None and side.motifs]
        if not sides:
            return "none found"
        weakest = max(sides, key=lambda side: side.gap)
        if weakest.optimal:
            return "best for these estimates" if weakest.estimated else PROVEN
        return f"within {100 * weakest.gap:.2g} % of the bound" if np.isfinite(weakest.bound) else "without a bound"

    @property
    def side_weight(self) -> float | str:
        """τ, or ``"both"`` if both sides were searched separately."""
        return self.tau if self.against is None else "both"

    @property
    def both_sides(self) -> tuple[Motif, ...]:
        """These motifs, and those of :attr:`against` after them."""
        return self.motifs if self.against is None else (*self.motifs, *self.against.motifs)

    @property
    def nodes(self) -> tuple[int, ...]:
        """All nodes of all motifs, ascending, without those of :attr:`against`; motifs of edges may share nodes."""
        return tuple(sorted({node for motif in self.motifs for node in motif.nodes}))

    @property
    def labels(self) -> Integers:
        """For each node the rank of its motif, 1 for the strongest, 0 for none; a partition, as AMI needs it."""
        return labels_of(self.motifs, self.num_nodes)

    def __len__(self) -> int:
        return len(self.motifs)

    def __iter__(self) -> Iterator[Motif]:
        return iter(self.motifs)

    def __getitem__(self, rank: int) -> Motif:
        return self.motifs[rank]

    def __repr__(self) -> str:
        bound = "" if self.optimal or not np.isfinite(self.bound) else f" {self.bound:.4g}"
        count = f"{len(self.motifs)} motif{'s' * (len(self.motifs) != 1)}"
        lines = [f"MotifSet({count}, objective {self.objective:.4g}, {self.proof}{bound})"]
        for motif in self.both_sides:
            names = ", ".join(motif.names or map(str, motif.nodes))
            lines.append(f"  {'for    ' if motif.sign > 0 else 'against'} {motif.score:+.4g}  {{{names}}}")
        return printable("\n".join(lines))
