"""What follows from motifs, on a page: a waterfall from the baseline to the prediction, outputs without each motif."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, NamedTuple

from mage.drawing.motif_places import motif_letter
from mage.explanation.outcomes import percent

if TYPE_CHECKING:
    from mage.explanation import CoalitionOutput, Consequences, Explanation

_WIDTH, _HEIGHT = 240.0, 14.0
_ROUNDING = 1e-6  # models compute in single precision


class Step(NamedTuple):
    """A step of the waterfall.

    Attributes:
        name: What is added.
        start: Output before it.
        end: Output with it.
        is_total: Whether it is an output of its own: the baseline or the prediction.
        is_output: Whether the model was run at its end; steps between are sums.
    """

    name: str
    start: float
    end: float
    is_total: bool = False
    is_output: bool = True


def consequences_card(explanation: Explanation, suffix: str = "") -> str:
    """The card of a page that says what follows from the motifs; empty if the model was not queried.

    Args:
        explanation: What to show.
        suffix: What the names of its elements end in, where a page has several.
    """
    consequences = explanation.consequences
    if consequences is None:
        return ""
    steps = waterfall(consequences, explanation.players_noun)
    low, high = min(step.end for step in steps), max(step.end for step in steps)
    unit = html.escape("output" if explanation.target is None else explanation.output)
    is_chance = _is_chance(consequences)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(step.name)}</th><td>{_bar(step, low, high)}</td>'
        f'<td class="number">{"" if step.is_total else _signed(step.end - step.start)}</td>'
        f'<td class="number">{_output(step.end, is_chance) if step.is_output else ""}</td></tr>'
        for step in steps
    )
    return f"""<section class="card follows" aria-labelledby="follows-heading{suffix}">
<div class="heading"><h2 id="follows-heading{suffix}">From the baseline to the prediction</h2></div>
<div class="follows-parts"><table class="waterfall">
<thead><tr><td></td><td></td><th class="number">adds</th><th class="number">{unit}</th></tr></thead>
<tbody>{rows}</tbody></table>{_effects(consequences, unit, is_chance)}</div>
</section>"""


def waterfall(consequences: Consequences, nodes: str = "nodes") -> list[Step]:
    """Steps from the baseline to the prediction: each motif alone, what motifs do together, and all else."""
    baseline, prediction = consequences.baseline.value, consequences.prediction.value
    steps = [Step(f"no {nodes}", baseline, baseline, is_total=True)]
    is_only = len(consequences.motifs) == 1
    for rank, effect in enumerate(consequences.motifs):
        name, start = f"motif {motif_letter(rank)} alone", steps[-1].end
        steps.append(Step(name, start, start + effect.alone.value - baseline, is_output=is_only))
    if consequences.together is not None and len(consequences.motifs) > 1:
        step = Step("all motifs instead of their sum", steps[-1].end, consequences.together.alone.value)
        scale = max(abs(one.end) for one in steps)
        # What rounding leaves is no step.
        is_rounding = abs(step.end - step.start) <= _ROUNDING * scale
        steps = [*steps[:-1], steps[-1]._replace(is_output=True)] if is_rounding else [*steps, step]
    if consequences.motifs:
        steps.append(Step(f"all other {nodes}", steps[-1].end, prediction))
    return [*steps, Step(f"all {nodes}", baseline, prediction, is_total=True)]


def _bar(step: Step, low: float, high: float) -> str:
    """A bar from the start of a step to its end; the whole way for a total."""
    unit = (_WIDTH - 4) / (high - low or 1.0)
    start, end = (2 + (value - low) * unit for value in (step.start, step.end))
    kind = "total" if step.is_total else "for" if step.end >= step.start else "against"
    return (
        f'<svg class="fall" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" x="{min(start, end) - 1:.2f}" y="2" width="{abs(end - start) + 2:.2f}" '
        f'height="{_HEIGHT - 4:g}"/></svg>'
    )


def _effects(consequences: Consequences, unit: str, is_chance: bool) -> str:
    """Outputs with only each motif and without it, as numbers and as probabilities; once where these are the same."""
    rows = [(f"motif {motif_letter(rank)}", effect) for rank, effect in enumerate(consequences.each)]
    if consequences.together is not None and len(consequences.motifs) > 1:
        rows.append(("all motifs", consequences.together))
    if not rows:
        return ""
    body = "".join(
        f'<tr><th scope="row">{name}</th>{_cells(effect.alone, is_chance)}{_cells(effect.without, is_chance)}</tr>'
        for name, effect in rows
    )
    columns = 1 if is_chance or consequences.baseline.probability is None else 2
    names = f'<th class="number">{unit}</th>' + ('<th class="number">probability</th>' if columns == 2 else "")
    return (
        f'<table class="effects"><thead><tr><td></td><th colspan="{columns}">alone</th>'
        f'<th colspan="{columns}">without it</th></tr><tr><td></td>{names}{names}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _is_chance(consequences: Consequences) -> bool:
    """Whether the output is the probability itself."""
    outcomes = (consequences.baseline, consequences.prediction)
    return all(one.probability is not None and abs(one.probability - one.value) <= _ROUNDING for one in outcomes)


def _output(value: float, is_chance: bool) -> str:
    return percent(value) if is_chance else _printed(value)


def _cells(outcome: CoalitionOutput, is_chance: bool) -> str:
    if is_chance:
        return f'<td class="number">{percent(outcome.value)}</td>'
    chance = "" if outcome.probability is None else f'<td class="number">{percent(outcome.probability)}</td>'
    return f'<td class="number">{_printed(outcome.value)}</td>{chance}'


def _printed(value: float) -> str:
    """A few digits, with a true minus sign."""
    return f"{value:.4g}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.4g}".replace("-", "−")
