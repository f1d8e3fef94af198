"""How small an explanation is, and what it costs: queries of the model, and time."""

from __future__ import annotations

from typing import Any

from mage._core.checks import checked_whole
from mage.metrics._inputs import node_set
from mage.metrics.cases import ExplainedGraph, GroupPredictions
from mage.metrics.registry import register


def sparsity(nodes: Any, num_nodes: int) -> float:
    """Share of the nodes that an explanation leaves out, 1 − |S| / n."""
    count = checked_whole("num_nodes", num_nodes)
    return 1 - len(node_set(nodes, count)) / count


@register("sparsity", "sparsity", better=None, scale="unit", always=True)
def _sparsity(case: ExplainedGraph) -> float:
    return sparsity(case.nodes, int(case.data.num_nodes))


def _thousands(value: float) -> str:
    """A count, from 1,000 on in thousands."""
    return f"{value / 1000:.1f}K" if value >= 1000 else f"{value:.0f}"


@register(
    "queries",
    "queries",
    cases=(ExplainedGraph, GroupPredictions),
    better="lower",
    scale="log",
    show=_thousands,
    always=True,
)
def _queries(case: ExplainedGraph | GroupPredictions) -> float:
    return case.queries


@register("seconds", "seconds", better="lower", scale="log", show="{:.2f}".format, always=True)
def _seconds(case: ExplainedGraph) -> float:
    return case.seconds


@register(
    "cpu_seconds", "CPU seconds", better="lower", scale="log", show="{:.2f}".format, paper_name="seconds", always=True
)
def _cpu_seconds(case: ExplainedGraph) -> float:
    # Unlike the time on the clock, this does not grow when the machine has other work.
    return case.cpu_seconds
