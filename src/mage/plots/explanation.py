"""Pictures of an explanation: motifs on the graph, interactions as a heat map, molecules, sentences, super-pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.optional import require
from mage._core.typing import AnyArray, Floats
from mage.drawing import coloured_motifs, undirected_edges, words_of
from mage.drawing.colours import hex_colour, mixed_with_white
from mage.drawing.molecules import bond_ends, read_smiles
from mage.explanation.crop import crop
from mage.explanation.subject import MoleculeSubject
from mage.graph import PlayerGraph
from mage.plots.indices import graph_positions, sign_map

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
        inside = set(nodes)
        style = "-" if motif.sign > 0 else (0, (3, 1.5))
        for i, j in graph.edges.tolist():
            if i in inside and j in inside:
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
    axes.set_title("\n".join([explanation.headline, *_score_lines(explanation)]), fontsize=9, loc="left")
    if heat_map:
        draw_heat_map(figure.add_subplot(1, 2, 2), explanation)
    return figure


def _score_lines(explanation: Explanation) -> list[str]:
    lines = []
    for motif in explanation.motifs:
        error = explanation.error_text(motif)
        lines.append(f"{'for' if motif.sign > 0 else 'against'} {motif.score:+.3g}{error}: {len(motif)} nodes")
    return lines


def molecule_svg(explanation: Explanation, smiles: str | None = None, size: tuple[int, int] = (480, 360)) -> str:
    """The molecule with its motifs, drawn by RDKit as SVG (extra ``chem``).

    Args:
        explanation: Its nodes are the atoms of ``smiles``, in that order.
        smiles: The molecule; by default the one that came with the graph.
        size: Width and height in pixels.
    """
    drawing = require("rdkit.Chem.Draw.rdMolDraw2D", "chem")
    subject = explanation.subject
    text = smiles if smiles is not None else subject.smiles if isinstance(subject, MoleculeSubject) else ""
    if not text:
        raise ValueError("smiles: the explanation carries none; pass it")
    molecule = read_smiles(text, explanation.num_nodes)
    atoms, bonds = {}, {}
    for motif, colour, strength in coloured_motifs(explanation):
        shade = _pale(colour, strength)
        inside = set(motif.nodes)
        atoms.update(dict.fromkeys(motif.nodes, shade))
        for bond in molecule.GetBonds():
            if inside.issuperset(bond_ends(bond)):
                bonds[bond.GetIdx()] = shade
    canvas = drawing.MolDraw2DSVG(*size)
    drawing.PrepareAndDrawMolecule(
        canvas,
        molecule,
        highlightAtoms=list(atoms),
        highlightAtomColors=atoms,
        highlightBonds=list(bonds),
        highlightBondColors=bonds,
    )
    canvas.FinishDrawing()
    return str(canvas.GetDrawingText())


def _pale(colour: str, strength: float) -> tuple[float, float, float]:
    """The colour of a motif behind letters, paler for weaker motifs."""
    return mixed_with_white(colour, 0.3 + 0.5 * strength)


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
            colours[v] = hex_colour(_pale(colour, strength))
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
            style="italic" if v in against else "normal",
            bbox={"facecolor": colours[v], "edgecolor": "none", "boxstyle": "round,pad=0.2"},
        )
    axes.set_xlim(0, widths.sum())
    axes.set_ylim(0, 1.4 + 0.06 * np.ptp(centres) if len(shown) > 1 else 2)
    axes.set_axis_off()
    axes.set_title(explanation.headline, fontsize=9, loc="left")
    return figure


def plot_superpixels(explanation: Explanation, image: AnyArray, segments: AnyArray) -> Figure:
    """Motifs as coloured regions over the image their super-pixels come from.

    Args:
        explanation: Its nodes are the super-pixels.
        image: [height, width] or [height, width, 3].
        segments: For each pixel the number of its super-pixel [height, width]; −1 for none.
    """
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    regions = np.asarray(segments)
    if regions.shape != np.asarray(image).shape[:2] or regions.max() >= explanation.num_nodes:
        raise ValueError(f"segments must number the {explanation.num_nodes} super-pixels of each pixel of the image")
    overlay: Floats = np.zeros((*regions.shape, 4))
    for motif, colour, strength in coloured_motifs(explanation):
        overlay[np.isin(regions, motif.nodes)] = (*_pale(colour, 1.0), 0.25 + 0.5 * strength)
    figure = Figure(figsize=(4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(image, cmap="gray")
    axes.imshow(overlay)
    axes.set_axis_off()
    axes.set_title("\n".join([explanation.headline, *_score_lines(explanation)]), fontsize=8, loc="left")
    return figure
