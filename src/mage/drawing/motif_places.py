"""Where motifs and their badges lie in a scene."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from mage._core.typing import Floats
from mage.drawing.pictures import outlines
from mage.drawing.scene import Scene
from mage.motifs import Motif

_DIRECTIONS = 12
_LETTER = 2.4  # half of the width of a letter of a name
_FAR, _FAR_PENALTY = 1.6, 4.0  # a second ring of places in drawings of many nodes, and what it must gain
_MOST_CANDIDATES = 12  # nodes beside which a badge may stand; large motifs stay fast


def motif_letter(rank: int) -> str:
    """A, B, …, Z, AA, AB, …: how motifs are called, the strongest first."""
    letter = chr(65 + rank % 26)
    return letter if rank < 26 else motif_letter(rank // 26 - 1) + letter


def inner_edges(nodes: Collection[int], edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Edges whose ends both lie in a set of nodes."""
    inside = set(nodes)
    return [(i, j) for i, j in edges if i in inside and j in inside]


def motif_pairs(motif: Motif, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges that a motif consists of, or those between its nodes."""
    if motif.edges:
        return sorted({(min(edge), max(edge)) for edge in motif.edges})
    return inner_edges(motif.nodes, edges)


def connected_parts(nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The connected parts of a set of nodes; a motif that need not be connected may have several."""
    root = {node: node for node in nodes}

    def top(node: int) -> int:
        while root[node] != node:
            node = root[node]
        return node

    for i, j in inner_edges(nodes, edges):
        root[top(i)] = top(j)
    parts: dict[int, list[int]] = {}
    for node in nodes:
        parts.setdefault(top(node), []).append(node)
    return list(parts.values())


def badge_places(scene: Scene, nodes: Sequence[int]) -> list[tuple[float, float]]:
    """Where the badges of a motif stand: one for each connected part."""
    parts = connected_parts(nodes, scene.edges)
    if scene.kind == "sentence":
        firsts = [scene.places[min(part)].tolist() for part in parts]
        return [(x, y + scene.height / 2 + 15) for x, y in firsts]
    if scene.kind == "image":
        tops = [min((scene.places[v].tolist() for v in part), key=lambda place: place[1]) for part in parts]
        return [(x, y) for x, y in tops]
    return [_free_place(scene, part) for part in parts]


def _free_place(scene: Scene, nodes: Sequence[int]) -> tuple[float, float]:
    """A place at the border of a motif that is far from all nodes, edges and names; of equal ones the highest."""
    places = scene.places
    pairs = np.array(scene.edges, dtype=np.int64).reshape(-1, 2)
    on_edges = [
        places[pairs[:, 0]] + share * (places[pairs[:, 1]] - places[pairs[:, 0]]) for share in (0.25, 0.5, 0.75)
    ]
    occupied: Floats = np.concatenate([places, *on_edges, _name_points(scene, nodes)])
    distance = scene.reach + 11
    turn = np.arange(_DIRECTIONS) * 2 * np.pi / _DIRECTIONS
    circle = distance * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ring = np.concatenate([circle, _FAR * circle]) if scene.crowded else circle
    penalty = np.where(np.arange(len(ring)) < _DIRECTIONS, 0.0, _FAR_PENALTY)
    highest = sorted(nodes, key=lambda v: (round(float(places[v, 1]), 3), v))[:_MOST_CANDIDATES]
    spots = np.concatenate([places[v] + ring for v in highest])
    room = np.linalg.norm(spots[:, None] - occupied[None], axis=2).min(axis=1)
    worth = np.minimum(room, 2 * distance) - 0.02 * spots[:, 1] - np.tile(penalty, len(highest))
    x, y = spots[int(np.argmax(np.round(worth, 6)))].tolist()
    return x, y


def _name_points(scene: Scene, nodes: Sequence[int]) -> Floats:
    """Points that names beside nodes cover; of many nodes, only names in the motif are sure to be written."""
    points = [
        scene.places[node] + (label.x + shift * _LETTER * len(label.text), label.y)
        for node, label in enumerate(scene.labels)
        if label is not None and not label.inside and (node in nodes or not scene.crowded)
        for shift in (-1, 0, 1)
    ]
    return np.array(points).reshape(-1, 2)


def region_path(scene: Scene, nodes: Collection[int]) -> str:
    """The outline of some regions of a picture with its holes, as the content of a path's ``d``."""
    if scene.picture is None:
        return ""
    unit = scene.picture.unit
    loops = outlines(np.isin(scene.picture.segments, list(nodes)))
    points = (" L".join(f"{unit * x:.1f} {unit * y:.1f}" for x, y in loop.tolist()) for loop in loops)
    return "".join(f"M{line}Z" for line in points)
