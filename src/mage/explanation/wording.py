"""An explanation in words: headline, verdict, lines and tables as text, plain values for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.printing import printable
from mage.explanation.outcomes import (
    class_name,
    effect_cells,
    effect_texts,
    ends_text,
    plain_consequences,
    saturation,
)
from mage.explanation.subject import SentenceSubject
from mage.indices import FAMILIES

if TYPE_CHECKING:
    from rich.table import Table

    from mage.explanation.explanation import Explanation
    from mage.motifs import Motif

_LEVELS = {"node": "the node", "edge": "the link"}


def explained_part(explanation: Explanation) -> str:
    """What the explained output belongs to: the whole input, one node of it, or a link."""
    return _LEVELS.get(explanation.level, explanation.subject.whole)


def headline(explanation: Explanation) -> str:
    """The prediction in words: the class with its name, its number and its probability."""
    where = explained_part(explanation)
    if explanation.target is None:
        return f"prediction {explanation.prediction[0]:.4g} for {where}"
    number, probabilities = f"class {explanation.target}", explanation.probabilities
    if not explanation.class_names:
        return f"{number}{_probability(explanation)} for {where}"
    sure = "" if probabilities is None else f", probability {probabilities[explanation.target]:.3g}"
    return f"{class_name(explanation, explanation.target)} ({number}{sure}) for {where}"


def verdict(explanation: Explanation) -> str:
    """The prediction by the name of its class, if it is known; otherwise the headline."""
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


def queries(explanation: Explanation) -> str:
    """How often the model was called, and how much of that the interactions took."""
    whole, index = explanation.num_queries, explanation.interactions.num_queries
    return f"{whole:,} queries" if whole == index else f"{whole:,} queries ({index:,} for the index)"


def cost(explanation: Explanation, motifs: str = "motifs") -> str:
    """How the scores were found, what that took, and how good the motifs are, which may have a name of their own."""
    proof = f"; {motifs} {explanation.motifs.proof}" if explanation.all_motifs else ""
    return f"{how(explanation)}, {queries(explanation)}, {explanation.seconds:.2f} s{proof}"


def side(motif: Motif) -> str:
    """``for`` or ``against``."""
    return "for" if motif.sign > 0 else "against"


def error_text(explanation: Explanation, motif: Motif) -> str:
    """The standard error of a motif's score; empty if it is exact, or if the method has none."""
    error = 0.0 if explanation.interactions.exact else explanation.motif_error(motif)
    return f" ± {error:.2g}" if error > 0 else ""


def score_text(explanation: Explanation, motif: Motif) -> str:
    """A motif's score with its sign and standard error."""
    return f"{motif.score:+.4g}{error_text(explanation, motif)}"


def node_names(explanation: Explanation, motif: Motif, shown: Sequence[str] | None = None) -> str:
    """The names of a motif's nodes, or of its edges; with numbers where names repeat, as those of atoms do.

    Args:
        explanation: The explanation.
        motif: One of its motifs.
        shown: Names of all nodes to use instead of their own.
    """
    names: Sequence[str] = explanation.names
    if not isinstance(explanation.subject, SentenceSubject):  # words may repeat
        if shown is not None:
            names = shown
        elif len(set(names)) < len(names):
            names = [f"{name}{node}" for node, name in enumerate(names)]
    if motif.edges:
        return ", ".join(f"{names[first]}–{names[second]}" for first, second in motif.edges)
    return ", ".join(names[node] for node in motif.nodes)


def pattern(explanation: Explanation, motif: Motif) -> str:
    """What kind of group a motif is, such as ``author – paper – author``; empty where all nodes are of one kind."""
    pairs: list[Sequence[int]] = list(explanation.motif_edges(motif))
    if explanation.level == "edge" and set(explanation.target_nodes) <= set(motif.nodes):
        pairs.append(explanation.target_nodes)  # the explained link joins its ends
    return explanation.subject.pattern(motif.nodes, pairs)


def members(explanation: Explanation, motif: Motif, shown: Sequence[str] | None = None) -> str:
    """What a motif consists of by name, and what kind of group that is; ``shown`` are other names of the nodes."""
    return f"{node_names(explanation, motif, shown)}{_aside(pattern(explanation, motif))}"


def lines(explanation: Explanation) -> list[str]:
    """The explanation as lines of text."""
    motifs = [
        f"{side(motif):7} {score_text(explanation, motif)}  {{{node_names(explanation, motif)}}}"
        f"{_aside(pattern(explanation, motif))}{effect}"
        for motif, effect in zip(explanation.all_motifs, effect_texts(explanation), strict=True)
    ]
    sentences = [
        f"Explanation: {headline(explanation)}",
        f"  {cost(explanation)}",
        *(f"  {line}" for line in motifs or ["no motif found"]),
        *(f"  {line}" for line in remarks(explanation)),
    ]
    return list(map(printable, sentences))


def _aside(text: str) -> str:
    return f"  {text}" if text else ""


def remarks(explanation: Explanation) -> list[str]:
    """What is said of all motifs together, and of how they came about, in sentences."""
    return [line for line in (saturation(explanation), ends_text(explanation), *explanation.notes) if line]


def table(explanation: Explanation) -> Table:
    """The explanation as a table for terminals."""
    from rich.table import Table
    from rich.text import Text

    def text(line: str, style: str = "") -> Text:
        return Text(printable(line), style)  # as it is: what looks like markup of rich is none

    nothing = [] if explanation.all_motifs else ["no motif found"]
    below = "\n".join([cost(explanation), *nothing, *remarks(explanation)])
    result = Table(title=text(headline(explanation)), caption=text(below))
    effects = explanation.consequences is not None
    for heading in ("", "score", *(("alone", "without it") if effects else ()), explanation.players_noun):
        result.add_column(heading)
    for rank, motif in enumerate(explanation.all_motifs):
        cells = (score_text(explanation, motif), *effect_cells(explanation, rank), members(explanation, motif))
        result.add_row(text(side(motif), "green" if motif.sign > 0 else "red"), *map(text, cells))
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
                **({"edges": [list(edge) for edge in motif.edges]} if motif.edges else {}),
                **({"pattern": kind} if (kind := pattern(explanation, motif)) else {}),
                "score": motif.score,
                "std_error": _finite_or_none(explanation.motif_error(motif)),
                "sign": motif.sign,
            }
            for motif in explanation.all_motifs
        ],
        "consequences": plain_consequences(explanation),
        "saturation": saturation(explanation) or None,
        "objective": motifs.objective,
        "bound": _finite_or_none(motifs.bound),
        "optimal": motifs.optimal,
        "max_nodes": motifs.max_nodes,
        "path": [asdict(step) for step in motifs.path],
        "index": interactions.index,
        "order": interactions.order,
        "exact": interactions.exact,
        "method": interactions.method,
        "stopped": interactions.stopped,
        "notes": list(explanation.notes),
        "players": explanation.player_kind,
        "features": [
            {"nodes": list(part.nodes), "features": [list(row) for row in part.top(len(part.names))]}
            for part in explanation.motif_features
        ],
        "num_queries": explanation.num_queries,
        "index_queries": interactions.num_queries,
        "seconds": explanation.seconds,
    }


def _finite_or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
