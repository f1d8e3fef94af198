"""A still picture of an explanation as SVG, without any other library: for notebooks and readers without scripts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import shortest_path

from mage._core.typing import Floats, Integers
from mage.report.drawing import undirected_edges

if TYPE_CHECKING:
    from mage.explanation import Explanation

FOR, AGAINST = "#00755a", "#c73a1b"
_INK = "#80868b"  # reads on white and on black
_WIDTH, _HEIGHT, _MARGIN = 640.0, 420.0, 34.0
_MOST_LABELS = 80
_ROUNDS = 100
_DIRECTIONS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))


def static_svg(explanation: Explanation, places: Floats | None = None) -> str:
    """The graph with its motifs as one SVG element: outlines green for, red and dashed against, stronger ones darker.

    Args:
        explanation: What to draw.
        places: Positions of the nodes [n, 2]; by default by :func:`stress_layout`.
    """
    edges = np.array(undirected_edges(explanation), dtype=np.int64).reshape(-1, 2)
    place = _scaled(stress_layout(edges, explanation.num_nodes) if places is None else places)
    radius = float(np.clip(90 / max(explanation.num_nodes, 1) ** 0.5, 3, 11))
    parts = [_motif_shapes(explanation, edges, place, radius)]
    parts += [_line(place[i], place[j]) for i, j in edges.tolist()]
    sides = {node: motif.sign for motif in explanation.motifs for node in motif.nodes}
    for node in range(explanation.num_nodes):
        x, y = place[node]
        colour = {1: FOR, -1: AGAINST}.get(sides.get(node, 0), _INK)
        fill = colour if node in sides else "#ffffff"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{colour}"/>')
    if explanation.num_nodes <= _MOST_LABELS:
        parts += [
            f'<text x="{place[node][0]:.1f}" y="{place[node][1] + radius + 11:.1f}" text-anchor="middle" '
            f'font-size="10" font-family="sans-serif" fill="currentColor">{html.escape(name[:18])}</text>'
            for node, name in enumerate(explanation.names)
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="{_WIDTH:g}" '
        f'height="{_HEIGHT:g}" role="img"><title>{html.escape(explanation.headline)}</title>{"".join(parts)}</svg>'
    )


def stress_layout(edges: Integers, num_nodes: int) -> Floats:
    """Positions [n, 2] whose distances are like those in the graph: stress majorisation from classical scaling.

    Each round is one Guttman transform (de Leeuw 1977; Gansner, Koren and North 2004), O(n²). No random numbers, so
    the same graph gives the same picture.
    """
    if num_nodes == 1:
        return np.zeros((1, 2))
    ones = np.ones(len(edges))
    adjacency = coo_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes))
    distance = shortest_path(adjacency, directed=False, unweighted=True)
    connected = np.isfinite(distance)
    distance[~connected] = distance[connected].max() + 1.5  # parts of the graph stand side by side
    weight = 1 / np.where(distance == 0, 1, distance) ** 2
    np.fill_diagonal(weight, 0)
    inverse = np.asarray(np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight), dtype=np.float64)
    starts = _starts(distance)[: 2 if num_nodes > _MOST_LABELS else None]  # no start saves the looks of a large graph
    found = [_majorised(place, distance, weight, inverse) for place in starts]
    stresses = [float((weight * (_apart(place) - distance) ** 2).sum()) for place in found]
    return found[int(np.argmin(stresses))]


def _starts(distance: Floats) -> list[Floats]:
    """Several beginnings, for majorisation ends in the nearest minimum: pairs of the first directions of scaling."""
    count = len(distance)
    centred = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centred @ distance**2 @ centred)
    scaled = (vectors * np.sqrt(np.maximum(values, 1e-9)))[:, ::-1]
    # Nodes with the same neighbours begin in the same place; a spiral too small to see sets them apart.
    turn = np.arange(count) * 2.399963
    spiral = 0.05 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    chosen = [pair for pair in _DIRECTIONS if max(pair) < count] or [(0, count - 1)]
    return [scaled[:, list(pair)] + spiral for pair in chosen]


def _majorised(place: Floats, distance: Floats, weight: Floats, inverse: Floats) -> Floats:
    for _ in range(_ROUNDS):
        ratio = -weight * distance / np.maximum(_apart(place), 1e-9)
        np.fill_diagonal(ratio, 0)
        np.fill_diagonal(ratio, -ratio.sum(axis=1))
        place = inverse @ (ratio @ place)
    return place


def _apart(place: Floats) -> Floats:
    return np.asarray(np.hypot(*(place[:, None, axis] - place[None, :, axis] for axis in (0, 1))))


def _scaled(place: Floats) -> Floats:
    """Positions in the picture, its longer direction across."""
    place = np.asarray(place, dtype=np.float64)
    place = place - place.mean(axis=0)
    directions = np.linalg.svd(place, full_matrices=False)[2]
    place = place @ directions.T
    place = np.column_stack([place, np.zeros((len(place), 2 - place.shape[1]))]) if place.shape[1] < 2 else place
    low, high = place.min(axis=0), place.max(axis=0)
    room = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    scale = min((room / np.maximum(high - low, 1e-9)).min(), 70.0)
    return np.asarray((place - (low + high) / 2) * scale + np.array([_WIDTH, _HEIGHT]) / 2)


def _motif_shapes(explanation: Explanation, edges: Integers, place: Floats, radius: float) -> str:
    strongest = max((abs(motif.score) for motif in explanation.motifs), default=1.0) or 1.0
    parts = []
    for motif in explanation.motifs:
        inside = set(motif.nodes)
        colour = FOR if motif.sign > 0 else AGAINST
        path = "".join(f"M{place[v][0]:.1f} {place[v][1]:.1f}h.01" for v in motif.nodes)
        within = [(i, j) for i, j in edges.tolist() if i in inside and j in inside]
        path += "".join(f"M{place[i][0]:.1f} {place[i][1]:.1f}L{place[j][0]:.1f} {place[j][1]:.1f}" for i, j in within)
        shade = 0.15 + 0.35 * abs(motif.score) / strongest
        shared = f'd="{path}" fill="none" stroke="{colour}" stroke-linecap="round"'
        parts.append(f'<path {shared} stroke-width="{2 * radius + 16:.1f}" stroke-opacity="{shade:.2f}"/>')
        if motif.sign < 0:  # a dashed line along its edges says the side without colour
            parts.append(f'<path {shared} stroke-width="3" stroke-dasharray="7 6"/>')
    return "".join(parts)


def _line(start: Floats, end: Floats) -> str:
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{_INK}" stroke-opacity=".7"/>'
    )
