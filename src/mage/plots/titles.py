"""What stands above a figure: the explained output, and the motifs with their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mage.explanation.wording import pattern, side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mage.explanation import Explanation


def score_lines(explanation: Explanation) -> list[str]:
    """For each motif its side, its score with the error, and how large it is."""
    subject = explanation.subject
    return [
        f"{side(motif)} {motif.score:+.3g}{explanation.error_text(motif)}: {len(motif)} "
        f"{subject.node if len(motif) == 1 else subject.nodes}{_aside(pattern(explanation, motif))}"
        for motif in explanation.motifs
    ]


def _aside(text: str) -> str:
    return f", {text}" if text else ""


def set_title(axes: Axes, *lines: str, size: float = 9) -> None:
    """Write lines above a panel, as they are: a dollar sign begins no formula."""
    axes.set_title("\n".join(lines), fontsize=size, loc="left", parse_math=False)
