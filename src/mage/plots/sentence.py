"""Pictures of an explained sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mage._core.optional import require
from mage.drawing import coloured_motifs, undirected_edges, words_of
from mage.drawing.colours import hex_colour, pale
from mage.plots.titles import set_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mage.explanation import Explanation


def plot_sentence(explanation: Explanation, words: Sequence[str] | None = None) -> Figure:
    """A sentence in reading order, its motifs coloured, its tree as arcs above the words."""
    require("matplotlib", "plot")
    from matplotlib.figure import Figure
    from matplotlib.patches import Arc

    shown = list(words_of(explanation) if words is None else words)
    if len(shown) != explanation.num_nodes:
        raise ValueError(f"words: {len(shown)} words for {explanation.num_nodes} nodes")
    widths = np.array([len(word) + 2.0 for word in shown])
    centres = np.cumsum(widths) - widths / 2
    figure = Figure(figsize=(max(4.0, 0.11 * widths.sum()), 2.4), layout="constrained")
    axes = figure.add_subplot()
    for i, j in undirected_edges(explanation):
        width = centres[j] - centres[i]
        axes.add_patch(Arc(((centres[i] + centres[j]) / 2, 1.0), width, 0.5 + 0.12 * width, theta2=180, color="0.7"))
    colours = dict.fromkeys(range(len(shown)), "none")
    for motif, colour, strength in coloured_motifs(explanation):
        for v in motif.nodes:
            colours[v] = hex_colour(pale(colour, strength))
    against = {v for motif in explanation.motifs if motif.sign < 0 for v in motif.nodes}
    for v, word in enumerate(shown):
        axes.text(
            centres[v],
            0.45,
            word,
            ha="center",
            va="center",
            family="monospace",
            fontsize=10,
            parse_math=False,
            style="italic" if v in against else "normal",
            bbox={"facecolor": colours[v], "edgecolor": "none", "boxstyle": "round,pad=0.2"},
        )
    axes.set_xlim(0, widths.sum())
    axes.set_ylim(0, 1.4 + 0.06 * np.ptp(centres) if len(shown) > 1 else 2)
    axes.set_axis_off()
    set_title(axes, explanation.headline)
    return figure
