"""Pieces of SVG that stand for motifs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mage._core.typing import Floats
from mage.drawing.colours import AGAINST


def line_path(start: Floats, end: Floats) -> str:
    """A straight line, as the content of a path's ``d``."""
    return f"M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}"


def motif_stroke(
    nodes: Collection[int],
    pairs: Iterable[tuple[int, int]],
    place: Floats,
    *,
    colour: str,
    width: float,
    opacity: float,
    dash: tuple[float, str],
) -> str:
    """A broad stroke along the edges of a motif, with a dashed line along its middle where it speaks against.

    Args:
        nodes: The nodes of the motif.
        pairs: Edges of the graph.
        place: Positions of the nodes [n, 2].
        colour: Colour of the motif.
        width: Width of the stroke.
        opacity: How strong it is.
        dash: Width and pattern of the dashed line, which shows the side without colour.
    """
    members = set(nodes)
    path = "".join(f"M{place[v][0]:.1f} {place[v][1]:.1f}h.01" for v in sorted(members))
    path += "".join(line_path(place[i], place[j]) for i, j in sorted(pairs) if i in members and j in members)
    shared = f'd="{path}" fill="none" stroke="{colour}" stroke-linecap="round" stroke-linejoin="round"'
    stroke = f'<path {shared} stroke-width="{width:.1f}" stroke-opacity="{opacity:.2f}"/>'
    if colour == AGAINST:
        stroke += f'<path {shared} stroke-width="{dash[0]:.1f}" stroke-dasharray="{dash[1]}"/>'
    return stroke
