"""What commands say of explanations on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from mage.explanation import Explanation
    from mage.motifs import Motif

STYLES = {1: "bold green", -1: "bold red"}
"""Colours of motifs that speak for the output, and against it."""


def side_and_score(explanation: Explanation, motif: Motif) -> tuple[Text, Text]:
    """Whether a motif speaks for the output or against it, and its score with the error."""
    side = Text("for" if motif.sign > 0 else "against", STYLES[motif.sign])
    return side, Text(f"{motif.score:+.3g}{explanation.error_text(motif)}")


def cost_line(explanation: Explanation, motifs: str) -> Text:
    """How the scores were found and at what cost, and what is known of the motifs, which have a name of their own."""
    cost = f"{explanation.how}, {explanation.num_queries:,} queries, {explanation.seconds:.2f} s"
    return Text(f"{cost}; {motifs} {explanation.motifs.proof}", "dim")
