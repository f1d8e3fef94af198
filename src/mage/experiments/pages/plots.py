"""Drawings of the page of all tables, as SVG that reads on light and on dark paper."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

from mage.drawing.type_widths import text_width
from mage.experiments.cells import Cell
from mage.experiments.pages.ranking import Cost, Ranks

_OURS, _PAPER, _GREY, _INK = "#00755a", "#b35900", "#9a9a9a", "#555555"
_ROW, _LABEL, _PANEL, _GAP = 15, 190, 150, 14
_TYPE_SIZE = 11


def dot_plot(cells: Sequence[Cell], titles: Mapping[str, str]) -> str:
    """One panel per column, one line per method: our figure with its error, and the paper's as a diamond.

    Args:
        cells: Cells of one experiment, the first metric of each column.
        titles: Names of the datasets, to display.
    """
    columns = list(dict.fromkeys(cell.column for cell in cells))
    methods = list(dict.fromkeys(cell.title for cell in cells))
    by_place = {(cell.column, cell.title): cell for cell in cells}
    low = min([0.0, *(value for cell in cells for value in _values(cell))])
    parts = [_text(_LABEL - 6, 34 + _ROW * row + 4, title, "end") for row, title in enumerate(methods)]
    for number, column in enumerate(columns):
        left = _LABEL + number * (_PANEL + _GAP)

        def place(value: float, left: int = left) -> float:
            return left + (value - low) / (1 - low) * _PANEL

        name = f"{titles.get(column.dataset, column.dataset)}, {column.model.upper()}"
        parts.append(_text(left + _PANEL / 2, 12, name, "middle"))
        bottom = 34 + _ROW * len(methods) - 6
        for tick in (0.0, 0.5, 1.0):
            parts.append(_line(place(tick), 22, place(tick), bottom, _GREY, 0.5))
            parts.append(_text(place(tick), bottom + 12, f"{tick:g}", "middle"))
        for row, title in enumerate(methods):
            cell, y = by_place.get((column, title)), 34 + _ROW * row
            if cell is None:
                continue
            if cell.ours is not None and not math.isnan(cell.ours.mean):
                error = 0.0 if math.isnan(cell.ours.std_error) else cell.ours.std_error
                ends = place(max(low, cell.ours.mean - error)), place(min(1.0, cell.ours.mean + error))
                parts.append(_line(ends[0], y, ends[1], y, _OURS, 1.5))
                parts.append(f'<circle cx="{place(cell.ours.mean):.1f}" cy="{y}" r="3.5" fill="{_OURS}"/>')
            if cell.paper is not None:
                x = place(cell.paper)
                path = f"M{x - 4:.1f} {y}l4 -4l4 4l-4 4z"
                parts.append(f'<path d="{path}" fill="none" stroke="{_PAPER}" stroke-width="1.2"/>')
    width = _LABEL + len(columns) * (_PANEL + _GAP)
    return _svg(width, 34 + _ROW * len(methods) + 12, parts)


def rank_plot(ranks: Ranks, titles: Mapping[str, str]) -> str:
    """Mean ranks on a line, best on the left, with the difference that could be chance."""
    order = sorted(ranks.mean, key=lambda name: ranks.mean[name])
    count, left, width = len(order), 40, 560

    def place(rank: float) -> float:
        return left + (rank - 1) / max(count - 1, 1) * width

    parts = [_line(left, 40, left + width, 40, _INK, 1.0)]
    for rank in range(1, count + 1):
        parts += [_line(place(rank), 36, place(rank), 44, _INK, 1.0), _text(place(rank), 32, str(rank), "middle")]
    end = place(min(1 + ranks.critical, count))
    parts += [_line(left, 14, end, 14, _PAPER, 2.0), _text(end + 6, 18, "critical difference (Nemenyi, 5 %)", "start")]
    for row, name in enumerate(order):
        y, x = 60 + _ROW * row, place(ranks.mean[name])
        parts += [
            _line(x, 40, x, y, _GREY, 0.6),
            f'<circle cx="{x:.1f}" cy="{y}" r="3.5" fill="{_OURS}"/>',
            _text(x + 8, y + 4, f"{titles.get(name, name)} ({ranks.mean[name]:.1f})", "start"),
        ]
    return _svg(left + width + 240, 60 + _ROW * count, parts)


def frontier_plot(costs: Sequence[Cost], titles: Mapping[str, str], heading: str) -> str:
    """Quality against cost; methods that no other beats at no higher cost are joined by a line."""
    left, top, width, height = 50, 14, 520, 260
    low, high = math.floor(min(_power(cost) for cost in costs)), math.ceil(max(_power(cost) for cost in costs))
    high = max(high, low + 1)

    def point(cost: Cost) -> tuple[float, float]:
        x = left + (_power(cost) - low) / (high - low) * width
        return x, top + (1 - max(0.0, min(1.0, cost.quality))) * height

    parts = []
    for power in range(low, high + 1):
        x = left + (power - low) / (high - low) * width
        parts += [
            _line(x, top, x, top + height, _GREY, 0.4),
            _text(x, top + height + 14, f"{10.0**power:,g}", "middle"),
        ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = top + (1 - tick) * height
        parts += [_line(left, y, left + width, y, _GREY, 0.4), _text(left - 6, y + 4, f"{tick:g}", "end")]
    frontier = sorted(point(cost) for cost in costs if cost.on_frontier)
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in frontier)
    parts.append(f'<polyline points="{corners}" fill="none" stroke="{_OURS}" stroke-width="1.2"/>')
    for cost in costs:
        x, y = point(cost)
        colour = _OURS if cost.on_frontier else _GREY
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
    names = [titles.get(cost.method, cost.method) for cost in costs]
    parts += _names_beside([point(cost) for cost in costs], names, left)
    parts.append(_text(left + width / 2, top + height + 32, heading, "middle"))
    return _svg(left + width + 220, top + height + 40, parts)


def _names_beside(points: Sequence[tuple[float, float]], names: Sequence[str], left: float) -> list[str]:
    """A name beside each point: right of it, else left of it, else higher or lower with a line; none on another."""
    parts, occupied = [], [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    for (x, y), name in sorted(zip(points, names, strict=True), key=lambda case: case[0][1]):
        width = text_width(name, _TYPE_SIZE)
        for step in range(2 * len(points) + 1):
            shift = _ROW * ((step + 1) // 2) * (1 if step % 2 else -1)
            starts = [start for start in (x + 7, x - 7 - width) if start >= left]
            boxes = [(start, y + shift - 6, start + width, y + shift + 6) for start in starts]
            free = [box for box in boxes if not any(_overlap(box, other) for other in occupied)]
            if free:
                break
        box = free[0] if free else boxes[0]
        occupied.append(box)
        if shift:
            parts.append(_line(x, y, box[0] if box[0] > x else box[2], y + shift, _GREY, 0.8))
        parts.append(_text(box[0], y + shift + 4, name, "start"))
    return parts


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _power(cost: Cost) -> float:
    return math.log10(cost.price)


def _values(cell: Cell) -> list[float]:
    ours = [] if cell.ours is None or math.isnan(cell.ours.mean) else [cell.ours.mean]
    return ours if cell.paper is None else [*ours, cell.paper]


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}">{html.escape(text)}</text>'


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    style = f'font-family="sans-serif" font-size="{_TYPE_SIZE}"'
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
    # A light ground of its own: a page of the documentation may be dark.
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{ground}{"".join(parts)}</svg>\n'
