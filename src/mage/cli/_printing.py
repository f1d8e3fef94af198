"""What commands print about explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from mage.explanation.outcomes import effect_cells
from mage.explanation.wording import cost, remarks

if TYPE_CHECKING:
    from mage.explanation import Explanation
    from mage.motifs import Motif

STYLES = {1: "bold green", -1: "bold red"}
"""Colours of motifs for the output, and against it."""


HEADINGS = ("", "score", "alone", "without it")
"""Columns of :func:`motif_cells`."""


def motif_cells(explanation: Explanation, motif: Motif) -> tuple[Text, ...]:
    """Whether a motif is for the output or against it, its score with the error, and its consequences."""
    side = Text("for" if motif.sign > 0 else "against", STYLES[motif.sign])
    effects = effect_cells(explanation, explanation.all_motifs.index(motif)) or ("", "")
    return side, Text(f"{motif.score:+.3g}{explanation.error_text(motif)}"), *map(Text, effects)


def cost_line(explanation: Explanation, motifs: str) -> Text:
    """How the scores were found and at what cost, and what is known of the motifs, which have a name of their own."""
    return Text(cost(explanation, motifs), "dim")


def remark_lines(explanation: Explanation) -> list[Text]:
    """Remarks on all motifs together, one per line."""
    return [Text(line) for line in remarks(explanation)]
