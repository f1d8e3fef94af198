"""Graphs, molecules, digits and sentences with their motifs, as SVG elements in the colours of :mod:`mage.drawing`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from canvas import INK, SOFT, text

import mage
from mage.drawing import AGAINST, FOR, across, coloured_motifs, outlines, stress_layout
from mage.drawing.molecule_shapes import MoleculeDrawing, Shape, draw_molecule
from mage.drawing.molecules import bonds_of
from mage.drawing.svg import line_path, motif_stroke

TRUTH = "#3b6fb6"
LEGEND = ((TRUTH, "ground truth"), (FOR, "speaks for"), (AGAINST, "speaks against"))
WIDTH, HEIGHT, EDGE = 300.0, 230.0, 22.0


@dataclass(frozen=True)
class Group:
    """Nodes to colour: a motif, or a part of the ground truth."""

    nodes: frozenset[int]
    colour: str
    strength: float = 1.0


def groups_of(explanation: mage.Explanation, signed: bool = True) -> list[Group]:
    """The motifs of an explanation, stronger ones darker.

    Args:
        explanation: What to draw.
        signed: False for methods whose scores only rank: what they choose, they choose as evidence for the output.
    """
    if not signed:
        return [Group(frozenset(motif.nodes), FOR) for motif in explanation.motifs]
    return [Group(frozenset(motif.nodes), colour, strength) for motif, colour, strength in coloured_motifs(explanation)]


def truth_groups(motifs: Iterable[Iterable[int]]) -> list[Group]:
    """Ground-truth motifs in a colour that takes no side."""
    return [Group(frozenset(nodes), TRUTH) for nodes in motifs]


def graph_places(data: Any, size: tuple[float, float] = (WIDTH, HEIGHT)) -> tuple[np.ndarray, tuple[float, float]]:
    """Where nodes are drawn, the longer direction of the graph across, and how much of the size this takes."""
    graph = mage.PlayerGraph.from_edge_index(data.edge_index.numpy(), int(data.num_nodes))
    place = across(stress_layout(graph.edges, graph.num_players))
    low, high = place.min(axis=0), place.max(axis=0)
    scale = ((np.array(size) - 2 * EDGE) / np.maximum(high - low, 1e-9)).min()
    height = float((high - low)[1] * scale + 2 * EDGE)
    return (place - (low + high) / 2) * scale + np.array([size[0], height]) / 2, (size[0], height)


def graph_drawing(data: Any, place: np.ndarray, groups: Sequence[Group]) -> str:
    """Nodes and edges over their groups."""
    pairs = {tuple(sorted(pair)) for pair in data.edge_index.T.tolist()}
    radius = 5.0 if len(place) <= 45 else 3.6
    parts = [_underlay(group, pairs, place, 2 * radius + 9) for group in groups]
    parts += [
        f'<path d="{line_path(place[i], place[j])}" stroke="{INK}" stroke-opacity="0.45" stroke-width="1.2"/>'
        for i, j in sorted(pairs)
    ]
    owner = {node: group.colour for group in groups for node in group.nodes}
    for node, (x, y) in enumerate(place):
        colour = owner.get(node, "#ffffff")
        ring = owner.get(node, SOFT)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" stroke="{ring}"/>')
    return "".join(parts)


def molecule_height(molecule: Any, width: float = WIDTH, most: float = HEIGHT) -> float:
    """How high a molecule is drawn at a width, so that no panel is mostly empty."""
    place = np.array(_drawn(molecule, (width, most)).places)
    return float(min(most, np.ptp(place[:, 1]) + 2.4 * EDGE))


def molecule_drawing(molecule: Any, groups: Sequence[Group], size: tuple[float, float] = (WIDTH, HEIGHT)) -> str:
    """A molecule as RDKit draws it, in one ink, over its groups of atoms."""
    drawing, pairs = _drawn(molecule, size), bonds_of(molecule)
    place = np.array(drawing.places)
    bond = float(np.median([np.hypot(*(place[i] - place[j])) for i, j in pairs]))
    under = "".join(_underlay(group, pairs, place, max(11.0, 0.62 * bond)) for group in groups)
    return under + "".join(_path(shape) for shape in drawing.shapes)


def _drawn(molecule: Any, size: tuple[float, float]) -> MoleculeDrawing:
    return draw_molecule(molecule, (int(size[0]), int(size[1])), padding=0.09)


def _path(shape: Shape) -> str:
    line = f'stroke="{INK}" stroke-width="{shape.width:g}" stroke-linecap="round"' if shape.width else ""
    return f'<path d="{shape.path}" fill="{INK if shape.filled else "none"}" {line}/>'


def digit_drawing(image: np.ndarray, segments: np.ndarray, groups: Sequence[Group], side: float = HEIGHT) -> str:
    """A grey image with its groups of super-pixels outlined."""
    scale = side / image.shape[0]
    head = f'<g transform="scale({scale:.4f})" shape-rendering="crispEdges">'
    parts = [f'{head}<rect width="{image.shape[1]}" height="{image.shape[0]}" fill="#000"/>']
    for row, column in np.argwhere(image > 12).tolist():
        shade = f"#{int(image[row, column]):02x}" + 2 * f"{int(image[row, column]):02x}"
        parts.append(f'<rect x="{column}" y="{row}" width="1.03" height="1.03" fill="{shade}"/>')
    for group in groups:
        loops = outlines(np.isin(segments, sorted(group.nodes)))
        path = "".join("M" + "L".join(f"{x} {y}" for x, y in loop.tolist()) + "Z" for loop in loops)
        dash = ' stroke-dasharray="1.2 0.7"' if group.colour == AGAINST else ""
        parts.append(
            f'<path d="{path}" fill="{group.colour}" fill-opacity="{0.3 + 0.3 * group.strength:.2f}" '
            f'fill-rule="evenodd" stroke="{group.colour}" stroke-width="0.35"{dash}/>'
        )
    return "".join(parts) + "</g>"


def sentence_drawing(explanation: mage.Explanation, width: float) -> tuple[str, float]:
    """Words in reading order with phrases coloured, and how high that is."""
    size, step, line = 17.0, 10.2, 36.0  # the advance of a monospaced letter is set below, whatever the font
    groups = groups_of(explanation)
    whole, read = explanation.subject.text, 0
    parts, x, y, before = [], 14.0, 24.0, step
    for node, word in enumerate(explanation.subject.words):
        long = step * len(word)
        read = whole.find(word, read) + len(word)
        gap = step if whole[read : read + 1].isspace() else 0.0
        left, right = (4.0 if room else 0.5 for room in (before, gap))  # no room beside hyphens and commas
        if x + long > width - 14:
            x, y = 14.0, y + line
        for group in groups:
            if node in group.nodes:
                dash = ' stroke-dasharray="5 3"' if group.colour == AGAINST else ""
                parts.append(
                    f'<rect x="{x - left:.1f}" y="{y - 18:.1f}" width="{left + long + right:.1f}" height="25" rx="5" '
                    f'fill="{group.colour}" fill-opacity="{0.12 + 0.28 * group.strength:.2f}" '
                    f'stroke="{group.colour}" stroke-width="1.4"{dash}/>'
                )
        fixed = {"font_family": "monospace", "textLength": f"{long:.1f}", "lengthAdjust": "spacingAndGlyphs"}
        parts.append(text(x, y, word, size, **fixed))
        x, before = x + long + gap, gap
    return "".join(parts), y + 18


def _underlay(group: Group, pairs: Iterable[tuple[int, int]], place: np.ndarray, width: float) -> str:
    """A broad stroke along the edges of a group, dashed in the middle where it speaks against."""
    opacity, dash = 0.3 + 0.3 * group.strength, (width / 3, "6 9")
    stroke = motif_stroke(group.nodes, pairs, place, colour=group.colour, width=width, opacity=opacity, dash=dash)
    return f"<g>{stroke}</g>"
