"""Interactions drawn on the players' graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_instance, checked_list, checked_numbers, checked_text, checked_whole, shortened
from mage._core.files import as_path, atomic_path
from mage._core.optional import require
from mage._core.typing import Floats
from mage.drawing import AGAINST, FOR, side_colour, stress_layout
from mage.graph import PlayerGraph
from mage.indices import FAMILIES, Interactions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


def graph_positions(graph: PlayerGraph) -> Floats:
    """Positions [n, 2] of the players of a graph; see :func:`mage.drawing.stress_layout`."""
    return stress_layout(graph.edges, graph.num_players)


def sign_map() -> Colormap:
    """The colours of values from negative to positive."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("mage", [AGAINST, "#ffffff", FOR])


def draw_interactions(axes: Axes, interactions: Interactions, positions: Any = None, most_pairs: int = 40) -> None:
    """Draw first-order terms as node shades and the strongest pairs as lines, green for positive, red for negative.

    Args:
        axes: Where to draw.
        interactions: An index of any order; sets of three and more are not drawn.
        positions: Positions of the players [n, 2]; a layout of the graph by default.
        most_pairs: Number of pairs drawn at most.
    """
    checked_instance("interactions", interactions, Interactions, "Interactions, as mage.interactions returns them")
    most_pairs = checked_whole("most_pairs", most_pairs, least=0)
    require("matplotlib", "plot")
    shape = (interactions.num_players, 2)
    place = graph_positions(interactions.graph) if positions is None else checked_numbers("positions", positions, shape)
    matrix = interactions.matrix
    strongest = float(np.abs(matrix).max()) or 1.0
    for i, j in interactions.graph.edges.tolist():
        axes.plot(*place[[i, j]].T, color="0.8", linewidth=1, zorder=1)
    pairs = interactions.top(most_pairs, size=2) if interactions.order > 1 else []
    for (i, j), value, _ in reversed(pairs):
        strength = abs(value) / strongest
        if strength > 0.01:
            # Dashes keep the sign readable without colour.
            axes.plot(
                *place[[i, j]].T,
                color=side_colour(value),
                linestyle="-" if value > 0 else (0, (3, 2)),
                linewidth=1 + 5 * strength,
                alpha=0.25 + 0.75 * strength,
                solid_capstyle="round",
                zorder=2,
            )
    for player, value in enumerate(np.diag(matrix)):
        shade = min(1.0, abs(value) / strongest)
        axes.scatter(place[player, 0], place[player, 1], s=320, color="white", edgecolors="0.3", zorder=3)
        axes.scatter(
            place[player, 0],
            place[player, 1],
            s=320,
            color=side_colour(value),
            alpha=0.75 * shade,
            linewidths=0,
            zorder=4,
        )
        axes.annotate(
            interactions.names[player],
            place[player],
            ha="center",
            va="center",
            fontsize=8,
            zorder=5,
            parse_math=False,
        )
    axes.set_axis_off()
    axes.margins(0.1)
    axes.set_aspect("equal")


def plot_indices(results: Sequence[Interactions], title: str = "") -> Figure:
    """Several indices of one game side by side, on one layout."""
    title = checked_text("title", title)
    results = checked_list("results", results, "a list of Interactions")
    for result in results:
        checked_instance("results", result, Interactions, "a list of Interactions")
    if not results:
        raise ValueError("results must hold at least one result")
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    columns = min(2, len(results))
    rows = -(-len(results) // columns)
    figure = Figure(figsize=(5.2 * columns, 4.4 * rows), layout="constrained")
    positions = graph_positions(results[0].graph)
    for cell, result in enumerate(results):
        axes = figure.add_subplot(rows, columns, cell + 1)
        draw_interactions(axes, result, positions)
        symbol = FAMILIES[result.index].symbol
        axes.set_title(f"{result.index} ({symbol}), order {result.order}, {result.how}", fontsize=11)
    if title:
        figure.suptitle(title)
    return figure


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure as SVG, PNG or PDF by the path's ending; the same figure gives the same bytes."""
    from matplotlib import rc_context

    if not hasattr(figure, "savefig"):
        raise TypeError(f"figure must be a matplotlib figure, got {shortened(figure)}")
    kind = as_path("path", path).suffix.lstrip(".") or "svg"
    if kind not in figure.canvas.get_supported_filetypes():
        raise ValueError(f"path must end with .svg, .png or .pdf, got {str(path)!r}")
    # Without a salt and with a date, matplotlib writes different bytes every time.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with rc_context({"svg.hashsalt": "mage"}), atomic_path(path) as unfinished:
        figure.savefig(unfinished, format=kind, metadata=metadata, bbox_inches="tight")
