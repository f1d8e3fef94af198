"""A still picture of an explanation as SVG, without any other library: for notebooks and readers without scripts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from mage._core.typing import Floats
from mage.drawing import across, coloured_motifs, stress_layout, undirected_edges
from mage.drawing.colours import LINE
from mage.drawing.svg import motif_stroke

if TYPE_CHECKING:
    from mage.explanation import Explanation

_WIDTH, _HEIGHT, _MARGIN = 640.0, 420.0, 34.0
_MOST_LABELS = 80
_LONGEST_EDGE = 70.0


def still_picture(explanation: Explanation, places: Floats | None = None) -> str:
    """The graph with its motifs as one SVG element: outlines green for, red and dashed against, stronger ones darker.

    Args:
        explanation: What to draw.
        places: Positions of the nodes [n, 2]; by default by :func:`mage.drawing.stress_layout`.
    """
    edges = undirected_edges(explanation)
    if places is None:
        places = stress_layout(np.array(edges, dtype=np.int64), explanation.num_nodes)
    place = _scaled(places)
    radius = float(np.clip(90 / max(explanation.num_nodes, 1) ** 0.5, 3, 11))
    motifs = coloured_motifs(explanation)
    colours = {node: colour for motif, colour, _ in motifs for node in motif.nodes}
    parts = [
        motif_stroke(
            motif.nodes,
            explanation.motif_edges(motif),
            place,
            colour=colour,
            width=2 * radius + 16,
            opacity=0.15 + 0.35 * strength,
            dash=(3, "7 6"),
        )
        for motif, colour, strength in motifs
    ]
    parts += [_line(place[i], place[j]) for i, j in edges]
    parts += [_node(place[node], radius, colours.get(node)) for node in range(explanation.num_nodes)]
    if explanation.num_nodes <= _MOST_LABELS:
        parts += [_label(place[node], radius, name) for node, name in enumerate(explanation.names)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="{_WIDTH:g}" '
        f'height="{_HEIGHT:g}" role="img"><title>{html.escape(explanation.headline)}</title>{"".join(parts)}</svg>'
    )


def _scaled(place: Floats) -> Floats:
    """Positions in the picture, its longer direction across."""
    turned = across(place)
    low, high = turned.min(axis=0), turned.max(axis=0)
    room = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    scale = min((room / np.maximum(high - low, 1e-9)).min(), _LONGEST_EDGE)
    return np.asarray((turned - (low + high) / 2) * scale + np.array([_WIDTH, _HEIGHT]) / 2)


def _line(start: Floats, end: Floats) -> str:
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{LINE}" stroke-opacity=".7"/>'
    )


def _node(place: Floats, radius: float, colour: str | None) -> str:
    paint = f'fill="{colour or "#ffffff"}" stroke="{colour or LINE}"'
    return f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius:.1f}" {paint}/>'


def _label(place: Floats, radius: float, name: str) -> str:
    return (
        f'<text x="{place[0]:.1f}" y="{place[1] + radius + 11:.1f}" text-anchor="middle" '
        f'font-size="10" font-family="sans-serif" fill="currentColor">{html.escape(name[:18])}</text>'
    )
