"""Results of ``mage benchmark`` as a page: our figures beside the paper's, as tables and as plots."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from mage.experiments.all_tables import load_tables
from mage.experiments.cells import Cell
from mage.experiments.pages.blocks import sections
from mage.experiments.pages.reproduction import reproduction
from mage.experiments.pages.stored_cells import mixed, tables
from mage.experiments.records import Record
from mage.metrics import Metric
from mage.report.shell import asset, document

_WIDTH, _HEIGHT, _MARGIN = 152, 22, 12
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEGEND = (
    '<p class="legend soft">'
    '<svg viewBox="0 0 22 12" aria-hidden="true"><line class="error" x1="1" x2="21" y1="6" y2="6"/>'
    '<circle class="ours" cx="11" cy="6" r="4.5"/></svg> ours, with the standard error over n graphs or images '
    '<svg viewBox="0 0 22 14" aria-hidden="true"><path class="paper" d="M5 7l6 -6l6 6l-6 6z"/></svg> the paper\'s; '
    "difference ours − paper, as a factor for queries and seconds</p>"
)


def benchmark_page(records: Sequence[Record], skipped: Sequence[tuple[str, str]] = (), title: str = "") -> str:
    """The page of a store of results.

    Args:
        records: What the store holds; see :func:`mage.experiments.pages.stored_cells.read_parts`.
        skipped: Files that could not be read, with the reason.
        title: Heading.
    """
    heading = title or "Benchmark: our figures beside the paper's"
    whole = f'<section class="card">{sections(reproduction(records))}</section>\n' if _has_all_tables(records) else ""
    body = f"<header><h1>{html.escape(heading)}</h1></header>\n{whole}{benchmark_sections(records, skipped)}"
    return document(heading, body, styles=[asset("common.css"), benchmark_style()])


def _has_all_tables(records: Sequence[Record]) -> bool:
    """Whether a store is one of all tables, and not of a part."""
    statuses = load_tables().status(records)
    return sum(status.finished > 0 for status in statuses) > len(statuses) / 4


def benchmark_style() -> str:
    """The style sheet of :func:`benchmark_sections`."""
    return asset("benchmark.css", "mage.experiments.pages")


def benchmark_sections(records: Sequence[Record], skipped: Sequence[tuple[str, str]] = ()) -> str:
    """The tables and plots of a store as markup, everything escaped."""
    notes = []
    if several := mixed(records):
        notes.append(
            f"Some results are there more than once, from other weights, settings or versions; figures are means over "
            f"all of them: {', '.join(several)}."
        )
    if skipped:
        listed = "; ".join(f"{name} ({reason})" for name, reason in skipped[:5])
        more = f"; and {len(skipped) - 5} more" if len(skipped) > 5 else ""
        many = "1 damaged part is" if len(skipped) == 1 else f"{len(skipped)} damaged parts are"
        notes.append(f"{many} left out: {listed}{more}.")
    marked = "".join(f'<p class="card note">{html.escape(note)}</p>\n' for note in notes)
    sections = [_section(experiment.title, experiment.tables, cells) for experiment, cells in tables(records)]
    return marked + "\n".join(sections)


def _section(title: str, numbers: Sequence[int], cells: Sequence[Cell]) -> str:
    numbered = " and ".join(str(number) for number in numbers)
    beside = f"beside table{'s' if len(numbers) > 1 else ''} {numbered} of the paper" if numbered else ""
    parts = []
    for column in dict.fromkeys(cell.column for cell in cells):
        of_column = [cell for cell in cells if cell.column == column]
        panels = "".join(_panel([cell for cell in of_column if cell.metric == metric]) for metric in column.metrics)
        only_paper = "" if any(cell.ours is not None for cell in of_column) else ": the paper's own network"
        parts.append(
            f"<h3>{html.escape(column.dataset)}, {html.escape(column.model)}{only_paper}</h3>"
            f'<div class="panels">{panels}</div>{_gaps(of_column)}'
        )
    return (
        f'<section class="card benchmark"><h2>{html.escape(title)}</h2>'
        f'<p class="soft">{html.escape(beside)}</p>{_LEGEND}{"".join(parts)}</section>'
    )


def _panel(cells: Sequence[Cell]) -> str:
    """One metric of all methods: figures, and beside each the place of ours and the paper's on a common axis."""
    metric = cells[0].kind
    scale = Scale(metric, [value for cell in cells for value in _values(cell)])
    in_paper = any(cell.paper is not None for cell in cells)
    heads = ["ours", "paper", "diff."] if in_paper else ["ours"]
    lines = []
    for cell in cells:
        figures = "".join(f'<td class="number">{html.escape(text)}</td>' for text in _texts(cell)[: len(heads)])
        count = 0 if cell.ours is None else cell.ours.count
        lines.append(
            f'<tr><th scope="row">{html.escape(cell.title)}</th>{figures}<td class="number">{count}</td>'
            f'<td class="strip">{_strip(cell, scale)}</td></tr>'
        )
    numbers = "".join(f'<th scope="col" class="number">{text}</th>' for text in [*heads, "n"])
    return (
        f'<div class="panel"><table><thead><tr><th scope="col">{html.escape(metric.heading)}</th>{numbers}<th></th>'
        f"</tr></thead><tbody>{''.join(lines)}</tbody>"
        f'<tfoot><tr><td colspan="{len(heads) + 2}"></td><td class="strip">{_axis(scale)}</td></tr></tfoot>'
        "</table></div>"
    )


def _gaps(cells: Sequence[Cell]) -> str:
    """Methods that refused or failed on some graphs, with the reasons."""
    reasons = {cell.method.name: cell for cell in cells if cell.failed}
    return "".join(
        f'<p class="faint">{html.escape(cell.title)}, no result {cell.failed} times: {html.escape(cell.gap)}</p>'
        for cell in reasons.values()
    )


def _texts(cell: Cell) -> tuple[str, str, str]:
    if cell.difference is None:
        difference = ""
    elif cell.kind.scale == "log":
        ratio = cell.ours.mean / cell.paper if cell.ours is not None and cell.paper else math.nan
        difference = "" if math.isnan(ratio) else f"× {ratio:.2g}"
    else:
        difference = f"{cell.difference:+.3f}".replace("-", "−")
    return cell.ours_text.replace("-", "−"), cell.paper_text.replace("-", "−"), difference


def _strip(cell: Cell, scale: Scale) -> str:
    """The place of ours and the paper's on the axis of a metric, as an SVG."""
    y = _HEIGHT / 2
    parts = _grid(scale)
    ours = cell.ours.mean if cell.ours is not None and not math.isnan(cell.ours.mean) else None
    if ours is not None and cell.ours is not None:
        if cell.paper is not None:
            parts.append(f'<line class="join" x1="{scale(ours):.1f}" x2="{scale(cell.paper):.1f}" y1="{y}" y2="{y}"/>')
        if not math.isnan(cell.ours.std_error):
            low, high = scale(ours - cell.ours.std_error), scale(ours + cell.ours.std_error)
            parts.append(f'<line class="error" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle class="ours" cx="{scale(ours):.1f}" cy="{y}" r="4.5"/>')
    if cell.paper is not None:
        parts.append(f'<path class="paper" d="M{scale(cell.paper) - 6:.1f} {y}l6 -6l6 6l-6 6z"/>')
    ours_text, paper_text, _ = _texts(cell)
    label = f"ours {ours_text}" + (f", paper {paper_text}" if paper_text else "")
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


def _axis(scale: Scale) -> str:
    texts = "".join(f'<text x="{scale(tick):.1f}" y="11">{text}</text>' for tick, text in scale.ticks)
    return f'<svg class="plot" viewBox="0 0 {_WIDTH} 16" aria-hidden="true">{texts}</svg>'


def _grid(scale: Scale) -> list[str]:
    return [
        f'<line class="grid" x1="{scale(tick):.1f}" x2="{scale(tick):.1f}" y1="0" y2="{_HEIGHT}"/>'
        for tick, _ in scale.ticks
    ]


def _values(cell: Cell) -> list[float]:
    """What the axis must hold."""
    values = [cell.paper] if cell.paper is not None else []
    if cell.ours is not None and not math.isnan(cell.ours.mean):
        error = 0.0 if math.isnan(cell.ours.std_error) or cell.kind.scale == "log" else cell.ours.std_error
        values += [cell.ours.mean - error, cell.ours.mean + error]
    return values


class Scale:
    """Places of values on the horizontal axis, linear or logarithmic."""

    def __init__(self, metric: Metric, values: list[float]) -> None:
        self.logarithmic = metric.scale == "log" and bool(values) and min(values) > 0
        self.low: float
        self.high: float
        if self.logarithmic:
            self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            self.high = max(self.high, self.low + 1)
        elif metric.scale == "unit":
            self.low, self.high = min([0.0, *values]), max([1.0, *values])
        else:
            self.low, self.high = min([0.0, *values]), max([0.1, *values])

    def __call__(self, value: float) -> float:
        """The place of a value in pixels; values beyond the axis lie at its end."""
        if self.logarithmic:
            value = math.log10(value) if value > 0 else self.low
        share = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return _MARGIN + share * (_WIDTH - 2 * _MARGIN)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round values with their texts, five or so."""
        if self.logarithmic:
            every = math.ceil((self.high - self.low) / 4)
            return [(10.0**power, _power(power)) for power in range(int(self.low), int(self.high) + 1, every)]
        size = 10.0 ** math.floor(math.log10(self.high - self.low))
        spans = (self.high - self.low) / size  # from 1 to 10, but for rounding
        step = next(size * part for part in (0.2, 0.25, 0.5, 1.0, 2.0, 2.5) if spans / part <= 4 + 1e-9)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9)
        return [(step * n, f"{step * n:.3g}".replace("-", "−")) for n in range(first, count + 1)]


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -3 <= power <= 2 else f"10{str(power).translate(_SUPERSCRIPTS).replace('-', '⁻')}"
