"""Tables of an experiment: ours beside the paper's, for people and for other programs."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from rich.table import Table as RichTable

from mage.experiments.run import Plan
from mage.experiments.spec import Column, Method
from mage.experiments.store import Record, Store
from mage.metrics import Summary, summarise

_HEADINGS = {
    "f1": "F1 ↑",
    "ami": "AMI ↑",
    "auc": "AUC ↑",
    "fid": "Fid ↑",
    "fid_alpha": "Fid_0.8 ↑",
    "fid_alpha_07": "Fid_0.7 ↑",
    "sparsity": "sparsity",
    "queries": "queries ↓",
    "seconds": "seconds ↓",
}
# The paper calls robust fidelity by one name; it says 0.8, its code uses 0.7.
_PAPER_METRIC = {"fid_alpha_07": "fid_alpha"}


@dataclass(frozen=True)
class Cell:
    """One metric of one method on one dataset and model.

    Args:
        column: The dataset with its model.
        method: The method.
        metric: The metric.
        ours: Our mean, its error and what it rests on; None where there is nothing.
        paper: The paper's figure, if it has one.
        gap: Why there is nothing, where the method did not run.
        graphs: Number of explained graphs, times seeds.
        expected: Number of graphs in the experiment, times seeds.
        failed: Number of graphs that the method refused, times seeds; ``gap`` says why.
    """

    column: Column
    method: Method
    metric: str
    ours: Summary | None
    paper: float | None
    gap: str
    graphs: int
    expected: int
    failed: int = 0

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.ours is None or self.paper is None or math.isnan(self.ours.mean):
            return None
        return self.ours.mean - self.paper


@cache
def paper_figures() -> dict[tuple[int, str, str, str, str], float]:
    """The paper's figures by table, dataset, model, method and metric."""
    text = resources.files("mage.experiments").joinpath("paper.csv").read_text()
    return {
        (int(row["table"]), row["dataset"], row["model"], row["method"], row["metric"]): float(row["value"])
        for row in csv.DictReader(io.StringIO(text))
    }


def cells(plan: Plan, store: Store) -> list[Cell]:
    """All cells of an experiment's table, methods in their order within each column."""
    records: dict[tuple[str, str, str], list[Record]] = {}
    for record in plan.records(store):
        records.setdefault((record["dataset"], record["model"], record["method"]), []).append(record)
    expected: dict[tuple[str, str, str], int] = {}
    for batch in plan.batches:
        subject = plan.subjects[batch.subject]
        name = (subject.dataset, subject.model_name, batch.method.name)
        expected[name] = expected.get(name, 0) + len(batch.positions)
    made = []
    for column in plan.experiment.columns:
        for method in plan.experiment.methods:
            name = (column.dataset, column.model, method.name)
            own = records.get(name, [])
            gap, total = plan.gaps.get(name, ""), expected.get(name, 0)
            made += [_cell(plan, column, method, metric, own, gap, total) for metric in column.metrics]
    return made


def _cell(
    plan: Plan, column: Column, method: Method, metric: str, records: list[Record], gap: str, expected: int
) -> Cell:
    errors = sorted({record["error"] for record in records if record["error"]})
    usable = [record for record in records if not record["error"]]
    gap = gap or "; ".join(errors) or ("" if usable else "not run yet")
    # Seeds of one graph are no independent witnesses: the error is over graphs, of their means over seeds.
    by_graph: dict[int, list[float]] = {}
    for record in usable:
        by_graph.setdefault(record["graph"], []).append(record[metric] if record[metric] is not None else math.nan)
    values = [float(np.mean(own)) for own in by_graph.values()]
    figures = paper_figures()
    # The experiment's own tables first; others of the paper may know a method that these do not have.
    tables = [*plan.experiment.tables, *sorted({key[0] for key in figures} - set(plan.experiment.tables))]
    names = [(column.dataset, column.model, method.name, _PAPER_METRIC.get(metric, metric))]
    known = [figures[table, *name] for table in tables for name in names if (table, *name) in figures]
    return Cell(
        column,
        method,
        metric,
        summarise(values) if usable else None,
        known[0] if known else None,
        gap,
        len(usable),
        expected,
        len(records) - len(usable),
    )


def shown(metric: str, value: float | None) -> str:
    """A figure with as many digits as it deserves."""
    if value is None or math.isnan(value):
        return "–"
    if metric == "queries":
        return f"{value / 1000:.1f}K" if value >= 1000 else f"{value:.0f}"
    return f"{value:.2f}" if metric == "seconds" else f"{value:.3f}"


def rows(made: Sequence[Cell], show: Callable[[str, float | None], str] = shown) -> list[dict[str, str]]:
    """Rows of the long table: one for each dataset, model, method and metric; ``show`` writes figures."""
    lines = []
    for cell in made:
        ours = cell.ours
        lines.append(
            {
                "dataset": cell.column.dataset,
                "model": cell.column.model,
                "method": cell.method.title or cell.method.name,
                "metric": cell.metric,
                "ours": "" if ours is None else show(cell.metric, ours.mean),
                "± error": "" if ours is None else show(cell.metric, ours.std_error),
                "paper": "" if cell.paper is None else show(cell.metric, cell.paper),
                "difference": "" if cell.difference is None else f"{cell.difference:+.3f}",
                "graphs": f"{cell.graphs}/{cell.expected}",
                "failed": str(cell.failed) if cell.failed else "",
                "undefined": "" if ours is None or not ours.undefined else str(ours.undefined),
                "gap": cell.gap,
            }
        )
    return lines


def rich_tables(made: Sequence[Cell]) -> list[RichTable]:
    """One table for each dataset and model: methods down, metrics across, ours / the paper's."""
    tables = []
    for column in dict.fromkeys(cell.column for cell in made):
        own = [cell for cell in made if cell.column == column]
        table = RichTable(title=f"{column.dataset}, {column.model}: ours ± error / paper (difference)")
        table.add_column("method")
        for metric in column.metrics:
            table.add_column(_HEADINGS[metric])
        table.add_column("graphs")
        for method in dict.fromkeys(cell.method.name for cell in own):
            line = [cell for cell in own if cell.method.name == method]
            title = line[0].method.title or method
            if line[0].ours is None:
                beside = " ".join(
                    f"{_HEADINGS[c.metric]} {shown(c.metric, c.paper)}" for c in line if c.paper is not None
                )
                reason = line[0].gap + (f" (paper: {beside})" if beside else "")
                table.add_row(title, f"[dim]{_escaped(reason)}[/dim]", *[""] * len(line))
                continue
            count = f"{line[0].graphs}/{line[0].expected}"
            if line[0].failed:
                count += f", {line[0].failed} failed: {_escaped(line[0].gap)}"
            table.add_row(title, *(_text(cell) for cell in line), count)
        tables.append(table)
    return tables


def _text(cell: Cell) -> str:
    if cell.ours is None:
        return "–"
    error = cell.ours.std_error
    text = shown(cell.metric, cell.ours.mean) + ("" if math.isnan(error) else f" ± {shown(cell.metric, error)}")
    if cell.paper is not None:
        text += f" / {shown(cell.metric, cell.paper)}"
        if cell.difference is not None and cell.metric not in {"queries", "seconds"}:
            text += f" ({cell.difference:+.3f})"
    if cell.ours.undefined:
        text += f" [{cell.ours.undefined} undefined]"
    return _escaped(text)


def _escaped(text: str) -> str:
    return text.replace("[", "\\[")


def export(made: Sequence[Cell], form: str, title: str = "") -> str:
    """The long table as ``markdown``, ``csv``, ``latex`` or ``html``."""
    # Programs get all digits, people as many as a figure deserves.
    lines = rows(made, _plain if form == "csv" else shown)
    names = list(lines[0]) if lines else []
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
        return text.getvalue()
    if form == "markdown":
        ruled = [names, ["---"] * len(names), *([_piped(line[name]) for name in names] for line in lines)]
        heading = f"## {title}\n\n" if title else ""
        return heading + "".join("| " + " | ".join(line) + " |\n" for line in ruled)
    if form == "latex":
        body = [" & ".join(_latex(text) for text in texts) + r" \\" for texts in _texts(names, lines)]
        ends = (rf"\begin{{tabular}}{{{'l' * len(names)}}}", r"\hline", r"\hline", r"\end{tabular}")
        return "\n".join([*ends[:2], body[0], ends[1], *body[1:], *ends[2:], ""])
    if form == "html":
        marked = [
            "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"
            for tag, texts in zip(["th"] + ["td"] * len(lines), _texts(names, lines), strict=True)
        ]
        page = "\n".join(["<table>", *marked, "</table>"])
        return f'<!doctype html>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n{page}\n'
    raise ValueError(f"export: {form!r} is none of markdown, csv, latex, html")


def _plain(_metric: str, value: float | None) -> str:
    return "" if value is None or math.isnan(value) else repr(value)


def _texts(names: list[str], lines: list[dict[str, str]]) -> list[list[str]]:
    return [names, *([line[name] for name in names] for line in lines)]


def _piped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_LATEX = {"\\": r"\textbackslash{}", "±": r"$\pm$", "–": "--", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {character: "\\" + character for character in "&%_#${}"} | {
    "\n": " ",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
