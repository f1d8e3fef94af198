"""Which features of a motif's nodes matter, on a page: a table with bars."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from mage.drawing.motif_places import motif_letter

if TYPE_CHECKING:
    from mage.explanation import Explanation, MotifFeatures

_WIDTH, _HEIGHT = 240.0, 14.0
_MOST = 12  # features of one motif


def features_card(explanation: Explanation, suffix: str = "") -> str:
    """The card of a page with what :meth:`mage.Explanation.features` has computed; empty where nothing was.

    Args:
        explanation: What to show.
        suffix: What the names of its elements end in, where a page has several.
    """
    if not explanation.motif_features:
        return ""
    letters = {motif.nodes: motif_letter(rank) for rank, motif in enumerate(explanation.all_motifs)}
    parts = "".join(_table(explanation, part, letters.get(part.nodes)) for part in explanation.motif_features)
    return f"""<section class="card follows" aria-labelledby="features-heading{suffix}">
<div class="heading"><h2 id="features-heading{suffix}">Which features matter</h2></div>
<div class="follows-parts">{parts}</div>
</section>"""


def _table(explanation: Explanation, part: MotifFeatures, letter: str | None) -> str:
    names = ", ".join(explanation.names[node] for node in part.nodes[:6]) + (", …" if len(part.nodes) > 6 else "")
    title = html.escape(f"motif {letter}: {names}" if letter is not None else names)
    rows = part.top(_MOST)
    largest = max((abs(value) + error for _, value, error in rows), default=0.0) or 1.0
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{_bar(value, error, largest)}</td>'
        f'<td class="number">{value:+.4g}{"" if part.exact else f" ± {error:.2g}"}</td></tr>'
        for name, value, error in rows
    )
    more = len(part.names) - len(rows)
    absent = "zero" if part.absent == "zero" else "the mean"
    remark = f"Absent features are {absent}. {'Exact' if part.exact else f'Estimated ({part.method})'}."
    remark += f" {more} more features." if more > 0 else ""
    return (
        f'<table class="features"><caption>{title}</caption><thead><tr><th>feature</th><td></td>'
        f'<th class="number">adds</th></tr></thead><tbody>{body}</tbody>'
        f'<tfoot><tr><td colspan="3" class="faint">{html.escape(remark)}</td></tr></tfoot></table>'
    )


def _bar(value: float, error: float, largest: float) -> str:
    """A bar from the middle to the value, with a line for the standard error."""
    middle, unit = _WIDTH / 2, (_WIDTH / 2 - 2) / largest
    start, end = sorted((middle, middle + value * unit))
    low, high = middle + (value - error) * unit, middle + (value + error) * unit
    kind = "for" if value >= 0 else "against"
    whisker = f'<path d="M{low:.1f} {_HEIGHT / 2}H{high:.1f}" stroke="currentColor"/>' if error > 0 else ""
    return (
        f'<svg class="fall" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" x="{start - 1:.2f}" y="2" width="{end - start + 2:.2f}" height="{_HEIGHT - 4:g}"/>'
        f"{whisker}</svg>"
    )
