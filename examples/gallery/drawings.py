"""Graphs, molecules, digits and sentences with their motifs, as SVG elements in the colours of :mod:`mage.plots`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from canvas import INK, SOFT, text

import mage
from mage.plots._outlines import outlines
from mage.plots.indices import AGAINST, FOR, layout

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
    strongest = max((abs(motif.score) for motif in explanation.motifs), default=1.0) or 1.0
    return [
        Group(frozenset(motif.nodes), FOR if motif.sign > 0 else AGAINST, abs(motif.score) / strongest)
        for motif in explanation.motifs
    ]


def truth_groups(motifs: Iterable[Iterable[int]]) -> list[Group]:
    """Ground-truth motifs in a colour that takes no side."""
    return [Group(frozenset(nodes), TRUTH) for nodes in motifs]


def graph_places(data: Any, size: tuple[float, float] = (WIDTH, HEIGHT)) -> tuple[np.ndarray, tuple[float, float]]:
    """Where nodes are drawn, the longer direction of the graph across, and how much of the size this takes."""
    graph = mage.PlayerGraph.from_edge_index(data.edge_index.numpy(), int(data.num_nodes))
    place = layout(graph)
    place = place - place.mean(axis=0)
    place = place @ np.linalg.svd(place, full_matrices=False)[2].T
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
        f'<path d="{_line(place[i], place[j])}" stroke="{INK}" stroke-opacity="0.45" stroke-width="1.2"/>'
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
    _, place = _drawn(molecule, (width, most))
    return float(min(most, np.ptp(place[:, 1]) + 2.4 * EDGE))


def molecule_drawing(molecule: Any, groups: Sequence[Group], size: tuple[float, float] = (WIDTH, HEIGHT)) -> str:
    """A molecule as RDKit draws it, in one ink, over its groups of atoms."""
    svg, place = _drawn(molecule, size)
    pairs = {tuple(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))) for bond in molecule.GetBonds()}
    bond = float(np.median([np.hypot(*(place[i] - place[j])) for i, j in pairs]))
    under = "".join(_underlay(group, pairs, place, max(11.0, 0.62 * bond)) for group in groups)
    return under + "".join(_shapes(svg))


def _drawn(molecule: Any, size: tuple[float, float]) -> tuple[str, np.ndarray]:
    """RDKit's drawing, and where it put the atoms."""
    from rdkit.Chem.Draw import rdMolDraw2D

    canvas = rdMolDraw2D.MolDraw2DSVG(int(size[0]), int(size[1]))
    options: Any = canvas.drawOptions()
    options.useBWAtomPalette()  # colour is for the groups
    options.clearBackground = False
    options.padding = 0.09
    options.bondLineWidth = 2
    canvas.DrawMolecule(rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=True, addChiralHs=False))
    canvas.FinishDrawing()
    points = [canvas.GetDrawCoords(atom) for atom in range(molecule.GetNumAtoms())]
    return canvas.GetDrawingText(), np.array([[point.x, point.y] for point in points])


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
    path = "".join(f"M{place[v][0]:.1f} {place[v][1]:.1f}h.01" for v in sorted(group.nodes))
    path += "".join(_line(place[i], place[j]) for i, j in sorted(pairs) if {i, j} <= group.nodes)
    shade = 0.3 + 0.3 * group.strength
    shared = f'd="{path}" fill="none" stroke="{group.colour}" stroke-linecap="round" stroke-linejoin="round"'
    stroke = f'<path {shared} stroke-width="{width:.1f}" stroke-opacity="{shade:.2f}"/>'
    if group.colour == AGAINST:  # says the side without colour
        stroke += f'<path {shared} stroke-width="{width / 3:.1f}" stroke-dasharray="6 9"/>'
    return f"<g>{stroke}</g>"


def _line(start: np.ndarray, end: np.ndarray) -> str:
    return f"M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}"


def _shapes(svg: str) -> Iterable[str]:
    """RDKit's paths with attributes instead of styles, which pages with a strict policy refuse."""
    for tag in re.findall(r"<path[^>]*>", svg):
        path = re.search(r"\sd='([^']*)'", tag)
        if path is None:
            continue
        style = dict(re.findall(r"([\w-]+):([^;']+)", (re.search(r"style='([^']*)'", tag) or [""])[0]))
        fill = (re.search(r"\sfill='([^']*)'", tag) or [None, style.get("fill", "none")])[1]
        stroke = style.get("stroke", "none")
        width = style.get("stroke-width", "0").removesuffix("px")
        drawn = (
            f'stroke="{INK}" stroke-width="{width}" stroke-linecap="round"' if stroke not in {"none", "#FFFFFF"} else ""
        )
        yield f'<path d="{path[1]}" fill="{INK if fill not in ("none", "#FFFFFF") else "none"}" {drawn}/>'
