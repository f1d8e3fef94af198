"""The paper's figures, to stand beside ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import cache
from importlib import resources

from mage.metrics import find_metric

FigureName = tuple[int, str, str, str, str]
"""Table, dataset, model, method, metric."""

# Words in the names of published networks, and the paper's name for the network.
_NETWORKS = {"resnet-50": "resnet50", "resnet50": "resnet50", "vit-base-patch16": "vit_b16"}


@cache
def paper_figures() -> dict[FigureName, float]:
    """The paper's figures by table, dataset, model, method and metric."""
    text = resources.files("mage.experiments").joinpath("paper.csv").read_text()
    return {
        (int(row["table"]), row["dataset"], row["model"], row["method"], row["metric"]): float(row["value"])
        for row in csv.DictReader(io.StringIO(text))
    }


def paper_model(model: str) -> str:
    """The paper's name of a model; a published network may be given by its name on a hub."""
    plain = model.lower().replace("_", "-")
    return next((name for words, name in _NETWORKS.items() if words in plain), model)


def paper_figure(tables: Sequence[int], dataset: str, model: str, method: str, metric: str) -> float | None:
    """The paper's figure for a cell, if it has one.

    Args:
        tables: Tables to look into first; others of the paper may know a method that these do not have.
        dataset: Name of the dataset.
        model: Name of the model, see :func:`paper_model`.
        method: Name of the method.
        metric: Name of the metric.
    """
    figures = paper_figures()
    order = [*tables, *sorted({name[0] for name in figures} - set(tables))]
    cell = (dataset, paper_model(model), method, find_metric(metric).paper_name or metric)
    return next((figures[table, *cell] for table in order if (table, *cell) in figures), None)
