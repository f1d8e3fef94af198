"""The request for the motif search."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from mage._core.checks import checked_choice, checked_flag, checked_list, checked_whole
from mage.motifs.objective import OBJECTIVES
from mage.motifs.solvers import SOLVERS

LARGEST_ORDER = 3
AUTO = "auto"
BOTH = "both"
"""Value of τ that searches motifs for the output and motifs against it, each by itself."""
_USUAL_SHARE = 0.3  # of the nodes, where a method that cannot choose itself needs a number
_MOST_MOTIFS = 3  # that are considered where their number is left open
_MOST_MOTIF_NODES = 25  # that are considered where their number is left open
_FEW = 6  # nodes that even a small graph may have in motifs
_MANY = 100  # nodes of a graph from which on sizes are tried in larger steps
_LARGER_STEPS = (12, 15, 20, 25)


class MotifFields(TypedDict, total=False):
    """Fields of :class:`MotifRequest` that functions take by name beside those that they list as arguments."""

    objective: str
    include: Iterable[int]
    exclude: Iterable[int]
    solver: str
    node_limit: int | None


@dataclass(frozen=True)
class MotifRequest:
    """The settings of the motif search, checked before anything is computed.

    Attributes:
        num_motifs: m, the largest number of motifs; ``"auto"`` allows three.
        max_nodes: M, nodes in all motifs together: a whole number, a share of the nodes in (0, 1), or ``"auto"``: the
            size at which the last node adds much and the next one little, see :mod:`mage.motifs.path`.
        tau: ``"both"`` finds motifs for the output and, among all other nodes, motifs against it, each in its
            own search. A number τ in [0, 1] weights both sides in one search: 1 finds only motifs for it, 0 only
            motifs against it.
        connected: False lets a motif be any set of nodes.
        objective: The weights of the terms. ``"signed"``: positive terms of the top order by τ, negative terms by
            1 − τ, and lower orders with their sign. ``"balanced"``: the same, but negative terms of the top order
            weigh at least a quarter of the positive ones (in motifs against the output the other way round).
            ``"paper"``: all orders as the top order. ``"auto"`` is the paper's up to order 2; at order 3 it is signed
            for a number τ, and balanced where both sides are searched. If there is a model, it decides between balanced
            and signed: the motifs are taken without which the output changes more. See
            :data:`mage.motifs.objective.OBJECTIVES`.
        noise_floor: Interactions of at most this share of the largest of their sign count as zero; with
            ``objective="signed"`` those of the top order only.
        include: Nodes that must be in some motif.
        exclude: Nodes that must be in none.
        solver: ``"search"`` (compiled branch and bound), ``"milp"`` (HiGHS), or ``"auto"``: the search, and if it
            reaches its limit and the programme is not too large, HiGHS continues from there.
        node_limit: The largest number of search or solver nodes; by default up to 1,000,000 (fewer for large graphs,
            whose nodes cost more) and 100. A result at the limit is feasible and has a bound.

    Raises:
        ValueError: A value that no search can use; the message names it.
    """

    num_motifs: int | str = AUTO
    max_nodes: int | float | str = AUTO
    tau: float | str = BOTH
    connected: bool = True
    objective: str = AUTO
    noise_floor: float = 0.1
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    solver: str = "auto"
    node_limit: int | None = None

    def __post_init__(self) -> None:
        values: dict[str, Any] = {
            "num_motifs": _checked_num_motifs(self.num_motifs),
            "max_nodes": _checked_max_nodes(self.max_nodes),
            "tau": BOTH
            if isinstance(self.tau, str) and self.tau == BOTH
            else _checked_share("tau", self.tau, " or 'both'"),
            "connected": checked_flag("connected", self.connected),
            "noise_floor": _checked_share("noise_floor", self.noise_floor),
            "include": _checked_nodes("include", self.include),
            "exclude": _checked_nodes("exclude", self.exclude),
        }
        checked_choice("objective", self.objective, (AUTO, *OBJECTIVES))
        checked_choice("solver", self.solver, SOLVERS)
        if self.node_limit is not None:
            values["node_limit"] = checked_whole("node_limit", self.node_limit)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def check_order(self, order: int) -> None:
        """Refuse interactions of an order that is not searched."""
        order = checked_whole("order", order)
        if order > LARGEST_ORDER:
            raise ValueError(f"order: motifs are searched for order 1, 2 and 3, got order {order}")

    def objective_at(self, order: int) -> str:
        """The name of the objective for interactions of an order."""
        order = checked_whole("order", order)
        if self.objective != AUTO:
            return self.objective
        if order < LARGEST_ORDER:
            return "paper"
        return "balanced" if self.tau == BOTH else "signed"

    @property
    def most_motifs(self) -> int:
        """The largest number of motifs as a number."""
        return _MOST_MOTIFS if isinstance(self.num_motifs, str) else self.num_motifs

    @property
    def weight(self) -> float:
        """τ as a number; ½ if both sides are searched."""
        return 0.5 if isinstance(self.tau, str) else self.tau

    def sizes_of(self, num_nodes: int, least: int = 1) -> list[int]:
        """The numbers of nodes M that are tried in a graph, ascending: one of them unless M is left open.

        Args:
            num_nodes: Nodes of the graph n.
            least: The smallest number, where the graph has so many nodes.
        """
        if self.max_nodes != AUTO:
            return [self.max_nodes_of(num_nodes, least)]
        num_nodes, least = checked_whole("num_nodes", num_nodes, least=0), checked_whole("least", least, least=0)
        # Motifs of more than half of a graph explain nothing.
        most = min(num_nodes, max(_FEW, min(num_nodes // 2, _MOST_MOTIF_NODES)))
        sizes = list(range(min(max(least, 1), most), most + 1))
        if num_nodes > _MANY:
            sizes = [size for size in sizes if size < _LARGER_STEPS[0] or size in _LARGER_STEPS]
        return sizes

    def max_nodes_of(self, num_nodes: int, least: int = 1) -> int:
        """M as a number of nodes of a graph; 0.3 of them if M is not given.

        A share is read as a decimal number: 0.29 of 100 is 29, not affected by binary rounding.

        Args:
            num_nodes: Nodes of the graph n.
            least: A share gives this many nodes at least, where the graph has them.
        """
        num_nodes, least = checked_whole("num_nodes", num_nodes, least=0), checked_whole("least", least, least=0)
        size = _USUAL_SHARE if isinstance(self.max_nodes, str) else self.max_nodes
        if isinstance(size, float):
            return min(max(least, math.floor(size * num_nodes + 1e-9)), num_nodes)
        return min(size, num_nodes)


def _checked_share(name: str, value: Any, otherwise: str = "") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a number in [0, 1]{otherwise}, got {value!r}")
    return float(value)


def _checked_num_motifs(value: Any) -> int | str:
    if isinstance(value, str) and value == AUTO:
        return AUTO
    try:
        return checked_whole("num_motifs", value)
    except ValueError:
        raise ValueError(f"num_motifs must be a whole number ≥ 1 or 'auto', got {value!r}") from None


def _checked_max_nodes(value: Any) -> int | float | str:
    if isinstance(value, str) and value == AUTO:
        return AUTO
    if isinstance(value, float | np.floating) and 0 < value < 1:
        return float(value)
    try:
        return checked_whole("max_nodes", value)
    except ValueError:
        raise ValueError(
            f"max_nodes must be a whole number ≥ 1, a share of the nodes in (0, 1) or 'auto', got {value!r}"
        ) from None


def _checked_nodes(name: str, nodes: Any) -> tuple[int, ...]:
    """A list of nodes; which of them exist is known later."""
    listed = checked_list(name, nodes, "a list of nodes")
    for node in listed:
        if isinstance(node, bool | np.bool_) or not hasattr(node, "__index__"):
            raise ValueError(f"{name}: nodes are whole numbers, got {node!r}")
    return tuple(operator.index(node) for node in listed)
