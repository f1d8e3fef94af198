"""An explanation in words: headline, verdict, lines and tables for people, plain values for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mage.indices import FAMILIES

if TYPE_CHECKING:
    from rich.table import Table

    from mage.explanation.explanation import Explanation
    from mage.motifs import Motif

_LEVELS = {"node": "the node", "edge": "the link"}


def explained_part(explanation: Explanation) -> str:
    """What the explained output belongs to: the whole input, one node of it, or a link."""
    return _LEVELS.get(explanation.level, explanation.subject.whole)


def class_name(explanation: Explanation, number: int) -> str:
    """The name of a class; ``class 3`` where names are not known."""
    return explanation.class_names[number] if explanation.class_names else f"class {number}"


def headline(explanation: Explanation) -> str:
    """The prediction in words, with the number of the class."""
    where = explained_part(explanation)
    if explanation.target is None:
        return f"prediction {explanation.prediction[0]:.4g} for {where}"
    return f"class {explanation.target}{_probability(explanation)} for {where}"


def verdict(explanation: Explanation) -> str:
    """The prediction by the name of its class, where that is known; else the headline."""
    if explanation.target is None or not explanation.class_names:
        return headline(explanation)
    return f"{class_name(explanation, explanation.target)}{_probability(explanation)}"


def _probability(explanation: Explanation) -> str:
    probabilities = explanation.probabilities
    return "" if probabilities is None else f" (probability {probabilities[explanation.target]:.3g})"


def how(explanation: Explanation) -> str:
    """How the scores were found."""
    index = explanation.interactions
    if index.index not in FAMILIES:
        return f"{index.index} scores"
    return f"{index.index} of order {index.order}, {index.how}"


def cost(explanation: Explanation) -> str:
    """How the scores were found, and what that took."""
    return f"{how(explanation)}, {explanation.num_queries:,} queries, {explanation.seconds:.2f} s"


def side(motif: Motif) -> str:
    """``for`` or ``against``."""
    return "for" if motif.sign > 0 else "against"


def error_text(explanation: Explanation, motif: Motif) -> str:
    """The standard error of a motif's score; empty where it is exact, or where the method has none."""
    error = 0.0 if explanation.interactions.exact else explanation.motif_error(motif)
    return f" ± {error:.2g}" if error > 0 else ""


def score_text(explanation: Explanation, motif: Motif) -> str:
    """A motif's score with its sign and standard error."""
    return f"{motif.score:+.4g}{error_text(explanation, motif)}"


def node_names(explanation: Explanation, motif: Motif) -> str:
    """The names of a motif's nodes."""
    return ", ".join(explanation.names[node] for node in motif.nodes)


def lines(explanation: Explanation) -> list[str]:
    """The explanation as lines of text."""
    motifs = [
        f"{side(motif):7} {score_text(explanation, motif)}  {{{node_names(explanation, motif)}}}"
        for motif in explanation.motifs
    ]
    return [
        f"Explanation: {headline(explanation)}",
        f"  {cost(explanation)}; motifs {explanation.motifs.proof}",
        *(f"  {line}" for line in motifs or ["no motif found"]),
        *(f"  {note}" for note in explanation.notes),
    ]


def table(explanation: Explanation) -> Table:
    """The explanation as a table for terminals."""
    from rich.table import Table

    caption = "\n".join([f"{cost(explanation)}; motifs {explanation.motifs.proof}", *explanation.notes])
    result = Table(title=headline(explanation), caption=caption)
    for heading in ("", "score", explanation.subject.nodes):
        result.add_column(heading)
    for motif in explanation.motifs:
        colour = "green" if motif.sign > 0 else "red"
        names = node_names(explanation, motif).replace("[", r"\[")
        result.add_row(f"[{colour}]{side(motif)}[/{colour}]", score_text(explanation, motif), names)
    return result


def plain_summary(explanation: Explanation) -> dict[str, Any]:
    """The explanation as plain values, for JSON."""
    motifs, interactions = explanation.motifs, explanation.interactions
    return {
        "prediction": explanation.prediction.tolist(),
        "target": explanation.target,
        "class_names": list(explanation.class_names),
        "task": explanation.task,
        "output": explanation.output,
        "level": explanation.level,
        "target_nodes": list(explanation.target_nodes),
        "motifs": [
            {
                "nodes": list(motif.nodes),
                "names": [explanation.names[v] for v in motif.nodes],
                "score": motif.score,
                "std_error": _finite_or_none(explanation.motif_error(motif)),
                "sign": motif.sign,
            }
            for motif in motifs
        ],
        "objective": motifs.objective,
        "bound": _finite_or_none(motifs.bound),
        "optimal": motifs.optimal,
        "index": interactions.index,
        "order": interactions.order,
        "exact": interactions.exact,
        "method": interactions.method,
        "stopped": interactions.stopped,
        "notes": list(explanation.notes),
        "num_queries": explanation.num_queries,
        "seconds": explanation.seconds,
    }


def _finite_or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
