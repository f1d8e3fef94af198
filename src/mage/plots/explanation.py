"""Pictures of an explanation: motifs on the graph, interactions as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.optional import require
from mage.drawing import coloured_motifs
from mage.explanation.crop import crop
from mage.graph import PlayerGraph
from mage.plots.indices import graph_positions, sign_map
from mage.plots.titles import score_lines, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mage.explanation import Explanation


def draw_motifs(axes: Axes, explanation: Explanation, positions: Any = None, labels: bool | None = None) -> None:
    """Draw the graph with its motifs: green for, red and hatched against, stronger ones darker.

    Args:
        axes: Where to draw.
        explanation: What to draw.
        positions: Positions of the nodes [n, 2]; a layout of the graph by default.
        labels: Whether to write the nodes' names; by default up to 60 nodes.
    """
    graph = PlayerGraph.from_edge_index(explanation.edge_index, explanation.num_nodes)
    place = graph_positions(graph) if positions is None else np.asarray(positions)
    size = float(np.clip(9000 / max(explanation.num_nodes, 1), 25, 320))
    for i, j in graph.edges.tolist():
        axes.plot(*place[[i, j]].T, color="0.8", linewidth=1, zorder=1)
    axes.scatter(place[:, 0], place[:, 1], s=size, color="white", edgecolors="0.6", zorder=3)
    for motif, colour, strength in coloured_motifs(explanation):
        nodes = list(motif.nodes)
        style = "-" if motif.sign > 0 else (0, (3, 1.5))
        for i, j in explanation.motif_edges(motif):
            axes.plot(
                *place[[i, j]].T,
                color=colour,
                linewidth=2 + 4 * strength,
                alpha=0.3 + 0.7 * strength,
                linestyle=style,
                zorder=2,
            )
        axes.scatter(
            place[nodes, 0],
            place[nodes, 1],
            s=size * 1.15,
            color=colour,
            alpha=0.25 + 0.6 * strength,
            edgecolors=colour,
            linewidths=1.5,
            hatch=None if motif.sign > 0 else "////",
            zorder=4,
        )
    if labels if labels is not None else explanation.num_nodes <= 60:
        for v, name in enumerate(explanation.names):
            axes.annotate(name, place[v], ha="center", va="center", fontsize=7, zorder=5, parse_math=False)
    axes.set_axis_off()
    axes.margins(0.08)
    axes.set_aspect("equal")


def draw_heat_map(axes: Axes, explanation: Explanation) -> None:
    """Draw all pairwise interactions, players sorted so that motifs are blocks."""
    order = _players_by_motif(explanation)
    matrix = explanation.interactions.matrix[np.ix_(order, order)]
    reach = float(np.abs(matrix).max()) or 1.0
    axes.imshow(matrix, cmap=sign_map(), vmin=-reach, vmax=reach, interpolation="nearest")
    names = [explanation.interactions.names[player] for player in order]
    if len(names) <= 40:
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6, parse_math=False)
        axes.set_yticks(range(len(names)), names, fontsize=6, parse_math=False)
    axes.set_title("interactions (single nodes on the diagonal)", fontsize=9)


def _players_by_motif(explanation: Explanation) -> list[int]:
    labels = explanation.motifs.labels
    ranks = [min((labels[v] or len(labels)) for v in nodes) for nodes in explanation.players]
    return sorted(range(len(ranks)), key=lambda player: (ranks[player], player))


def plot_explanation(explanation: Explanation, positions: Any = None, heat_map: bool = True) -> Figure:
    """The graph with its motifs, their scores, and the heat map beside it."""
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    if positions is None:
        explanation = crop(explanation)
    figure = Figure(figsize=(11 if heat_map else 6, 5.6), layout="constrained")
    axes = figure.add_subplot(1, 2 if heat_map else 1, 1)
    draw_motifs(axes, explanation, positions)
    set_title(axes, explanation.headline, *score_lines(explanation))
    if heat_map:
        draw_heat_map(figure.add_subplot(1, 2, 2), explanation)
    return figure
