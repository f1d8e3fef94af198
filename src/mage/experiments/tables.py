"""Tables of an experiment: ours beside the paper's, for people and for other programs."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Callable, Sequence

from rich.markup import escape
from rich.table import Table

from mage._core.printing import printable
from mage.experiments.cells import Cell
from mage.metrics import find_metric


def _shown(metric: str, value: float | None) -> str:
    """A figure as text."""
    return find_metric(metric).text(value)


def rows(cells: Sequence[Cell], show: Callable[[str, float | None], str] = _shown) -> list[dict[str, str]]:
    """Rows of the long table: one for each dataset, model, method and metric; ``show`` writes figures."""
    lines = []
    for cell in cells:
        ours = cell.ours
        lines.append(
            {
                "dataset": cell.column.dataset,
                "model": cell.column.model,
                "method": cell.title,
                "metric": cell.metric,
                "ours": "" if ours is None else show(cell.metric, ours.mean),
                "± error": "" if ours is None else show(cell.metric, ours.std_error),
                "paper": "" if cell.paper is None else show(cell.metric, cell.paper),
                "difference": "" if cell.difference is None else f"{cell.difference:+.3f}",
                "graphs": f"{cell.results}/{cell.expected}",
                "failed": str(cell.failed) if cell.failed else "",
                "undefined": "" if ours is None or not ours.undefined else str(ours.undefined),
                "gap": cell.gap,
            }
        )
    return lines


def table_rows(cells: Sequence[Cell]) -> list[dict[str, str]]:
    """Rows of the long table with all digits, for programs."""
    return rows(cells, _plain)


def rich_tables(table: Sequence[Cell], items: str = "graphs") -> list[Table]:
    """One table for each dataset and model: methods down, metrics across, ours / the paper's.

    Args:
        table: The cells.
        items: What the methods were tried on, in the plural.
    """
    tables = []
    for column in dict.fromkeys(cell.column for cell in table):
        block = [cell for cell in table if cell.column == column]
        beside = " / paper (difference)" if any(cell.paper is not None for cell in block) else ""
        rich_table = Table(title=f"{column.dataset}, {column.model}: ours ± error{beside}")
        rich_table.add_column("method")
        for metric in column.metrics:
            rich_table.add_column(find_metric(metric).heading)
        rich_table.add_column(items)
        for method in dict.fromkeys(cell.method.name for cell in block):
            _add_row(rich_table, [cell for cell in block if cell.method.name == method])
        tables.append(rich_table)
    return tables


def _add_row(table: Table, line: Sequence[Cell]) -> None:
    """One method: its figures, or why there are none."""
    first = line[0]
    if first.ours is None:
        beside = " ".join(f"{cell.kind.heading} {cell.paper_text}" for cell in line if cell.paper is not None)
        reason = first.gap + (f" (paper: {beside})" if beside else "")
        table.add_row(first.title, f"[dim]{_escaped(reason)}[/dim]", *[""] * len(line))
        return
    count = f"{first.results}/{first.expected}"
    if first.failed:
        count += f", {first.failed} failed: {_escaped(first.gap)}"
    table.add_row(first.title, *(_text(cell) for cell in line), count)


def _text(cell: Cell) -> str:
    text = cell.ours_text
    if cell.paper is not None:
        text += f" / {cell.paper_text}"
        if cell.difference is not None and cell.kind.scale != "log":
            text += f" ({cell.difference:+.3f})"
    if cell.ours is not None and cell.ours.undefined:
        text += f" [{cell.ours.undefined} undefined]"
    return _escaped(text)


def _escaped(text: str) -> str:
    return escape(printable(text))


def export(cells: Sequence[Cell], form: str, title: str = "") -> str:
    """The long table as ``markdown``, ``csv``, ``latex`` or ``html``."""
    # Programs get all digits, people as many as a figure deserves.
    lines = rows(cells, _plain if form == "csv" else _shown)
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
