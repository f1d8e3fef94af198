"""Texts of pages about an explanation: its title, and how it was computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mage.explanation.outcomes import class_name
from mage.explanation.wording import explained_part
from mage.report.html_tables import sentence

if TYPE_CHECKING:
    from mage.explanation import Explanation

_ABBREVIATIONS = {"sii": "SII", "k-sii": "k-SII"}


def default_title(explanation: Explanation) -> str:
    """The question that a page answers, such as "Why mutagen?"."""
    if explanation.target is None:
        answer = f"{explanation.prediction.ravel()[0]:.4g}"
    else:
        answer = class_name(explanation, explanation.target)
    return f"Why {answer}{_place(explanation)}?"


def _place(explanation: Explanation) -> str:
    """Which node or link is explained; empty for a whole input."""
    names = [explanation.names[node] for node in explanation.target_nodes]
    if explanation.level == "node" and len(names) == 1:
        return f" for {explanation.subject.node} {names[0]}"
    return f" for the link between {names[0]} and {names[1]}" if len(names) == 2 else ""


def facts(explanation: Explanation) -> list[str]:
    """How the explanation was found, in sentences."""
    nodes = explanation.subject.nodes
    masking = f", absent {explanation.players_noun}: “{explanation.masking}”" if explanation.masking else ""
    part = explanation.part_of
    return [
        f"Explains the {explanation.output} of {_explained(explanation)}{masking}. Method: {_how(explanation)}; "
        f"{explanation.num_queries:,} runs of the model. Made with mage.",
        *([f"Drawn are {explanation.num_nodes:,} of {part:,} {nodes}: those near the motifs."] if part else []),
        *map(sentence, explanation.notes),
    ]


def _explained(explanation: Explanation) -> str:
    place = _place(explanation).removeprefix(" for ")
    return place or explained_part(explanation)


def _how(explanation: Explanation) -> str:
    """How the scores were found, with the index's name as it is printed in papers."""
    name = explanation.interactions.index
    printed = _ABBREVIATIONS.get(name, name.title() if name.islower() else name)
    return explanation.how.replace(name, printed, 1)
