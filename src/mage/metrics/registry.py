"""The metrics of tables by name: how each is measured, shown and compared with the paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from mage._core.checks import checked_instance, checked_list, checked_text, shortened
from mage._core.importing import load_user_name
from mage.metrics.cases import ExplainedGraph

Measured = float | Mapping[str, float] | None
"""A number, or numbers by the fields of a metric; None where a metric has nothing to say about a case."""


def three_digits(value: float) -> str:
    """A figure with three digits after the point."""
    return f"{value:.3f}"


@dataclass(frozen=True)
class Metric:
    """A metric that tables show.

    Args:
        name: Name in experiments and in records.
        title: Name in headings.
        measure: Computes it for a case: an explained graph, or group attributions of an image.
        cases: Kinds of cases that it is for.
        better: Which figures are better; None where neither is.
        scale: Axis of a plot: ``"unit"`` is [0, 1], ``"log"`` is logarithmic.
        show: Formats a figure.
        fields: Further numbers that ``measure`` returns beside the figure.
        paper_name: Name in the paper's figures, where it is another.
        always: Measured for all records. Others are measured where an experiment names them.
    """

    name: str
    title: str
    measure: Callable[[Any], Measured]
    cases: tuple[type, ...] = (ExplainedGraph,)
    better: Literal["higher", "lower"] | None = "higher"
    scale: Literal["unit", "linear", "log"] = "linear"
    show: Callable[[float], str] = three_digits
    fields: tuple[str, ...] = ()
    paper_name: str = ""
    always: bool = False

    @property
    def heading(self) -> str:
        """Title with an arrow to the better side."""
        return self.title + {"higher": " ↑", "lower": " ↓", None: ""}[self.better]

    def text(self, value: float | None) -> str:
        """A figure as text, a dash if there is none."""
        return "–" if value is None or math.isnan(value) else self.show(value)

    def record(self, case: Any) -> dict[str, float | None]:
        """The fields of a record that this metric fills."""
        measured = self.measure(case)
        return dict(measured) if isinstance(measured, Mapping) else {self.name: measured}


METRICS: dict[str, Metric] = {}
"""All metrics, in the order of their registration. Modules register theirs when ``mage.metrics`` is imported."""


Measure = TypeVar("Measure", bound=Callable[[Any], Measured])


def register(name: str, title: str, **properties: Any) -> Callable[[Measure], Measure]:
    """A decorator that makes a function of a case a metric; ``properties`` are further fields of :class:`Metric`."""
    if name in METRICS:
        raise ValueError(f"name: there is a metric {name!r} already")

    def add(measure: Measure) -> Measure:
        METRICS[name] = Metric(name, title, measure, **properties)
        return measure

    return add


def metrics_for(case: type) -> dict[str, Metric]:
    """The registered metrics of a kind of case by name."""
    checked_instance("case", case, type, "a class, such as mage.metrics.ExplainedGraph")
    return {name: metric for name, metric in METRICS.items() if case in metric.cases}


def find_metric(name: str) -> Metric:
    """A registered metric, or the :class:`Metric` that a user's ``module:name`` stands for."""
    if ":" in checked_text("name", name):
        metric = load_user_name("metrics", name)
        if not isinstance(metric, Metric):
            raise ValueError(f"metrics: {name!r} is of type {type(metric).__name__}; name a mage.metrics.Metric")
        return replace(metric, name=name)
    if name not in METRICS:
        raise ValueError(f"metrics: {name!r} is none of {', '.join(METRICS)}, nor module:name of one's own")
    return METRICS[name]


def measure_case(case: Any, names: Iterable[str]) -> dict[str, float | None]:
    """What is always measured of a case, and the metrics of these names."""
    listed = checked_list("names", names, "a list of names of metrics")
    names = [checked_text("names", name) for name in listed]
    if not any(type(case) in metric.cases for metric in METRICS.values()):
        raise TypeError(f"case must be a mage.metrics.ExplainedGraph or GroupPredictions, got {shortened(case)}")
    always = (name for name, metric in metrics_for(type(case)).items() if metric.always)
    record: dict[str, float | None] = {}
    for name in dict.fromkeys([*always, *names]):
        record |= find_metric(name).record(case)
    return record
