"""Molecules as RDKit draws them, as plain shapes in one ink that figures and pages colour themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from mage._core.optional import require

_INK = "#000000"


@dataclass(frozen=True)
class Shape:
    """A path of a drawing.

    Attributes:
        path: The content of its ``d``.
        filled: Whether it is filled with ink.
        width: Width of its line; 0 without one.
    """

    path: str
    filled: bool
    width: float


@dataclass(frozen=True)
class MoleculeDrawing:
    """A molecule on a canvas.

    Attributes:
        size: Width and height.
        places: Where each atom lies.
        shapes: Bonds and letters.
    """

    size: tuple[float, float]
    places: tuple[tuple[float, float], ...]
    shapes: tuple[Shape, ...]


def draw_molecule(chemical: Any, size: tuple[int, int] = (-1, -1), **options: float) -> MoleculeDrawing:
    """A molecule drawn by RDKit (extra ``chem``).

    Args:
        chemical: RDKit's molecule.
        size: Width and height; −1 for as large as the molecule is.
        **options: Further options of RDKit's drawing, such as ``scalingFactor`` and ``padding``.
    """
    drawing = require("rdkit.Chem.Draw.rdMolDraw2D", "chem")
    canvas = drawing.MolDraw2DSVG(*size)
    settings = canvas.drawOptions()
    settings.useBWAtomPalette()  # colour is for the motifs
    settings.clearBackground = False
    settings.bondLineWidth = 2
    for name, value in options.items():
        setattr(settings, name, value)
    canvas.DrawMolecule(_prepared(drawing, chemical))
    canvas.FinishDrawing()
    points = [canvas.GetDrawCoords(atom) for atom in range(chemical.GetNumAtoms())]
    return MoleculeDrawing(
        (canvas.Width(), canvas.Height()),
        tuple((point.x, point.y) for point in points),
        _shapes(canvas.GetDrawingText()),
    )


def _prepared(drawing: Any, chemical: Any) -> Any:
    """The molecule with places for its atoms; rings alternate where that can be."""
    try:
        return drawing.PrepareMolForDrawing(chemical, kekulize=True, addChiralHs=False)
    except ValueError:
        return drawing.PrepareMolForDrawing(chemical, kekulize=False, addChiralHs=False)


def _shapes(svg: str) -> tuple[Shape, ...]:
    """Paths of a drawing by RDKit as plain values; figures and pages build them anew, so no markup is passed on."""
    shapes = []
    for element in ElementTree.fromstring(svg).iter():  # noqa: S314 - RDKit wrote it just now
        path = element.get("d")
        if element.tag.rpartition("}")[2] != "path" or path is None:
            continue
        style = dict(re.findall(r"([\w-]+):([^;]+)", element.get("style", "")))
        fill, stroke = (element.get(name) or style.get(name, "none") for name in ("fill", "stroke"))
        width = style.get("stroke-width", "0").removesuffix("px")
        shapes.append(Shape(path, fill == _INK, float(width) if stroke == _INK else 0.0))
    return tuple(shapes)
