"""What a notebook shows: of an explanation its interactive page in a frame, of interactions a picture and a table."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from mage.drawing import drawable, side_colour
from mage.drawing.colours import LINE
from mage.report.html_tables import motif_table
from mage.report.page import explanation_page
from mage.report.still_picture import still_picture

if TYPE_CHECKING:
    from mage.explanation import Explanation
    from mage.indices import Interactions

_MOST_DRAWN = 120  # nodes; a picture of more says little in a notebook
_MOST_IN_MAP = 60
_CELL = 12
_MARGIN = 70
_FRAME_HEIGHT = 820


def explanation_html(explanation: Explanation) -> str:
    """The interactive page in a frame that can reach nothing outside it, and below it a still picture and a table.

    The frame shows the picture by itself where scripts may not run. Viewers that drop frames, such as those of code
    hosts, are left with the part below.
    """
    frame = html.escape(explanation_page(explanation), quote=True)
    picture = still_picture(drawable(explanation, _MOST_DRAWN))
    how = html.escape(f"{explanation.how}; {explanation.num_queries:,} runs of the model, {explanation.seconds:.2f} s")
    return (
        f'<div><iframe srcdoc="{frame}" sandbox="allow-scripts allow-downloads" width="100%" height="{_FRAME_HEIGHT}" '
        f'loading="lazy" style="border:0" title="{html.escape(explanation.verdict)}"></iframe>'
        f"<details><summary>{html.escape(explanation.verdict)}: still picture and table</summary>"
        f"{picture}{motif_table(explanation)}<p><small>{how}. <code>explanation.save_html(path)</code> writes "
        "the page to a file.</small></p></details></div>"
    )


def interactions_html(interactions: Interactions) -> str:
    """The first line of its ``repr``, a heat map of pairs, and the strongest sets as a table."""
    first = repr(interactions).splitlines()[0]
    rows = "".join(
        f"<tr><td>{html.escape(', '.join(interactions.names[player] for player in term.players))}</td>"
        f"<td>{term.value:+.4g}{'' if interactions.exact else f' ± {term.std_error:.2g}'}</td></tr>"
        for term in interactions.top(5)
    )
    return f"<div><p><b>{html.escape(first)}</b></p>{_heat_map(interactions)}<table>{rows}</table></div>"


def _heat_map(interactions: Interactions) -> str:
    """Pairs as cells, single players on the diagonal; a dash marks what is negative."""
    count = interactions.num_players
    if interactions.order < 2 or not 2 <= count <= _MOST_IN_MAP:
        return ""
    matrix = interactions.matrix
    reach = float(np.nanmax(np.abs(matrix))) or 1.0
    cells = []
    for (i, j), value in np.ndenumerate(matrix):
        shade = float(np.sqrt(min(1.0, abs(value) / reach)))
        if not shade > 0.02:
            continue
        x, y = _MARGIN + j * _CELL, _MARGIN + i * _CELL
        colour = side_colour(value)
        tip = html.escape(f"{interactions.names[i]}, {interactions.names[j]}: {value:+.4g}")
        cells.append(
            f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{colour}" fill-opacity="{shade:.2f}">'
            f"<title>{tip}</title></rect>"
        )
        if value < 0:
            cells.append(f'<path d="M{x + 3} {y + _CELL / 2}h{_CELL - 6}" stroke="#fff" stroke-width="1.3"/>')
    labels = "".join(
        f'<text x="{_MARGIN - 4}" y="{_MARGIN + (i + 0.8) * _CELL:.1f}" text-anchor="end">{name}</text>'
        f'<text transform="translate({_MARGIN + (i + 0.8) * _CELL:.1f} {_MARGIN - 4}) rotate(-90)">{name}</text>'
        for i, name in enumerate(html.escape(name[:12]) for name in interactions.names)
    )
    side = _MARGIN + count * _CELL + 2
    frame = f'<rect x="{_MARGIN}" y="{_MARGIN}" width="{count * _CELL}" height="{count * _CELL}" '
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="{side}" height="{side}" '
        f'font-size="9" font-family="sans-serif" fill="currentColor">{"".join(cells)}'
        f'{frame}fill="none" stroke="{LINE}"/>{labels}</svg>'
    )
