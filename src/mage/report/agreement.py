"""How far two explanations agree: nodes of their motifs, and the scores of all nodes."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mage._core.typing import Floats
from mage.drawing import shown_names
from mage.explanation.arguments import checked_explanation

if TYPE_CHECKING:
    from mage.explanation import Explanation


@dataclass(frozen=True)
class Agreement:
    """How far two explanations of graphs with the same nodes agree.

    Attributes:
        shared: Nodes in motifs of both.
        first: Nodes in motifs of the first only.
        second: Nodes in motifs of the second only.
        opposed: Shared nodes that are on different sides.
        jaccard: Shared nodes as a part of all nodes in motifs; 1 where neither has a motif.
        correlation: Pearson's correlation of the scores of all nodes; NaN where one has the same score everywhere.
    """

    shared: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    opposed: tuple[int, ...]
    jaccard: float
    correlation: float


def agreement(first: Explanation, second: Explanation) -> Agreement:
    """Compare two explanations whose graphs have the same nodes, such as those of two models or two classes.

    Args:
        first: An explanation.
        second: Another one of as many nodes.
    """
    checked_explanation(first, "first")
    checked_explanation(second, "second")
    if first.num_nodes != second.num_nodes:
        raise ValueError(
            f"first, second: {first.num_nodes} and {second.num_nodes} nodes; explanations of the same graph are needed"
        )
    sides = [_sides(explanation) for explanation in (first, second)]
    ours, theirs = (set(side) for side in sides)
    shared = ours & theirs
    scores = first.node_scores, second.node_scores
    return Agreement(
        shared=tuple(sorted(shared)),
        first=tuple(sorted(ours - theirs)),
        second=tuple(sorted(theirs - ours)),
        opposed=tuple(sorted(node for node in shared if sides[0][node] != sides[1][node])),
        jaccard=len(shared) / len(ours | theirs) if ours | theirs else 1.0,
        correlation=_correlation(*scores),
    )


def agreement_lines(result: Agreement, names: Sequence[str], labels: Sequence[str]) -> list[tuple[str, str]]:
    """What is compared, and how it turned out, in words.

    Args:
        result: How far two explanations agree.
        names: Names of the nodes.
        labels: Names of the two explanations.
    """

    def listed(nodes: Sequence[int]) -> str:
        return f"{len(nodes)}" + (f" ({', '.join(names[node] for node in nodes)})" if nodes else "")

    correlation = "–" if np.isnan(result.correlation) else f"{result.correlation:.2f}"
    return [
        ("in motifs of both", listed(result.shared)),
        (f"only in motifs of {labels[0]}", listed(result.first)),
        (f"only in motifs of {labels[1]}", listed(result.second)),
        *([("on different sides", listed(result.opposed))] if result.opposed else []),
        ("shared part of all nodes in motifs", f"{100 * result.jaccard:.0f} %"),
        ("correlation of the scores of all nodes", correlation),
    ]


def agreement_card(first: Explanation, second: Explanation, labels: Sequence[str]) -> str:
    """The card of a page that compares two explanations; empty for graphs of different sizes."""
    if first.num_nodes != second.num_nodes:
        return ""
    lines = agreement_lines(agreement(first, second), shown_names(first), labels)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(aspect)}</th><td>{html.escape(sentence)}</td></tr>'
        for aspect, sentence in lines
    )
    return (
        '<section class="card agreement" aria-labelledby="agreement-heading"><div class="heading">'
        f'<h2 id="agreement-heading">Agreement</h2></div><table><tbody>{rows}</tbody></table></section>'
    )


def _sides(explanation: Explanation) -> dict[int, int]:
    return {node: motif.sign for motif in explanation.all_motifs for node in motif.nodes}


def _correlation(first: Floats, second: Floats) -> float:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
