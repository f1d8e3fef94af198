"""Methods compared: their places in the cells of the tables, mean ranks, and quality against cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mage.experiments.cells import Cell
from mage.experiments.spec import Method

CellPlace = tuple[str, str]
"""Dataset and model."""


@dataclass(frozen=True)
class Place:
    """A method in one column, against the best of its kind.

    Args:
        cell: Its cell.
        best: The cell of the best method among those compared; the method itself counts.
    """

    cell: Cell
    best: Cell

    @property
    def is_first(self) -> bool:
        """Whether no other is better, or the method is within one standard error of the best one."""
        ours, best = _mean(self.cell), _mean(self.best)
        error = 0.0 if self.best.ours is None or math.isnan(self.best.ours.std_error) else self.best.ours.std_error
        return ours >= best - error - 1e-12


def is_black_box(method: Method) -> bool:
    """Whether a method only asks the model for outputs."""
    from mage import explainers

    return not explainers.get(method.explainer, **method.parameters).white_box


def quality(cells: Sequence[Cell]) -> dict[CellPlace, dict[str, Cell]]:
    """Cells with a figure of the first metric of their column, by dataset and model, and by method."""
    columns: dict[CellPlace, dict[str, Cell]] = {}
    for cell in cells:
        if cell.metric == cell.column.metrics[0] and cell.ours is not None and not math.isnan(cell.ours.mean):
            columns.setdefault((cell.column.dataset, cell.column.model), {})[cell.method.name] = cell
    return columns


def places(columns: Mapping[CellPlace, Mapping[str, Cell]], method: str, rivals: set[str]) -> list[Place]:
    """The places of a method in all columns that it has a figure in.

    Args:
        columns: See :func:`quality`.
        method: Name of the method.
        rivals: Names of the methods that it is compared with.
    """
    method_places = []
    for by_method in columns.values():
        if method in by_method:
            compared = [cell for name, cell in by_method.items() if name in rivals or name == method]
            method_places.append(Place(by_method[method], max(compared, key=_mean)))
    return method_places


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods over columns in which all of them have a figure.

    Args:
        mean: Mean rank by name; 1 is best, ties share the mean of their ranks.
        columns: Number of columns.
        critical: Mean ranks that differ by less could differ by chance: Nemenyi's test, 5 %.
    """

    mean: Mapping[str, float]
    columns: int
    critical: float


def ranks(columns: Mapping[CellPlace, Mapping[str, Cell]], methods: Sequence[str]) -> Ranks | None:
    """Mean ranks, after Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 2006.

    Args:
        columns: See :func:`quality`.
        methods: Names of the methods.

    Returns:
        None where no column has all of them, or where there are fewer than two methods.
    """
    from scipy.stats import rankdata, studentized_range

    scores = [[_mean(cells[name]) for name in methods] for cells in columns.values() if set(methods) <= set(cells)]
    if not scores or len(methods) < 2:
        return None
    # Rounded, so that equal scores stay tied when sums were taken in another order.
    mean = rankdata(-np.round(scores, 9), axis=1).mean(axis=0)
    count, number = len(methods), len(scores)
    critical = studentized_range.ppf(0.95, count, np.inf) / math.sqrt(2)
    critical *= math.sqrt(count * (count + 1) / (6 * number))
    return Ranks(dict(zip(methods, mean.tolist(), strict=True)), number, float(critical))


@dataclass(frozen=True)
class Cost:
    """What a method costs and what it reaches, over columns in which all compared methods have figures.

    Args:
        method: Name of the method.
        quality: Mean of the first metric of each column.
        price: Geometric mean of the queries or seconds.
        on_frontier: Whether no other method is at least as good at no higher cost.
    """

    method: str
    quality: float
    price: float
    on_frontier: bool


def costs(cells: Sequence[Cell], methods: Sequence[str], metric: str) -> list[Cost]:
    """Quality against queries or CPU seconds.

    Args:
        cells: All cells.
        methods: Names of the methods.
        metric: ``"queries"`` or ``"cpu_seconds"``.
    """
    columns = quality(cells)
    price = {
        (cell.column.dataset, cell.column.model, cell.method.name): cell for cell in cells if cell.metric == metric
    }
    shared = [
        place
        for place, by_method in columns.items()
        if all(name in by_method and _mean(price.get((*place, name))) > 0 for name in methods)
    ]
    if not shared:
        return []
    points = {
        name: (
            float(np.mean([_mean(columns[place][name]) for place in shared])),
            math.exp(float(np.mean([math.log(_mean(price[*place, name])) for place in shared]))),
        )
        for name in methods
    }
    return [
        Cost(name, score, cost, not any(_dominates(other, (score, cost)) for other in points.values()))
        for name, (score, cost) in points.items()
    ]


def _dominates(other: tuple[float, float], point: tuple[float, float]) -> bool:
    return other != point and other[0] >= point[0] and other[1] <= point[1]


def _mean(cell: Cell | None) -> float:
    return -math.inf if cell is None or cell.ours is None else cell.ours.mean
