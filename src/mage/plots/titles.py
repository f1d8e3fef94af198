"""What stands above a figure: the explained output, and the motifs with their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mage.drawing import MotifNames
from mage.drawing.motif_places import motif_letter
from mage.explanation.outcomes import effect_texts
from mage.explanation.wording import pattern, side

if TYPE_CHECKING:
    from mage.explanation import Explanation


def score_lines(explanation: Explanation) -> list[str]:
    """For each motif its side, its score with the error, how large it is, and what follows from it."""
    subject, names = explanation.subject, MotifNames(explanation)
    return [
        f"{motif_letter(rank)} {side(motif)} {motif.score:+.3g}{explanation.error_text(motif)}: {len(motif)} "
        f"{subject.node if len(motif) == 1 else subject.nodes}"
        f"{_aside(pattern(explanation, motif) or names.short(motif.nodes))}{effect}".replace(" -", " −")
        for rank, (motif, effect) in enumerate(zip(explanation.all_motifs, effect_texts(explanation), strict=True))
    ]


def _aside(text: str) -> str:
    return f", {text}" if text else ""
