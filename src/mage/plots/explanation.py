"""Pictures of an explanation: motifs on the graph, molecule, sentence or image, and interactions as a heat map."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_flag, checked_numbers
from mage._core.optional import require
from mage.drawing import Scene, drawable, player_names, scene_of, shown_names, undirected_edges
from mage.drawing.scene import important_nodes
from mage.drawing.scene_builders import graph_scene, types_of
from mage.explanation.arguments import checked_explanation
from mage.plots.indices import sign_map
from mage.plots.scene import draw_scene
from mage.plots.titles import score_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mage.explanation import Explanation
    from mage.plots.figures import ExplanationFigure

_MARGIN = 0.15  # inches
_WIDTH, _HEIGHT = 5.6, 4.8  # of the drawing at most
_SENTENCE_WIDTH = 8.0
_MAP = 4.6
_LINE = 0.19  # height of a line of the title
_LARGEST = 1.1  # points for a unit of the drawing
_LETTERS = 15  # of a title, per inch


def draw_motifs(axes: Axes, explanation: Explanation, positions: Any = None, labels: bool | None = None) -> None:
    """Draw an explanation as pages do: motifs green for, red and hatched against, stronger ones darker.

    Args:
        axes: Where to draw; they must have their place in the figure already, for lines are as wide as the scale says.
        explanation: What to draw.
        positions: Positions of the nodes [n, 2]; by default the layout that pages use.
        labels: Whether to write the nodes' names; by default up to 80 nodes.
    """
    checked_explanation(explanation)
    scene = scene_of(explanation) if positions is None else _placed(explanation, positions)
    draw_scene(axes, explanation, scene, labels is not False)


def draw_heat_map(axes: Axes, explanation: Explanation) -> None:
    """Draw all pairwise interactions, players sorted so that motifs are blocks."""
    checked_explanation(explanation)
    order = _players_by_motif(explanation)
    interactions = explanation.interactions
    pairs = interactions.pair_values if interactions.order > 1 else interactions.matrix
    matrix = pairs[np.ix_(order, order)]
    reach = float(np.abs(matrix).max()) or 1.0
    axes.imshow(matrix, cmap=sign_map(), vmin=-reach, vmax=reach, interpolation="nearest")
    player_labels = player_names(explanation, shown_names(explanation))
    names = [player_labels[player] for player in order]
    if len(names) <= 40:
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6, parse_math=False)
        axes.set_yticks(range(len(names)), names, fontsize=6, parse_math=False)
    axes.set_title(f"interactions (single {explanation.subject.nodes} on the diagonal)", fontsize=9)


def plot_explanation(explanation: Explanation, positions: Any = None, heat_map: bool = True) -> ExplanationFigure:
    """The graph, molecule, sentence or image with its motifs and their scores, and the heat map beside it.

    Args:
        explanation: What to draw.
        positions: Positions of the nodes [n, 2]; by default the layout that pages use.
        heat_map: Whether to draw the second panel.
    """
    checked_explanation(explanation)
    heat_map = checked_flag("heat_map", heat_map)
    if positions is None:
        explanation = drawable(explanation)
        scene = scene_of(explanation)
    else:
        scene = _placed(explanation, positions)
    figure, axes = scene_figure(explanation, scene, (explanation.verdict, *score_lines(explanation)), beside=heat_map)
    if heat_map:
        draw_heat_map(axes, explanation)
    return figure


def scene_figure(
    explanation: Explanation, scene: Scene, title: tuple[str, ...], beside: bool
) -> tuple[ExplanationFigure, Any]:
    """A figure with a drawn scene, lines above it, and room beside it.

    Args:
        explanation: What to draw.
        scene: Where everything lies.
        title: Lines of the title; long ones are wrapped.
        beside: Whether to make axes beside the drawing.

    Returns:
        The figure, and the axes beside the drawing or None.
    """
    require("matplotlib", "plot")
    from mage.plots.figures import ExplanationFigure

    widest = _SENTENCE_WIDTH if scene.kind == "sentence" else _WIDTH
    points = min(72 * widest / scene.box.width, 72 * _HEIGHT / scene.box.height, _LARGEST)
    width, height = scene.box.width * points / 72, scene.box.height * points / 72
    left = max(width, 3.6)
    lines = [part for line in title for part in textwrap.wrap(line, int(_LETTERS * left)) or [""]]
    top = _LINE * (len(lines) + bool(scene.types)) + _MARGIN
    tall = max(height + top, _MAP + 1.2 if beside else 0.0) + _MARGIN
    whole = left + 2 * _MARGIN + (_MAP + 1.4 if beside else 0.0)
    figure = ExplanationFigure(figsize=(whole, tall))
    axes = figure.add_axes((_MARGIN / whole, (tall - top - height) / tall, width / whole, height / tall))
    draw_scene(axes, explanation, scene)
    for place, line in enumerate(lines):
        figure.text(
            _MARGIN / whole,
            1 - (_MARGIN + _LINE * place) / tall,
            line,
            fontsize=9,
            va="top",
            fontweight="bold" if place == 0 else "normal",
            parse_math=False,
        )
    if not beside:
        return figure, None
    corner = (left + 2 * _MARGIN + 0.9) / whole, 1 - (_MAP + 0.4) / tall
    return figure, figure.add_axes((*corner, _MAP / whole, _MAP / tall))


def _placed(explanation: Explanation, positions: Any) -> Scene:
    """The graph at given positions, scaled so that its edges are as long as in other drawings."""
    edges = undirected_edges(explanation)
    place = checked_numbers("positions", positions, shape=(explanation.num_nodes, 2))
    if not np.isfinite(place).all():
        raise ValueError("positions must be finite numbers")
    lengths = [float(np.linalg.norm(place[i] - place[j])) for i, j in edges]
    spread = place / (float(np.median(lengths)) if any(lengths) else 1.0)
    return graph_scene(explanation.names, edges, spread, types_of(explanation), important_nodes(explanation))


def _players_by_motif(explanation: Explanation) -> list[int]:
    labels = explanation.all_labels
    ranks = [min((labels[v] or len(labels)) for v in nodes) for nodes in explanation.players]
    return sorted(range(len(ranks)), key=lambda player: (ranks[player], player))
