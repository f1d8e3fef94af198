"""Sentences as they are drawn: their words in reading order, and the edges of their tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mage.explanation.subject import SentenceSubject

if TYPE_CHECKING:
    from mage.explanation import Explanation


def words_of(explanation: Explanation) -> tuple[str, ...]:
    """The words of an explained sentence; of other graphs, the names of the nodes."""
    subject = explanation.subject
    return tuple(subject.words) if isinstance(subject, SentenceSubject) else tuple(explanation.names)
