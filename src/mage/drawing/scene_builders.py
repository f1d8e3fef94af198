"""What an explanation is drawn as: a molecule, a sentence, a picture, or else the graph itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist

from mage._core.typing import Floats, Integers
from mage.drawing.labels import place_labels
from mage.drawing.layout import stress_layout, turned
from mage.drawing.molecule_shapes import draw_molecule
from mage.drawing.molecules import Molecule, molecule_of
from mage.drawing.motif_places import inner_edges
from mage.drawing.scene import LABEL_SIZE, Box, Label, Picture, Scene, bounding_box, important_nodes
from mage.drawing.sentences import sentence_scene
from mage.drawing.type_widths import text_width
from mage.explanation.arguments import checked_explanation
from mage.explanation.crop import crop, nodes_in_view
from mage.explanation.subject import GraphSubject, ImageSubject, MoleculeSubject, SentenceSubject, Subject, TypedSubject
from mage.graph import PlayerGraph

if TYPE_CHECKING:
    from mage.explanation import Explanation

_BOND_SCALE = 34  # units for one ångström: letters and lines are as large in all molecules
_ATOM_RADIUS = 13.0
_FEW_NODES = 60
_MOST_NODES = 300
_MOST_WITH_ROOM = 40  # nodes; drawings of so many are widened until their names do not touch
_UNIT = 58.0  # length of an edge
_WIDER = (1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
_NARROW = 420.0  # length of a line of words in a column of a table
_PICTURE_SIDE = 480.0  # of the longer side, whatever the number of pixels


def scene_of(explanation: Explanation, narrow: bool = False) -> Scene:
    """The drawing of an explanation, without its motifs; what does not fit the graph is passed over.

    Args:
        explanation: What to draw.
        narrow: Whether sentences are set in short lines, for a column of a table.
    """
    checked_explanation(explanation)
    make = next(make for kind, make in _SCENES.items() if isinstance(explanation.subject, kind))
    return make(explanation, narrow) or _graph(explanation)


def drawable(explanation: Explanation, most_nodes: int = _MOST_NODES) -> Explanation:
    """The explanation itself, or of a large graph the part around its motifs.

    Where few nodes are players, as in the neighbourhood of one node, no more other nodes than players are drawn.
    """
    checked_explanation(explanation)
    most = _most_drawn(explanation, most_nodes)
    return explanation if most is None else crop(explanation, most)


def drawn_nodes(explanation: Explanation, most_nodes: int = _MOST_NODES) -> Integers:
    """The nodes of the graph that :func:`drawable` keeps, ascending."""
    most = _most_drawn(explanation, most_nodes)
    return np.arange(explanation.num_nodes) if most is None else nodes_in_view(explanation, most)


def _most_drawn(explanation: Explanation, most_nodes: int) -> int | None:
    """How many nodes of a graph are drawn at most; None for all."""
    if isinstance(explanation.subject, SentenceSubject | ImageSubject):
        return None
    num_playing = sum(len(nodes) for nodes in explanation.players)
    most = min(most_nodes, max(2 * num_playing, _FEW_NODES))
    return None if explanation.num_nodes <= most or molecule_of(explanation) is not None else most


def undirected_edges(explanation: Explanation) -> list[tuple[int, int]]:
    """Edges of the input graph as pairs i < j, each once."""
    checked_explanation(explanation)
    pairs = PlayerGraph.from_edge_index(explanation.edge_index, explanation.num_nodes).edges.tolist()
    return [(i, j) for i, j in pairs]


def graph_scene(
    names: tuple[str, ...],
    edges: list[tuple[int, int]],
    places: Any = None,
    types: tuple[str, ...] = (),
    important: Sequence[int] = (),
) -> Scene:
    """A graph as circles and lines, with names beside the nodes or in them.

    In graphs of more than 40 nodes, circles are smaller, and only names of important nodes are written.

    Args:
        names: A name per node.
        edges: Pairs of nodes.
        places: Positions [n, 2] for edges of length 1, y upwards; a layout by default.
        types: The type of each node, where they have types.
        important: Nodes whose names must not cover each other, in graphs of many nodes.
    """
    count = len(names)
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    if places is None:
        places = turned(stress_layout(pairs, count))
    flipped = np.asarray(places, dtype=np.float64) * (1.0, -1.0)
    crowded = count > _MOST_WITH_ROOM
    radius = 11.0 if not crowded else 7.5 if count <= 100 else 6.0
    labels: tuple[Label, ...] = ()
    spots = _UNIT * flipped
    nearest = float(pdist(flipped).min()) if count > 1 else 1.0
    for wider in _WIDER:
        spots = _UNIT * wider * flipped
        labels, num_hidden = place_labels(names, spots, pairs, radius, important if crowded else None)
        if not num_hidden and _UNIT * wider * nearest > 2 * radius:
            break
    return Scene(
        kind="graph",
        box=_with_labels(bounding_box(spots, 46.0), spots, labels),
        places=spots,
        edges=tuple(edges),
        radius=radius,
        reach=radius + 8,
        labels=labels,
        crowded=crowded,
        types=types,
    )


def _with_labels(box: Box, places: Floats, labels: Sequence[Label | None]) -> Box:
    """The box, enlarged so that names beside nodes are seen whole."""
    left, top, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    for (x, y), label in zip(places.tolist(), labels, strict=True):
        if label is None or label.inside:
            continue
        half = text_width(label.text, LABEL_SIZE) / 2 + 4
        left, right = min(left, x + label.x - half), max(right, x + label.x + half)
        top, bottom = min(top, y + label.y - LABEL_SIZE), max(bottom, y + label.y + LABEL_SIZE)
    return Box(left, top, right - left, bottom - top)


def picture_scene(pixels: Any, segments: Any, count: int, edges: list[tuple[int, int]]) -> Scene:
    """A picture whose regions are nodes.

    Args:
        pixels: The picture as bytes [h, w], [h, w, 3] or [h, w, 4].
        segments: For each pixel the number of its node [h, w]; −1 for none.
        count: Number of nodes.
        edges: Pairs of nodes.
    """
    height, width = segments.shape
    unit = _PICTURE_SIDE / max(height, width)
    rows, columns = np.nonzero(segments >= 0)
    labels = segments[rows, columns]
    size = np.bincount(labels, minlength=count)
    middle = [np.bincount(labels, where + 0.5, minlength=count) / np.maximum(size, 1) for where in (columns, rows)]
    places = np.where((size > 0)[:, None], unit * np.stack(middle, axis=1), -20.0)
    return Scene(
        kind="image",
        box=Box(-8.0, -26.0, width * unit + 16, height * unit + 34),
        places=places,
        edges=tuple(edges),
        radius=6.0,
        reach=6.0,
        labels=(None,) * count,
        picture=Picture(pixels, segments, unit),
        scale=1.1,
    )


def _image(explanation: Explanation, _narrow: bool) -> Scene:
    subject: Any = explanation.subject
    return picture_scene(subject.pixels, subject.segments, explanation.num_nodes, undirected_edges(explanation))


def molecule_scene(chemical: Any, elements: Sequence[str], edges: Sequence[tuple[int, int]]) -> Scene:
    """A molecule as RDKit draws it: shapes in one ink, and where its atoms lie.

    Args:
        chemical: RDKit's molecule.
        elements: The element of each atom.
        edges: Pairs of atoms.
    """
    drawing = draw_molecule(chemical, scalingFactor=_BOND_SCALE)
    width, height = drawing.size
    return Scene(
        kind="molecule",
        box=Box(-24.0, -34.0, width + 48, height + 58),
        places=np.array(drawing.places, dtype=np.float64).reshape(-1, 2),
        edges=tuple(edges),
        radius=_ATOM_RADIUS,
        reach=_ATOM_RADIUS + 2,
        labels=(None,) * len(elements),
        ink=drawing.shapes,
        symbols=tuple(elements),
        scale=1.6,
    )


def pattern_scene(
    explanation: Explanation, nodes: Sequence[int], labels: Sequence[str], molecule: Molecule | None = None
) -> Scene:
    """Some nodes of an explained graph by themselves, drawn as the whole is: atoms, words in their order, or circles.

    Args:
        explanation: The explanation of the whole.
        nodes: The nodes.
        labels: What to write for each of them where they are no atoms.
        molecule: The molecule that the explanation is about.
    """
    at = {node: number for number, node in enumerate(nodes)}
    edges = [(at[i], at[j]) for i, j in inner_edges(nodes, undirected_edges(explanation))]
    if molecule is not None and molecule.chemical is not None:
        return molecule_scene(molecule.fragment(nodes), [molecule.elements[atom] for atom in nodes], edges)
    if isinstance(explanation.subject, SentenceSubject):
        return sentence_scene(labels, edges, _NARROW)
    types = types_of(explanation)
    scene = graph_scene(tuple(labels), edges, types=tuple(types[node] for node in nodes) if types else ())
    return replace(scene, all_types=tuple(dict.fromkeys(types)))


def _sentence(explanation: Explanation, narrow: bool) -> Scene:
    subject: Any = explanation.subject
    return sentence_scene(subject.words, undirected_edges(explanation), _NARROW if narrow else None)


def _molecule(explanation: Explanation, _narrow: bool) -> Scene | None:
    """The molecule, where RDKit is installed."""
    molecule = molecule_of(explanation)
    if molecule is None or molecule.chemical is None:
        return None
    return molecule_scene(molecule.chemical, molecule.elements, undirected_edges(explanation))


def _graph(explanation: Explanation, _narrow: bool = False) -> Scene:
    edges, important = undirected_edges(explanation), important_nodes(explanation)
    return graph_scene(explanation.names, edges, types=types_of(explanation), important=important)


def types_of(explanation: Explanation) -> tuple[str, ...]:
    """The type of each node; empty where nodes have no types."""
    return explanation.subject.types if isinstance(explanation.subject, TypedSubject) else ()


# A new kind of subject is drawn as a graph until it has a line here. Graphs of named atoms are molecules.
_SCENES: dict[type[Subject], Callable[[Explanation, bool], Scene | None]] = {
    ImageSubject: _image,
    MoleculeSubject: _molecule,
    SentenceSubject: _sentence,
    GraphSubject: _molecule,
    Subject: _graph,
}
