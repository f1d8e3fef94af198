"""What follows from motifs, in words: outputs with only them and without them, and why there may be none."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._torch.conventions import BOUNDED

if TYPE_CHECKING:
    from mage.explanation.explanation import Explanation
    from mage.explanation.records import CoalitionOutput

SATURATED = 0.99
"""Probability without any nodes from which no group can add to a class."""

_UNITS = {"logit": "logits", "log-probability": "log-probabilities", BOUNDED: "bounded log-odds"}
_CERTAIN = 0.9995  # reads 1.000
_SAME = 64 * float(
    np.finfo(np.float32).eps
)  # probabilities that differ by rounding only, of models in single precision


def class_name(explanation: Explanation, number: int) -> str:
    """The name of a class; ``class 3`` where names are not known."""
    return explanation.class_names[number] if explanation.class_names else f"class {number}"


def percent(share: float) -> str:
    """A probability as text, never rounded to 0 or 100 %."""
    if share > _CERTAIN:
        return "> 99.9 %"
    return "< 0.1 %" if share < 1 - _CERTAIN else f"{100 * share:.1f} %"


def outcome_text(outcome: CoalitionOutput) -> str:
    """An outcome as a probability, or as a plain number where it has none."""
    return f"{outcome.value:.4g}" if outcome.probability is None else percent(outcome.probability)


def effect_cells(explanation: Explanation, rank: int) -> tuple[str, ...]:
    """What the model says with only a motif, and without it; nothing where that is not known."""
    if explanation.consequences is None:
        return ()
    effect = explanation.consequences.each[rank]
    return outcome_text(effect.alone), outcome_text(effect.without)


def effect_texts(explanation: Explanation) -> list[str]:
    """For each motif what the model says with only it and without it; empty where that is not known."""
    cells = [effect_cells(explanation, rank) for rank in range(len(explanation.all_motifs))]
    return [f"; alone {cell[0]}, without it {cell[1]}" if cell else "" for cell in cells]


def ends_text(explanation: Explanation) -> str:
    """The output without any nodes, with all, with only the motifs and without them; empty where not known."""
    consequences = explanation.consequences
    if consequences is None:
        return ""
    nodes = explanation.players_noun
    output_name = "output" if explanation.target is None else class_name(explanation, explanation.target)
    parts = [
        f"{outcome_text(consequences.baseline)} without any {nodes}",
        f"{outcome_text(consequences.prediction)} with all",
    ]
    if consequences.together is not None and len(consequences.motifs) > 1:
        parts.append(f"{outcome_text(consequences.together.alone)} with the motifs alone")
        parts.append(f"{outcome_text(consequences.together.without)} without them")
    return f"{output_name}: {', '.join(parts)}"


def saturation(explanation: Explanation) -> str:
    """What to know if the model predicts the target without any nodes, so that groups add little; else empty."""
    consequences, target = explanation.consequences, explanation.target
    if consequences is None or target is None:
        return ""
    base, full = consequences.baseline.probability, consequences.prediction.probability
    if base is None or full is None:
        return ""
    nodes = explanation.players_noun
    absent = f"every {nodes.removesuffix('s')}{' in play' if _only_some_play(explanation) else ''} absent"
    start = f"the model gives {class_name(explanation, target)} a probability of {base:.3f} with {absent}"
    speaks = any(motif.sign > 0 for motif in explanation.motifs)
    reason = ""
    if base >= SATURATED and not (speaks and explanation.output != "probability"):
        nothing = base > _CERTAIN and not speaks
        can_add = "no group of {} can add" if nothing else f"groups of {{}} can add at most {1 - base:.2g}"
        reason = f", so {can_add.format(nodes)} to it"
    elif min(base, full) > _CERTAIN:
        unit = _UNITS.get(explanation.output, explanation.output)
        reason = f"; probabilities hardly change, so compare the scores, which are in {unit}"
    elif not speaks and explanation.motifs.tau > 0 and abs(full - base) <= _SAME:
        reason = f", as with all of them, and no group of {nodes} adds to it"
    return f"{start}{reason}" if reason else ""


def _only_some_play(explanation: Explanation) -> bool:
    """Whether nodes that the output depends on were present or absent throughout."""
    return bool(explanation.stages) or explanation.players_cap is not None


def plain_consequences(explanation: Explanation) -> dict[str, Any] | None:
    """What follows as plain values, for JSON."""
    return None if explanation.consequences is None else asdict(explanation.consequences)
