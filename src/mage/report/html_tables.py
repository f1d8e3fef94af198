"""Tables of an explanation as plain markup: for readers without scripts, and for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from mage.explanation.wording import class_name

if TYPE_CHECKING:
    from mage.explanation import Explanation

_MOST_CLASSES = 6


def motif_table(explanation: Explanation) -> str:
    """Motifs with side, score, error and nodes."""
    rows = "".join(
        f'<tr><td class="{side}">{sign} {side}</td><td class="number">{motif.score:+.4g}'
        f"{html.escape(explanation.error_text(motif))}</td>"
        f"<td>{html.escape(', '.join(explanation.names[node] for node in motif.nodes))}</td></tr>"
        for motif in explanation.motifs
        for side, sign in [("for", "+") if motif.sign > 0 else ("against", "−")]
    )
    return (
        "<table><thead><tr><th>speaks</th><th>score</th><th>nodes</th></tr></thead>"
        f"<tbody>{rows or '<tr><td colspan=3>no motif found</td></tr>'}</tbody></table>"
        f"<p>Motifs {html.escape(explanation.motifs.proof)} for τ = {explanation.motifs.tau:g}, "
        f"m = {explanation.motifs.num_motifs}, M = {explanation.motifs.max_nodes}.</p>"
    )


def class_rows(explanation: Explanation) -> tuple[str, str] | None:
    """The explained class, and the probabilities of the likeliest classes as bars; None for regression."""
    chances = explanation.probabilities
    if chances is None or explanation.target is None:
        return None
    answer = html.escape(class_name(explanation, explanation.target))
    shown = np.argsort(-chances, kind="stable")[:_MOST_CLASSES].tolist()
    if explanation.target not in shown:
        shown[-1] = explanation.target
    rows = "".join(
        f'<tr{" class=explained" if k == explanation.target else ""}><th scope="row">'
        f"{html.escape(class_name(explanation, k))}</th>"
        '<td><svg class="chance" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * chances[k]:.2f}" height="8"/></svg></td>'
        f'<td class="number">{_percent(float(chances[k]))}</td></tr>'
        for k in shown
    )
    more = f'<p class="faint">{len(chances) - len(shown)} more classes</p>' if len(chances) > len(shown) else ""
    return answer, f'<table class="classes">{rows}</table>{more}'


def _percent(share: float) -> str:
    """A probability as people say it, never rounded to certainty."""
    if share > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"
