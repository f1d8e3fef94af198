"""Pictures of an explained sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mage._core.checks import checked_list, checked_texts
from mage.drawing import words_of
from mage.explanation.arguments import checked_explanation
from mage.explanation.subject import SentenceSubject
from mage.plots.explanation import plot_explanation

if TYPE_CHECKING:
    from mage.explanation import Explanation
    from mage.plots.figures import ExplanationFigure


def plot_sentence(explanation: Explanation, words: Sequence[str] | None = None) -> ExplanationFigure:
    """A sentence in reading order, its motifs coloured, its tree as arcs above the words.

    Args:
        explanation: Its nodes are words.
        words: The words; by default those that the explanation carries, or the names of the nodes.
    """
    checked_explanation(explanation)
    texts = words_of(explanation) if words is None else checked_texts("words", checked_list("words", words, "words"))
    if len(texts) != explanation.num_nodes:
        raise ValueError(f"words: {len(texts)} words for {explanation.num_nodes} nodes")
    return plot_explanation(replace(explanation, subject=SentenceSubject(texts)), heat_map=False)
