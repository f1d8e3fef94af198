"""What is drawn of an explanation, as plain numbers: figures, pages and notebooks share it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mage._core.typing import Floats
from mage.drawing.colours import TYPE_COLOURS
from mage.drawing.molecule_shapes import Shape
from mage.drawing.pictures import encode_runs, png_uri

if TYPE_CHECKING:
    from mage.explanation import Explanation

LABEL_SIZE = 10.5
"""Type size of names beside nodes, in units of the drawing."""
WORD_SIZE = 15.0
"""Type size of words of a sentence."""


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


class Label(NamedTuple):
    """A name in a drawing.

    Attributes:
        text: What is written.
        x: How far its middle lies to the right of the node.
        y: How far its middle lies below the node.
        inside: Whether it stands in the node.
    """

    text: str
    x: float
    y: float
    inside: bool


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture whose regions are nodes.

    Attributes:
        pixels: The picture as bytes [h, w], [h, w, 3] or [h, w, 4].
        segments: For each pixel the number of its node [h, w]; −1 for none.
        unit: Side of a pixel in the drawing.
    """

    pixels: NDArray[np.uint8]
    segments: NDArray[np.int32]
    unit: float


@dataclass(frozen=True, eq=False)
class Scene:
    """Positions of all parts of a drawing; y grows downwards, as on a screen.

    Attributes:
        kind: ``"graph"``, ``"molecule"``, ``"sentence"`` or ``"image"``.
        box: All that must be visible.
        places: Middle of each node [n, 2].
        edges: Pairs of nodes i < j.
        radius: Of a node, for circles and rings.
        reach: Half of the width of the stroke that stands for a motif.
        labels: Name of each node; None for one without.
        crowded: Whether there are so many nodes that only names of important ones are written: see :meth:`shown_names`.
        ink: Shapes in one ink that lie above the motifs, such as bonds and atoms.
        arcs: For a sentence, the path of each edge.
        widths: For a sentence, the width of the box of each word.
        height: For a sentence, the height of these boxes.
        symbols: For a molecule, the element of each atom.
        picture: For an image, the picture.
        scale: Most pixels for one unit, so that small drawings do not swell.
        types: For a graph with types of nodes, the type of each node.
        all_types: Types in the order of their colours, for a part of a graph; by default those of the nodes.
    """

    kind: str
    box: Box
    places: Floats
    edges: tuple[tuple[int, int], ...]
    radius: float
    reach: float
    labels: tuple[Label | None, ...]
    crowded: bool = False
    ink: tuple[Shape, ...] = ()
    arcs: tuple[str, ...] = ()
    widths: tuple[float, ...] = ()
    height: float = 0.0
    symbols: tuple[str, ...] = ()
    picture: Picture | None = field(default=None)
    scale: float = 1.5
    types: tuple[str, ...] = ()
    all_types: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of nodes, each once."""
        return self.all_types or tuple(dict.fromkeys(self.types))

    def type_number(self, node: int) -> int:
        """Which of the colours of types a node has."""
        return self.kinds.index(self.types[node]) % len(TYPE_COLOURS)

    def shown_names(self, explanation: Explanation) -> list[tuple[int, Label]]:
        """The nodes whose names are written, with these names.

        They are all nodes of small graphs. In graphs of many nodes, they are the nodes of motifs, of the ground truth,
        and those that are explained.

        Args:
            explanation: What is drawn.
        """
        shown = set(important_nodes(explanation)) if self.crowded else range(len(self.labels))
        return [(node, label) for node, label in enumerate(self.labels) if label is not None and node in shown]

    def plain(self) -> dict[str, Any]:
        """The scene as plain values for the script of a page."""
        values: dict[str, Any] = {
            "kind": self.kind,
            "box": _short(self.box),
            "places": [_short(place) for place in self.places.tolist()],
            "radius": self.radius,
            "reach": self.reach,
            "scale": self.scale,
            "crowded": self.crowded,
            "labels": [None if one is None else [one.text, *_short((one.x, one.y)), one.inside] for one in self.labels],
        }
        if self.ink:
            values["shapes"] = [{"d": ink.path, "filled": ink.filled, "width": ink.width} for ink in self.ink]
        if self.types:
            values |= {"kinds": list(self.kinds), "types": [self.type_number(v) for v in range(len(self.types))]}
        if self.widths:
            values |= {"arcs": list(self.arcs), "widths": _short(self.widths), "height": self.height}
        if self.picture is not None:
            values |= {
                "source": png_uri(self.picture.pixels),
                "shape": list(self.picture.segments.shape),
                "runs": encode_runs(self.picture.segments),
            }
        return values

    def word_box(self, node: int) -> Box:
        """The box of a word of a sentence."""
        x, y = self.places[node].tolist()
        return Box(x - self.widths[node] / 2, y - self.height / 2, self.widths[node], self.height)


def important_nodes(explanation: Explanation) -> list[int]:
    """Nodes of motifs, nodes of the ground truth, and those that are explained."""
    truth = explanation.origin.truth if explanation.origin is not None else ()
    groups = [*(motif.nodes for motif in explanation.all_motifs), *truth, explanation.target_nodes]
    return sorted({node for nodes in groups for node in nodes})


def bounding_box(places: Floats, margin: float) -> Box:
    """A box around some points."""
    if not len(places):
        return Box(0.0, 0.0, 2 * margin, 2 * margin)
    (left, top), (right, bottom) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    return Box(left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin)


def _short(numbers: Any) -> list[float]:
    return [round(float(number), 1) for number in numbers]
