"""Scenes drawn by matplotlib: the same picture as on pages and in notebooks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.typing import Floats
from mage.drawing import coloured_motifs
from mage.drawing.colours import TYPE_COLOURS, ColouredMotif
from mage.drawing.motif_places import badge_places, motif_letter, motif_pairs
from mage.drawing.pictures import outlines
from mage.drawing.scene import LABEL_SIZE, WORD_SIZE, Scene
from mage.drawing.svg import INK, SOFT, SURFACE, tint
from mage.motifs import Motif

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mage.explanation import Explanation

_TOKEN = re.compile(r"[A-Za-z]|-?\d*\.?\d+(?:[eE][-+]?\d+)?")
_FINE = 2.0  # units between the points at which the distance from a motif is taken


def draw_scene(axes: Axes, explanation: Explanation, scene: Scene, labels: bool = True) -> None:
    """Draw a scene with its motifs; the axes must have their place in the figure already.

    Args:
        axes: Where to draw.
        explanation: What to draw.
        scene: Where everything lies; see :func:`mage.drawing.scene_of`.
        labels: Whether to write names.
    """
    box = scene.box
    axes.set_xlim(box.x, box.x + box.width)
    axes.set_ylim(box.y + box.height, box.y)
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure: Any = axes.figure
    frame = axes.get_position()
    width, height = figure.get_size_inches()
    points = 72 * min(frame.width * width / box.width, frame.height * height / box.height)
    motifs = coloured_motifs(explanation)
    _draw_below(axes, scene, points)
    _draw_veil(axes, scene, explanation)
    for motif in motifs:
        {"sentence": _draw_words, "image": _draw_regions}.get(scene.kind, _draw_blob)(axes, scene, motif, points)
    if scene.kind == "graph":
        _draw_graph(axes, scene, motifs, points)
    for ink in scene.ink:
        style = {"facecolor": INK, "linewidth": 0} if ink.filled else {"facecolor": "none", "edgecolor": INK}
        _add_path(axes, ink.path, **({"linewidth": max(ink.width, 0.5) * points, "zorder": 5} | style))
    _draw_rings(axes, scene, explanation, points)
    if labels:
        _draw_labels(axes, scene, explanation, points)
    for rank, motif in enumerate(motifs):
        for x, y in badge_places(scene, motif.motif.nodes):
            _draw_badge(axes, x, y, motif, rank, points)


def region(mask: Any, **style: Any) -> Any:
    """A region of a picture as one shape with its holes, in pixels; None where it is empty."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    loops = outlines(mask)
    if not loops:
        return None
    parts = [Path(np.concatenate([loop, loop[:1]]), closed=True) for loop in loops]
    return PathPatch(Path.make_compound_path(*parts), **style)


def _draw_below(axes: Axes, scene: Scene, points: float) -> None:
    if scene.picture is not None:
        height, width = (scene.picture.unit * side for side in scene.picture.segments.shape)
        smooth = "nearest" if scene.picture.unit > 3 else "antialiased"
        extent = (0.0, width, height, 0.0)
        axes.imshow(scene.picture.pixels, cmap="gray", vmin=0, vmax=255, extent=extent, interpolation=smooth, zorder=0)
        axes.set_xlim(scene.box.x, scene.box.x + scene.box.width)
        axes.set_ylim(scene.box.y + scene.box.height, scene.box.y)
    for arc in scene.arcs:
        _add_path(axes, arc, facecolor="none", edgecolor=SOFT, linewidth=1.3 * points, zorder=0)


def _draw_veil(axes: Axes, scene: Scene, explanation: Explanation) -> None:
    """Pale the regions of a picture that are in no motif."""
    if scene.picture is not None and explanation.all_motifs:
        outside = ~np.isin(scene.picture.segments, np.flatnonzero(explanation.all_labels))
        _add_region(axes, scene, outside, facecolor=SURFACE, alpha=0.55, linewidth=0, zorder=1)


def _draw_blob(axes: Axes, scene: Scene, motif: ColouredMotif, points: float) -> None:
    """A soft shape along the edges of a motif, hatched where it is against the output."""
    is_for = motif.motif.sign > 0
    x, y, distance = _distances(scene, motif.motif)
    density = tint(motif.strength, is_for)
    filled = axes.contourf(
        x, y, distance, levels=[-1.0, scene.reach], colors=[(*_rgb(motif.colour), density)], zorder=1, antialiased=True
    )
    del filled
    if not is_for:
        _hatched(axes, x, y, distance, scene.reach, motif.colour)
    edge = axes.contour(x, y, distance, levels=[scene.reach], colors=[motif.colour], zorder=1.2)
    edge.set_linewidth((1.5 + 1.5 * motif.strength) * points)


def _hatched(axes: Axes, x: Floats, y: Floats, distance: Floats, reach: float, colour: str) -> None:
    from matplotlib import rc_context

    with rc_context({"hatch.color": colour, "hatch.linewidth": 0.8}):
        stripes = axes.contourf(x, y, distance, levels=[-1.0, reach], colors="none", hatches=["////"], zorder=1.1)
    stripes.set_edgecolor(colour)
    stripes.set_linewidth(0.0)


def _distances(scene: Scene, motif: Motif) -> tuple[Floats, Floats, Floats]:
    """How far points of a grid around a motif lie from its nodes and edges."""
    nodes = list(motif.nodes)
    places = scene.places[nodes]
    margin = scene.reach + 2 * _FINE
    (left, top), (right, bottom) = places.min(axis=0) - margin, places.max(axis=0) + margin
    x = np.arange(left, right + _FINE, _FINE)
    y = np.arange(top, bottom + _FINE, _FINE)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    distance = np.full(grid.shape[:2], np.inf)
    lines = [*((v, v) for v in nodes), *motif_pairs(motif, scene.edges)]
    for i, j in lines:
        start, along = scene.places[i], scene.places[j] - scene.places[i]
        share = np.clip(((grid - start) @ along) / max(float(along @ along), 1e-9), 0, 1)
        away = grid - start - share[..., None] * along
        distance = np.minimum(distance, np.hypot(away[..., 0], away[..., 1]))
    return x, y, distance


def _draw_words(axes: Axes, scene: Scene, motif: ColouredMotif, points: float) -> None:
    is_for = motif.motif.sign > 0
    number = {pair: at for at, pair in enumerate(scene.edges)}
    dash: Any = "-" if is_for else (0, (4, 2))
    for pair in motif_pairs(motif.motif, scene.edges):
        arc = scene.arcs[number[pair]]
        _add_path(axes, arc, facecolor="none", edgecolor=motif.colour, linewidth=3 * points, linestyle=dash, zorder=1)
    for node in motif.motif.nodes:
        pale = (*_rgb(motif.colour), tint(motif.strength, is_for) + 0.05)
        width = (1.5 + motif.strength) * points
        _add_box(axes, scene, node, facecolor=pale, edgecolor=motif.colour, linewidth=width, linestyle=dash, zorder=2)
        if not is_for:
            _add_box(axes, scene, node, facecolor="none", edgecolor=motif.colour, linewidth=0, hatch="////", zorder=2)


def _draw_regions(axes: Axes, scene: Scene, motif: ColouredMotif, points: float) -> None:
    if scene.picture is None:
        return
    is_for = motif.motif.sign > 0
    mask = np.isin(scene.picture.segments, list(motif.motif.nodes))
    _add_region(axes, scene, mask, facecolor=motif.colour, alpha=0.12, linewidth=0, zorder=2)
    _add_region(axes, scene, mask, facecolor="none", edgecolor=SURFACE, alpha=0.85, linewidth=5 * points, zorder=2)
    style: dict[str, Any] = {"linestyle": "-" if is_for else (0, (3, 1.5)), "hatch": None if is_for else "//"}
    width = (2 + 1.5 * motif.strength) * points
    _add_region(axes, scene, mask, facecolor="none", edgecolor=motif.colour, linewidth=width, zorder=3, **style)


def _draw_graph(axes: Axes, scene: Scene, motifs: list[ColouredMotif], points: float) -> None:
    from matplotlib.patches import Circle

    inside = {pair: motif for motif in motifs for pair in motif_pairs(motif.motif, scene.edges)}
    sides = {node: motif for motif in motifs for node in motif.motif.nodes}
    for pair in scene.edges:
        style = _line_style(inside.get(pair), points)
        axes.plot(*scene.places[list(pair)].T, zorder=3, **style)
    for node, place in enumerate(scene.places.tolist()):
        style = _line_style(sides.get(node), points)
        style["edgecolor"] = style.pop("color")
        fill = TYPE_COLOURS[scene.type_number(node)] if scene.types else SURFACE
        axes.add_patch(Circle((place[0], place[1]), scene.radius, facecolor=fill, zorder=4, **style))
    if scene.types:
        keys = [Circle((0, 0), facecolor=TYPE_COLOURS[i % len(TYPE_COLOURS)]) for i in range(len(scene.kinds))]
        # Above the drawing, where it covers nothing.
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0}
        axes.legend(keys, scene.kinds, ncols=len(keys), fontsize=8, frameon=False, **above)


def _line_style(motif: ColouredMotif | None, points: float) -> dict[str, Any]:
    """Lines within motifs are in their colour, dashed where they are against the output."""
    if motif is None:
        return {"color": SOFT, "linewidth": 1.4 * points, "linestyle": "-"}
    dash: Any = "-" if motif.motif.sign > 0 else (0, (3, 1.5))
    return {"color": motif.colour, "linewidth": 2.2 * points, "linestyle": dash}


def _draw_rings(axes: Axes, scene: Scene, explanation: Explanation, points: float) -> None:
    """Rings around what is explained, and dotted ones around what is true."""
    truth = {v for nodes in explanation.origin.truth for v in nodes} if explanation.origin is not None else set()
    rings = [*((node, 4.0, (0, (1, 2))) for node in sorted(truth)), *((v, 7.0, "-") for v in explanation.target_nodes)]
    for node, more, dash in rings:
        style: dict[str, Any] = {"facecolor": "none", "edgecolor": INK, "linewidth": 1.8 * points, "linestyle": dash}
        if scene.picture is not None:
            _add_region(axes, scene, scene.picture.segments == node, zorder=6, **style)
        elif scene.kind == "sentence":
            _add_box(axes, scene, node, more - 2, zorder=6, **style)
        else:
            _add_circle(axes, scene.places[node], scene.radius + more, zorder=6, **style)


def _draw_labels(axes: Axes, scene: Scene, explanation: Explanation, points: float) -> None:
    from matplotlib.patheffects import withStroke

    for node, label in scene.shown_names(explanation):
        place = scene.places[node]
        size = WORD_SIZE if scene.kind == "sentence" else 11.0 if label.inside else LABEL_SIZE
        halo = [] if label.inside else [withStroke(linewidth=3 * points, foreground=SURFACE, alpha=0.85)]
        axes.text(
            place[0] + label.x,
            place[1] + label.y,
            label.text,
            ha="center",
            va="center_baseline" if scene.kind == "sentence" else "center",
            fontsize=size * points,
            color=INK,
            parse_math=False,
            path_effects=halo,
            zorder=7,
        )


def _draw_badge(axes: Axes, x: float, y: float, motif: ColouredMotif, rank: int, points: float) -> None:
    text = f"{motif_letter(rank)} {'+' if motif.motif.sign > 0 else '−'}"
    axes.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=max(12 * points, 7.0),
        fontweight="bold",
        color=SURFACE,
        zorder=8,
        bbox={"boxstyle": "round,pad=0.25,rounding_size=0.8", "facecolor": motif.colour, "edgecolor": SURFACE},
    )


def _add_region(axes: Axes, scene: Scene, mask: Any, **style: Any) -> None:
    from matplotlib.transforms import Affine2D

    patch = region(mask, **style)
    if patch is not None and scene.picture is not None:
        patch.set_transform(Affine2D().scale(scene.picture.unit) + axes.transData)
        axes.add_patch(patch)


def _add_box(axes: Axes, scene: Scene, node: int, more: float = 0.0, **style: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    box = scene.word_box(node)
    rounding = "round,pad=0,rounding_size=6"
    corner = (box.x - more, box.y - more)
    axes.add_patch(FancyBboxPatch(corner, box.width + 2 * more, box.height + 2 * more, boxstyle=rounding, **style))


def _add_circle(axes: Axes, place: Floats, radius: float, **style: Any) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((float(place[0]), float(place[1])), radius, **style))


def _add_path(axes: Axes, text: str, **style: Any) -> None:
    """A path of SVG whose letters are M, L, Q, C and Z, all in absolute numbers."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    tokens = _TOKEN.findall(text)
    vertices: list[tuple[float, float]] = []
    codes: list[int] = []
    letter, at = "", 0
    while at < len(tokens):
        if tokens[at].isalpha():
            letter = tokens[at]
            at += 1
            if letter in "Zz":
                vertices.append(vertices[-1])
                codes.append(int(Path.CLOSEPOLY))
                continue
        count = {"M": 1, "L": 1, "Q": 2, "C": 3}[letter]
        numbers = [float(token) for token in tokens[at : at + 2 * count]]
        vertices += list(zip(numbers[::2], numbers[1::2], strict=True))
        code = {"M": Path.MOVETO, "L": Path.LINETO, "Q": Path.CURVE3, "C": Path.CURVE4}[letter]
        codes += [int(code)] * count
        at += 2 * count
        letter = "L" if letter == "M" else letter
    if vertices:
        axes.add_patch(PathPatch(Path(vertices, codes), capstyle="round", joinstyle="round", **style))


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue
