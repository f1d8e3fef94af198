"""The palette of figures and pages: green for, red against, stronger motifs darker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mage.explanation.arguments import checked_explanation
from mage.motifs import Motif

if TYPE_CHECKING:
    from mage.explanation import Explanation

FOR, AGAINST = "#00755a", "#c73a1b"
"""The same as ``--for`` and ``--against`` in ``common.css``. Side is never shown by colour alone."""
LINE = "#80868b"
"""Edges and frames; it can be seen on white and on black."""


TYPE_COLOURS = ("#a9c8ec", "#f5d97a", "#cdb8e8", "#c2c2c2", "#dcb996", "#9ad6d3")
"""Nodes of different types; the same as ``.type-0`` and so on in ``explanation.css``. Names say the type too."""


class ColouredMotif(NamedTuple):
    """A motif as it is drawn.

    Attributes:
        motif: The motif.
        colour: Its side.
        strength: Its score as a part of the strongest one, in (0, 1].
    """

    motif: Motif
    colour: str
    strength: float


def side_colour(value: float) -> str:
    """The colour of motifs for the output (positive) or against it (negative)."""
    return FOR if value > 0 else AGAINST


def coloured_motifs(explanation: Explanation) -> list[ColouredMotif]:
    """The motifs of an explanation with their colours and strengths, in its order."""
    checked_explanation(explanation)
    strongest = max((abs(motif.score) for motif in explanation.all_motifs), default=1.0) or 1.0
    return [
        ColouredMotif(motif, side_colour(motif.sign), abs(motif.score) / strongest) for motif in explanation.all_motifs
    ]


def mixed_with_white(colour: str, weight: float) -> tuple[float, float, float]:
    """Red, green and blue in [0, 1] of a colour that is paler the smaller its weight is."""
    red, green, blue = (weight * int(colour[i : i + 2], 16) / 255 + 1 - weight for i in (1, 3, 5))
    return red, green, blue


def pale(colour: str, strength: float = 1.0) -> tuple[float, float, float]:
    """The colour of a motif that letters or pixels are seen through, paler for weaker motifs."""
    return mixed_with_white(colour, 0.3 + 0.5 * strength)


def hex_colour(parts: tuple[float, float, float]) -> str:
    """Red, green and blue in [0, 1] as pages write them."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
