"""Pictures as plain SVG: panels with a title and a note, set side by side under one heading."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

INK, SOFT, FAINT = "#1b2126", "#4d565e", "#a9adaf"
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MARGIN, GAP, TITLE = 24, 18, 52


@dataclass(frozen=True)
class Panel:
    """One drawing with what stands above it.

    Args:
        title: Name of the method.
        note: How well it did and what it cost.
        body: SVG elements.
        width: Width of the drawing.
        height: Height of the drawing.
        framed: Whether this panel is the one to look at first.
    """

    title: str
    note: str
    body: str
    width: float
    height: float
    framed: bool = False


def text(x: float, y: float, words: str, size: float, **attributes: str | float) -> str:
    """A line of text; attributes as in SVG, underscores for hyphens."""
    settings = {"fill": INK, "font_family": FONT, **attributes}
    more = "".join(f' {name.replace("_", "-")}="{escape(str(value))}"' for name, value in settings.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}"{more}>{escape(words)}</text>'


def figure(
    heading: str, lines: Sequence[str], panels: Sequence[Panel], columns: int, legend: Sequence[tuple[str, str]] = ()
) -> str:
    """A whole SVG document: heading, lines below it, panels row by row, and what the colours mean.

    Args:
        heading: What is shown.
        lines: What to know about it; long lines are wrapped.
        panels: The drawings; all of a row are as high as its highest.
        columns: Panels in a row.
        legend: Colours and their meanings; those that no panel uses are left out.
    """
    rows = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    wide = max(panel.width for panel in panels)
    width = 2 * MARGIN + min(columns, len(panels)) * (wide + GAP) - GAP
    parts, y = [text(MARGIN, MARGIN + 16, heading, 21, font_weight="bold")], MARGIN + 24.0
    for line in lines:
        for piece in textwrap.wrap(line, int((width - 2 * MARGIN) / 6.6)):
            y += 20
            parts.append(text(MARGIN, y, piece, 14, fill=SOFT))
    y += 22
    for row in rows:
        high = max(panel.height for panel in row) + TITLE
        parts += [_placed(panel, MARGIN + i * (wide + GAP), y, wide, high) for i, panel in enumerate(row)]
        y += high + GAP
    x = float(MARGIN)
    used = [(colour, meaning) for colour, meaning in legend if any(colour in panel.body for panel in panels)]
    for colour, meaning in used:
        dashed = ' stroke-dasharray="7 5"' if "against" in meaning else ""
        parts.append(
            f'<path d="M{x:.1f} {y + 8:.1f}h26" stroke="{colour}" stroke-width="7" stroke-opacity="0.75"{dashed}/>'
        )
        parts.append(text(x + 34, y + 13, meaning, 13, fill=SOFT))
        x += 34 + 7.0 * len(meaning) + 24
    y += 30 if used else 0
    size = f'width="{width:.0f}" height="{y:.0f}" viewBox="0 0 {width:.0f} {y:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{escape(heading)}</title>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{chr(10).join(parts)}\n</svg>\n'
    )


def _placed(panel: Panel, x: float, y: float, width: float, height: float) -> str:
    edge = f'stroke="{INK}" stroke-width="1.6"' if panel.framed else f'stroke="{FAINT}" stroke-opacity="0.55"'
    inside = x + (width - panel.width) / 2
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="9" fill="none" {edge}/>'
        + text(x + 14, y + 22, panel.title, 15, font_weight="bold")
        + text(x + 14, y + 41, panel.note, 12.5, fill=SOFT)
        + f'<g transform="translate({inside:.1f} {y + TITLE:.1f})">{panel.body}</g>'
    )
