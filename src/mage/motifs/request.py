"""What is asked of the motif search."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from mage._core.checks import checked_choice, checked_flag, checked_whole
from mage.motifs.objective import OBJECTIVES
from mage.motifs.solvers import SOLVERS

LARGEST_ORDER = 3


class MotifFields(TypedDict, total=False):
    """Fields of :class:`MotifRequest` that functions take by name beside those that they list as arguments."""

    objective: str
    include: Iterable[int]
    exclude: Iterable[int]
    solver: str
    node_limit: int | None


@dataclass(frozen=True)
class MotifRequest:
    """What the motif search is asked for, checked before anything is computed.

    Attributes:
        num_motifs: m, the largest number of motifs.
        max_nodes: M, nodes in all motifs together: a whole number, or a share of the nodes in (0, 1).
        tau: τ in [0, 1]: 1 finds what speaks for the output, 0 what speaks against it, values between weigh both.
        connected: False lets a motif be any set of nodes.
        objective: How terms weigh: ``"paper"``, positive ones by τ and negative ones by 1 − τ; or ``"signed"``, so only
            those of the top order, and lower orders with their sign. See :data:`mage.motifs.objective.OBJECTIVES`.
        noise_floor: Interactions of at most this share of the largest of their sign count as zero; with
            ``objective="signed"`` those of the top order only.
        include: Nodes that must be in some motif.
        exclude: Nodes that must be in none.
        solver: ``"search"`` (compiled branch and bound), ``"milp"`` (HiGHS), or ``"auto"``: the search, and where its
            limit does not suffice and the programme is not too large, HiGHS from where it stopped.
        node_limit: Search or solver nodes to spend at most; by default up to 1,000,000 (fewer for large graphs, whose
            nodes cost more) and 100. A limited answer is feasible and carries its bound.

    Raises:
        ValueError: A value that no search can use; the message names it.
    """

    num_motifs: int = 2
    max_nodes: int | float = 0.3
    tau: float = 1.0
    connected: bool = True
    objective: str = "paper"
    noise_floor: float = 0.1
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    solver: str = "auto"
    node_limit: int | None = None

    def __post_init__(self) -> None:
        settled: dict[str, Any] = {
            "num_motifs": checked_whole("num_motifs", self.num_motifs),
            "max_nodes": _checked_max_nodes(self.max_nodes),
            "tau": _checked_share("tau", self.tau),
            "connected": checked_flag("connected", self.connected),
            "noise_floor": _checked_share("noise_floor", self.noise_floor),
            "include": _checked_nodes("include", self.include),
            "exclude": _checked_nodes("exclude", self.exclude),
        }
        for name, value, allowed in (("objective", self.objective, OBJECTIVES), ("solver", self.solver, SOLVERS)):
            checked_choice(name, value, allowed)
        if self.node_limit is not None:
            settled["node_limit"] = checked_whole("node_limit", self.node_limit)
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    def check_order(self, order: int) -> None:
        """Refuse interactions of an order that is not searched."""
        if order > LARGEST_ORDER:
            raise ValueError(f"order: motifs are searched for order 1, 2 and 3, got order {order}")

    def max_nodes_of(self, num_nodes: int, least: int = 1) -> int:
        """M as a number of nodes of a graph.

        A share is meant as people write it: 0.29 of 100 is 29, whatever binary fractions make of it.

        Args:
            num_nodes: Nodes of the graph n.
            least: A share gives this many nodes at least, where the graph has them.
        """
        if isinstance(self.max_nodes, float):
            return min(max(least, math.floor(self.max_nodes * num_nodes + 1e-9)), num_nodes)
        return min(self.max_nodes, num_nodes)


def _checked_share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a number in [0, 1], got {value!r}")
    return float(value)


def _checked_max_nodes(value: Any) -> int | float:
    if isinstance(value, float | np.floating) and 0 < value < 1:
        return float(value)
    try:
        return checked_whole("max_nodes", value)
    except ValueError:
        raise ValueError(
            f"max_nodes must be a whole number ≥ 1 or a share of the nodes in (0, 1), got {value!r}"
        ) from None


def _checked_nodes(name: str, nodes: Any) -> tuple[int, ...]:
    """A list of nodes; which of them exist is known later."""
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise ValueError(f"{name} must be a list of nodes, got {nodes!r}")
    listed = tuple(nodes.tolist() if hasattr(nodes, "tolist") else nodes)
    for node in listed:
        if isinstance(node, bool | np.bool_) or not hasattr(node, "__index__"):
            raise ValueError(f"{name}: nodes are whole numbers, got {node!r}")
    return tuple(operator.index(node) for node in listed)
