"""Tables of an explanation as plain markup: for readers without scripts, and for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from mage.drawing import shown_names
from mage.explanation.outcomes import class_name, effect_cells, percent
from mage.explanation.wording import members

if TYPE_CHECKING:
    from mage.explanation import Explanation

_MOST_CLASSES = 6


def motif_table(explanation: Explanation) -> str:
    """Motifs with side, score, error and nodes."""
    motifs, names = explanation.motifs, shown_names(explanation)
    proof = f"Motifs {motifs.proof}" if explanation.all_motifs else "Searched"
    effects = ("alone", "without it") if explanation.consequences is not None else ()
    headings = "".join(f"<th>{heading}</th>" for heading in ("side", "score", *effects, explanation.subject.nodes))
    rows = "".join(
        f'<tr><td class="{side}">{side} {sign}</td><td class="number">{motif.score:+.4g}'
        f"{html.escape(explanation.error_text(motif))}</td>"
        f"{''.join(f'<td class=number>{html.escape(cell)}</td>' for cell in effect_cells(explanation, rank))}"
        f"<td>{html.escape(members(explanation, motif, names))}</td></tr>"
        for rank, motif in enumerate(explanation.all_motifs)
        for side, sign in [("for", "+") if motif.sign > 0 else ("against", "−")]
    )
    return (
        f"<table><thead><tr>{headings}</tr></thead>"
        f"<tbody>{rows or f'<tr><td colspan={3 + len(effects)}>no motif found</td></tr>'}</tbody></table>"
        f"{f'<p>{html.escape(sentence(explanation.saturation))}</p>' if explanation.saturation else ''}"
        f"<p>{proof} for τ = {motifs.side_weight}, m = {motifs.num_motifs}, M = {motifs.max_nodes}.</p>"
    )


def class_rows(explanation: Explanation) -> tuple[str, str] | None:
    """The predicted class, and the probabilities of the likeliest classes as bars; None for regression."""
    chances = explanation.probabilities
    if chances is None or explanation.target is None:
        return None
    answer = html.escape(class_name(explanation, int(chances.argmax())))
    largest = np.argsort(-chances, kind="stable")[:_MOST_CLASSES].tolist()
    if explanation.target not in largest:
        largest[-1] = explanation.target
    rows = "".join(
        f'<tr{" class=explained" if k == explanation.target else ""}><th scope="row">'
        f"{html.escape(class_name(explanation, k))}</th>"
        '<td><svg class="chance" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * chances[k]:.2f}" height="8"/></svg></td>'
        f'<td class="number">{percent(float(chances[k]))}</td></tr>'
        for k in largest
    )
    num_more = len(chances) - len(largest)
    more = f'<p class="faint">{plural(num_more, "more class", "more classes")}</p>' if num_more else ""
    other = explanation.target != int(chances.argmax())
    target = (
        f'<p class="soft">Explained: {html.escape(class_name(explanation, explanation.target))}</p>' if other else ""
    )
    return answer, f'<table class="classes">{rows}</table>{more}{target}'


def plural(count: int, singular: str, plural_form: str) -> str:
    """A count with its noun."""
    return f"{count:,} {singular if count == 1 else plural_form}"


def sentence(text: str) -> str:
    """A remark as a sentence."""
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
