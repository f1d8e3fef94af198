"""The table of the study of group attribution: ours, and the paper's on its own networks beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from rich.table import Table as RichTable

from mage.experiments.group_attribution import INDICES
from mage.experiments.spec import Column, Method
from mage.experiments.store import Record
from mage.experiments.tables import Cell, paper_figures, shown
from mage.metrics import summarise

TABLE = 9
METRICS = {
    "infid_plus": "Infid⁺ ↓",
    "infid_minus": "Infid⁻ ↓",
    "infid_minus_printed": "Infid⁻ as printed ↓",
    "infid_plus_connected": "Infid⁺ connected ↓",
    "infid_minus_connected": "Infid⁻ connected ↓",
    "queries": "queries ↓",
}
_TITLES = {
    "shapley": "Shapley",
    "myerson": "Myerson",
    "shapley-taylor": "Shapley-Taylor, order 2",
    "myerson-taylor": "Myerson-Taylor, order 2",
}
_PAIRED = ("infid_plus", "infid_minus", "infid_plus_connected", "infid_minus_connected")
_ORDERS = {"shapley": "shapley-taylor", "myerson": "myerson-taylor"}
_PAPER_MODELS = {"resnet50": "ResNet-50", "vit_b16": "ViT-B/16"}


def study_cells(
    records: Iterable[Record], subjects: Sequence[tuple[str, str, int]], indices: Sequence[str] = INDICES
) -> list[Cell]:
    """The cells of the table; errors are over images.

    Args:
        records: Finished records.
        subjects: Dataset, model and number of images of each part of the table.
        indices: Rows.
    """
    found: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        found.setdefault((record["dataset"], record["model"], record["method"]), []).append(record)
    made = []
    for dataset, model, expected in subjects:
        column = Column(dataset, model, tuple(METRICS))
        for index in indices:
            own = found.get((dataset, model, index), [])
            for metric in METRICS:
                ours = summarise([record[metric] for record in own]) if own else None
                figure = paper_figures().get((TABLE, dataset, _paper_name(model), index, metric))
                gap = "" if own else "not run yet"
                made.append(
                    Cell(
                        column, Method(index, index, {}, _TITLES[index]), metric, ours, figure, gap, len(own), expected
                    )
                )
    return made


def _paper_name(model: str) -> str:
    """The paper's name of a network that was given by its name on the hub, or a folder called like it."""
    plain = model.lower().replace("_", "-")
    if "resnet-50" in plain or "resnet50" in plain:
        return "resnet50"
    return "vit_b16" if "vit-base-patch16" in plain else ""


def study_tables(made: Sequence[Cell]) -> list[RichTable]:
    """One table for each classifier, and the paper's own where ours has other networks."""
    tables = []
    for column in dict.fromkeys(cell.column for cell in made):
        own = [cell for cell in made if cell.column == column]
        beside = any(cell.paper is not None for cell in own)
        table = RichTable(title=f"{column.dataset}, {column.model}: mean ± error over images" + " / paper" * beside)
        for heading in ("index", *METRICS.values(), "images"):
            table.add_column(heading)
        for name in dict.fromkeys(cell.method.name for cell in own):
            line = [cell for cell in own if cell.method.name == name]
            count = f"{line[0].graphs}/{line[0].expected}"
            table.add_row(line[0].method.title, *(_text(cell) for cell in line), count)
        tables.append(table)
    if any(cell.paper is None for cell in made if cell.metric == "infid_plus"):
        tables.append(_paper_table())
    return tables


def paired_tables(records: Iterable[Record]) -> list[RichTable]:
    """Second order against first image by image, which says more than two means over images of different kinds."""
    found: dict[tuple[str, str], dict[str, dict[str, Record]]] = {}
    for record in records:
        images = found.setdefault((record["dataset"], record["model"]), {})
        images.setdefault(record["image"], {})[record["method"]] = record
    tables = []
    for (dataset, model), images in found.items():
        table = RichTable(title=f"{dataset}, {model}: second order less first, image by image")
        for heading in ("index", *(METRICS[metric].removesuffix(" ↓") for metric in _PAIRED)):
            table.add_column(heading)
        notes: list[str] = []
        for first, second in _ORDERS.items():
            both = [methods for methods in images.values() if first in methods and second in methods]
            if len(both) < 2:
                continue
            row = []
            ahead = np.array([_less(methods, second, first, "infid_plus") for methods in both])
            notes += [_extreme(both[image], first, second) for image in (ahead.argmin(), ahead.argmax())]
            for metric in _PAIRED:
                differences = [_less(methods, second, first, metric) for methods in both]
                summary, lower = summarise(differences), sum(difference < 0 for difference in differences)
                row.append(f"{summary.mean:+.3f} ± {summary.std_error:.3f}, lower on {lower} of {len(both)}")
            table.add_row(f"{_TITLES[second].partition(',')[0]} less {_TITLES[first]}", *row)
        if table.row_count:
            table.caption = "largest differences in Infid⁺: " + "; ".join(notes)
            tables.append(table)
    return tables


def _less(methods: dict[str, Record], second: str, first: str, metric: str) -> float:
    return float(methods[second][metric] - methods[first][metric])


def _extreme(methods: dict[str, Record], first: str, second: str) -> str:
    name = methods[first]["image"]
    return f"{name} {methods[second]['infid_plus']:.3f} against {methods[first]['infid_plus']:.3f}"


def _text(cell: Cell) -> str:
    if cell.ours is None:
        return "–"
    text = shown(cell.metric, cell.ours.mean)
    if cell.metric != "queries" and cell.ours.count > 1:
        text += f" ± {shown(cell.metric, cell.ours.std_error)}"
    return text if cell.paper is None else f"{text} / {shown(cell.metric, cell.paper)}"


def _paper_table() -> RichTable:
    figures = paper_figures()
    table = RichTable(title=f"the paper's table {TABLE}, imagenet50")
    table.add_column("index")
    for title in _PAPER_MODELS.values():
        for metric in ("infid_plus", "infid_minus"):
            table.add_column(f"{title} {METRICS[metric]}")
    table.add_column(METRICS["queries"])
    for index in INDICES:
        errors = [
            shown(metric, figures[TABLE, "imagenet50", model, index, metric])
            for model in _PAPER_MODELS
            for metric in ("infid_plus", "infid_minus")
        ]
        queries = shown("queries", figures[TABLE, "imagenet50", "resnet50", index, "queries"])
        table.add_row(_TITLES[index], *errors, queries)
    return table
