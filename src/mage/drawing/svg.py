"""Scenes with their motifs as SVG, without any other library: for notebooks, reports and readers without scripts.

Classes are those of the page's script, so that its style sheet colours both alike; attributes are for everywhere else.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from mage._core.typing import Floats
from mage.drawing.colours import AGAINST, TYPE_COLOURS, ColouredMotif, coloured_motifs
from mage.drawing.motif_places import badge_places, motif_letter, motif_pairs, region_path
from mage.drawing.pictures import png_uri
from mage.drawing.scene import LABEL_SIZE, WORD_SIZE, Label, Scene

if TYPE_CHECKING:
    from mage.explanation import Explanation

INK, SURFACE, SOFT = "#1b2126", "#ffffff", "#a9adaf"
_HATCH = (
    '<pattern id="mage-hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="2.2" height="7" class="stripe" fill="{AGAINST}" fill-opacity=".55"/></pattern>'
)
_WIDEST = 760.0


def scene_svg(explanation: Explanation, scene: Scene, truth: bool = True, with_hatch: bool = True) -> str:
    """The drawing of an explanation with its motifs as one SVG element.

    Args:
        explanation: What to draw.
        scene: Where everything lies; see :func:`mage.drawing.scene_of`.
        truth: Whether to ring the nodes of the ground truth, where it is known.
        with_hatch: Whether the element defines its hatching; a page of many drawings has :func:`hatch_svg` once.
    """
    motifs = coloured_motifs(explanation)
    layers = {
        "below": _below(scene),
        "motifs": [*_veil(scene, explanation), *(part for motif in motifs for part in _motif(scene, motif))],
        "edges": _edges(scene, motifs),
        "above": _ink(scene),
        "nodes": [*_nodes(scene, motifs, explanation.names), *_rings(scene, explanation, truth)],
        "labels": _labels(scene, scene.shown_names(explanation)),
        "badges": [badge for rank, motif in enumerate(motifs) for badge in _badges(scene, motif, rank)],
    }
    return _element(scene, explanation.verdict, layers, f"<defs>{_HATCH}</defs>" if with_hatch else "")


def pattern_svg(scene: Scene, title: str) -> str:
    """A drawing by itself, without an explanation, as one SVG element.

    Args:
        scene: Where everything lies; see :func:`mage.drawing.pattern_scene`.
        title: What it shows, for readers who cannot see it.
    """
    names = [label.text if label is not None else "" for label in scene.labels]
    layers = {
        "below": _below(scene),
        "edges": _edges(scene, []),
        "above": _ink(scene),
        "nodes": _nodes(scene, [], names),
        "labels": _labels(scene, [(node, label) for node, label in enumerate(scene.labels) if label is not None]),
    }
    return _element(scene, title, layers)


def hatch_svg() -> str:
    """The hatching of what is against, as an SVG element that takes no room: once for all drawings of a page."""
    return f'<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>{_HATCH}</defs></svg>'


def _element(scene: Scene, title: str, layers: dict[str, list[str]], definitions: str = "") -> str:
    box, scale = scene.box, min(scene.scale, _WIDEST / scene.box.width)
    body = "".join(f'<g class="layer-{name}">{"".join(parts)}</g>' for name, parts in layers.items() if parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing-svg {scene.kind}" '
        f'viewBox="{box.x:.1f} {box.y:.1f} {box.width:.1f} {box.height:.1f}" '
        f'width="{box.width * scale:.0f}" height="{box.height * scale:.0f}" role="img" '
        f'font-family="system-ui, Helvetica, Arial, sans-serif"><title>{html.escape(title)}</title>'
        f'{definitions}<rect class="cover paper" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" fill="{SURFACE}"/>{body}</svg>'
    )


def tint(strength: float, is_for: bool) -> float:
    """How dense the colour of a motif is. Hatching adds to what is against, so its ground is paler."""
    return 0.12 + 0.38 * strength if is_for else 0.08 + 0.22 * strength


def _side(motif: ColouredMotif) -> str:
    return "for" if motif.motif.sign > 0 else "against"


def _below(scene: Scene) -> list[str]:
    if scene.picture is not None:
        height, width = scene.picture.segments.shape
        unit = scene.picture.unit
        smooth = ' class="pixels" image-rendering="pixelated"' if unit > 3 else ""
        return [
            f'<image href="{png_uri(scene.picture.pixels)}" width="{width * unit:.1f}" height="{height * unit:.1f}" '
            f'preserveAspectRatio="none"{smooth}/>'
        ]
    arcs = "".join(f'<path d="{arc}"/>' for arc in scene.arcs)
    return [f'<g class="arcs" fill="none" stroke="{SOFT}" stroke-width="1.3">{arcs}</g>'] if arcs else []


def _veil(scene: Scene, explanation: Explanation) -> list[str]:
    """What pales the regions of a picture that are in no motif, so that motifs keep their pixels."""
    inside = {node for motif in explanation.all_motifs for node in motif.nodes}
    if scene.picture is None or not inside:
        return []
    outside = [v for v in range(explanation.num_nodes) if v not in inside]
    path = region_path(scene, outside)
    return [f'<path d="{path}" class="veil" fill="{SURFACE}" fill-opacity=".55" fill-rule="evenodd"/>']


def _motif(scene: Scene, motif: ColouredMotif) -> list[str]:
    """One motif: a soft stroke along its edges, boxes around its words, or the outline of its regions."""
    draw = {"sentence": _words, "image": _regions}.get(scene.kind, _blob)
    return [f'<g class="motif">{"".join(draw(scene, motif))}</g>']


def _blob(scene: Scene, motif: ColouredMotif) -> list[str]:
    side, colour, width = _side(motif), motif.colour, 2 * scene.reach
    nodes, place = motif.motif.nodes, scene.places
    path = "".join(f"M{place[v][0]:.1f} {place[v][1]:.1f}h.01" for v in nodes)
    path += "".join(line_path(place[i], place[j]) for i, j in motif_pairs(motif.motif, scene.edges))
    shared = f'd="{path}" fill="none" stroke-linecap="round" stroke-linejoin="round"'
    edge = width + 3 + 3 * motif.strength
    density = tint(motif.strength, side == "for")
    coloured = f'<path {shared} class="blob {side}" stroke="{colour}"'
    parts = [
        f'{coloured} stroke-width="{edge:.1f}"/>',
        f'<path {shared} class="blob cover" stroke="{SURFACE}" stroke-width="{width:.1f}"/>',
        f'{coloured} stroke-width="{width:.1f}" stroke-opacity="{density:.2f}"/>',
    ]
    if side == "against":
        parts.append(f'<path {shared} class="blob" stroke="url(#mage-hatch)" stroke-width="{width:.1f}"/>')
    return parts


def _words(scene: Scene, motif: ColouredMotif) -> list[str]:
    side, colour = _side(motif), motif.colour
    number = {pair: at for at, pair in enumerate(scene.edges)}
    arcs = "".join(scene.arcs[number[pair]] for pair in motif_pairs(motif.motif, scene.edges))
    dash = "" if side == "for" else ' stroke-dasharray="6 3"'
    parts = [f'<path d="{arcs}" class="motif-arc {side}" fill="none" stroke="{colour}" stroke-width="3"{dash}/>']
    density = tint(motif.strength, side == "for") + 0.05
    for node in motif.motif.nodes:
        box = _rectangle(scene, node)
        parts.append(f'<rect {box} class="region {side}" fill="{colour}" fill-opacity="{density:.2f}"/>')
        if side == "against":
            parts.append(f'<rect {box} fill="url(#mage-hatch)"/>')
        parts.append(_frame(f"rect {box}", side, colour, 1.5 + motif.strength))
    return parts


def _regions(scene: Scene, motif: ColouredMotif) -> list[str]:
    side, path = _side(motif), region_path(scene, motif.motif.nodes)
    shape = f'path d="{path}" fill-rule="evenodd"'
    parts = [f'<{shape} class="region thin {side}" fill="{motif.colour}" fill-opacity=".12"/>']
    if side == "against":
        parts.append(f'<{shape} class="thin" fill="url(#mage-hatch)" fill-opacity=".5"/>')
    parts.append(f'<{shape} class="region-halo" fill="none" stroke="{SURFACE}" stroke-width="5" stroke-opacity=".85"/>')
    parts.append(_frame(shape, side, motif.colour, 2 + 1.5 * motif.strength))
    return parts


def _frame(shape: str, side: str, colour: str, width: float) -> str:
    dash = "" if side == "for" else ' stroke-dasharray="5 3"'
    return f'<{shape} class="region-edge {side}" fill="none" stroke="{colour}" stroke-width="{width:.1f}"{dash}/>'


def _edges(scene: Scene, motifs: list[ColouredMotif]) -> list[str]:
    if scene.kind != "graph":
        return []
    inside = {pair: motif for motif in motifs for pair in motif_pairs(motif.motif, scene.edges)}
    lines = []
    for i, j in scene.edges:
        (x1, y1), (x2, y2) = scene.places[i].tolist(), scene.places[j].tolist()
        style = f'stroke="{SOFT}" stroke-width="1.4"'
        if (motif := inside.get((i, j))) is not None:
            dash = "" if motif.motif.sign > 0 else ' stroke-dasharray="5 3"'
            style = f'class="{_side(motif)}-side" stroke="{motif.colour}" stroke-width="2.2"{dash}'
        lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>')
    return lines


def _ink(scene: Scene) -> list[str]:
    shapes = (
        f'<path d="{ink.path}" class="filled" fill="{INK}" stroke="{INK}" stroke-width="{ink.width:g}"/>'
        if ink.filled
        else f'<path d="{ink.path}" class="hollow" fill="none" stroke="{INK}" stroke-width="{ink.width:g}"/>'
        for ink in scene.ink
    )
    return [f'<g class="bonds" stroke-linecap="round">{"".join(shapes)}</g>'] if scene.ink else []


def _nodes(scene: Scene, motifs: list[ColouredMotif], names: Sequence[str]) -> list[str]:
    """Circles of a graph, and frames of words."""
    sides = {node: motif for motif in motifs for node in motif.motif.nodes}
    parts = []
    for node, name in enumerate(names):
        title = f"<title>{html.escape(name)}</title>" if name else ""
        if scene.kind == "graph":
            motif = sides.get(node)
            colour, width = (SOFT, 1.4) if motif is None else (motif.colour, 2.2)
            dash = ' stroke-dasharray="3.5 2"' if motif is not None and motif.motif.sign < 0 else ""
            side = "" if motif is None else f" {_side(motif)}-side"
            fill = TYPE_COLOURS[scene.type_number(node)] if scene.types else SURFACE
            of_type = f' class="type-{scene.type_number(node)}"' if scene.types else ""
            line = f'fill="{fill}"{of_type} stroke="{colour}" stroke-width="{width}"{dash}'
            circle = f"<circle {_circle(scene, node, scene.radius)} {line}/>"
            parts.append(f'<g class="node{side}">{title}{circle}</g>')
        elif scene.kind == "sentence" and node not in sides:
            frame = f'<rect {_rectangle(scene, node)} class="word" fill="none" stroke="#dcdcd6"/>'
            parts.append(f'<g class="node">{title}{frame}</g>')
    return parts


def _rings(scene: Scene, explanation: Explanation, truth: bool) -> list[str]:
    """Rings around what is explained and what is true."""
    true_nodes = {v for nodes in explanation.origin.truth for v in nodes} if truth and explanation.origin else set()
    return [
        *(_ring(scene, node, "truth-ring", INK, "1.5 3") for node in sorted(true_nodes)),
        *(_ring(scene, node, "explained-ring", INK, "") for node in explanation.target_nodes),
    ]


def _ring(scene: Scene, node: int, name: str, colour: str, dash: str) -> str:
    """A ring around a node: solid for the explained one, dotted for the ground truth."""
    more = 4 if name == "truth-ring" else 7
    style = f'class="{name}" fill="none" stroke="{colour}" stroke-width="1.8"'
    style += f' stroke-dasharray="{dash}" stroke-linecap="round"' if dash else ""
    if scene.kind == "image":
        return f'<path d="{region_path(scene, [node])}" {style}/>'
    if scene.kind == "sentence":
        return f"<rect {_rectangle(scene, node, more - 2)} {style}/>"
    return f"<circle {_circle(scene, node, scene.radius + more)} {style}/>"


def _labels(scene: Scene, labels: Sequence[tuple[int, Label]]) -> list[str]:
    parts = []
    for node, label in labels:
        if not label.text:
            continue
        place = scene.places[node]
        size = WORD_SIZE if scene.kind == "sentence" else 11 if label.inside else LABEL_SIZE
        halo = "" if label.inside else f' stroke="{SURFACE}" stroke-width="3" paint-order="stroke" stroke-opacity=".85"'
        parts.append(
            f'<text x="{place[0] + label.x:.1f}" y="{place[1] + label.y:.1f}" font-size="{size:g}" fill="{INK}"'
            f' text-anchor="middle" dominant-baseline="central" class="{"inside" if label.inside else "beside"}"'
            f"{halo}>{html.escape(label.text)}</text>"
        )
    return parts


def _badges(scene: Scene, motif: ColouredMotif, rank: int) -> list[str]:
    side = _side(motif)
    text = f"{motif_letter(rank)} {'+' if side == 'for' else '−'}"
    width = 12 + 7.5 * len(text)
    return [
        f'<g class="badge-mark {side}" transform="translate({x:.1f} {y:.1f})"><rect x="{-width / 2:g}" y="-9.5" '
        f'width="{width:g}" height="19" rx="9.5" fill="{motif.colour}" stroke="{SURFACE}" stroke-width="1.5"/>'
        f'<text font-size="12" font-weight="700" fill="{SURFACE}" text-anchor="middle" dominant-baseline="central">'
        f"{text}</text></g>"
        for x, y in badge_places(scene, motif.motif.nodes)
    ]


def _circle(scene: Scene, node: int, radius: float) -> str:
    x, y = scene.places[node].tolist()
    return f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"'


def _rectangle(scene: Scene, node: int, more: float = 0.0) -> str:
    box = scene.word_box(node)
    size = f'width="{box.width + 2 * more:.1f}" height="{box.height + 2 * more:g}"'
    return f'x="{box.x - more:.1f}" y="{box.y - more:.1f}" {size} rx="6"'


# -- pieces for drawings of one's own -----------------------------------------------------------------------------


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
    """A broad stroke along the edges of a motif, with a dashed line along its middle where it is against the output.

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
