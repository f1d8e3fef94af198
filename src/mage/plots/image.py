"""Pictures of an explained image: motifs as outlines, and what each region contributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.optional import require
from mage._core.typing import AnyArray, Floats, Masks
from mage.drawing import coloured_motifs, outlines
from mage.drawing.colours import pale
from mage.explanation.subject import ImageSubject
from mage.plots.indices import sign_map
from mage.plots.titles import score_lines, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mage.explanation import Explanation


def plot_image(explanation: Explanation, image: Any = None, segments: Any = None, heat_map: bool = True) -> Figure:
    """The image with its motifs outlined, and beside it what each region contributes.

    Args:
        explanation: Its nodes are regions of the image.
        image: [h, w] or [h, w, 3]; by default the picture that the explanation carries.
        segments: For each pixel the number of its region [h, w], −1 for none; by default the explanation's own.
        heat_map: Whether to draw the second panel.
    """
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    carried = attached_image(explanation) if image is None or segments is None else (image, segments)
    pixels = np.asarray(carried[0] if image is None else image)
    labels = np.asarray(carried[1] if segments is None else segments)
    if labels.shape != pixels.shape[:2] or labels.max() >= explanation.num_nodes:
        raise ValueError(f"segments must number the {explanation.num_nodes} regions of each pixel of the image")
    figure = Figure(figsize=(10 if heat_map else 5, 5.4), layout="constrained")
    axes = figure.add_subplot(1, 2 if heat_map else 1, 1)
    draw_motif_outlines(axes, explanation, pixels, labels)
    set_title(axes, explanation.verdict, *score_lines(explanation))
    if heat_map:
        draw_region_scores(figure.add_subplot(1, 2, 2), explanation, pixels, labels)
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
        overlay[np.isin(regions, motif.nodes)] = (*pale(colour), 0.25 + 0.5 * strength)
    figure = Figure(figsize=(4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(image, cmap="gray")
    axes.imshow(overlay)
    axes.set_axis_off()
    set_title(axes, explanation.headline, *score_lines(explanation), size=8)
    return figure


def attached_image(explanation: Explanation) -> tuple[AnyArray, AnyArray]:
    """The picture and the label map that an explanation carries; see :class:`mage.explanation.ImageSubject`."""
    if not isinstance(explanation.subject, ImageSubject):
        raise ValueError("image, segments: the explanation carries none; pass both")
    return explanation.subject.pixels, explanation.subject.segments


def draw_motif_outlines(axes: Axes, explanation: Explanation, image: AnyArray, segments: AnyArray) -> None:
    """Draw the image pale, motifs in full strength, outlined in green (for) or in dashed, hatched red (against)."""
    labels = np.asarray(segments)
    chosen = explanation.motifs.labels[np.maximum(labels, 0)] * (labels >= 0)
    axes.imshow(image, cmap="gray", vmin=0, vmax=_white(image), interpolation="nearest")
    if len(explanation.motifs):
        _add_region(axes, chosen == 0, facecolor="white", alpha=0.55, linewidth=0)
    for number, (motif, colour, strength) in enumerate(coloured_motifs(explanation), start=1):
        is_for = motif.sign > 0
        _add_region(
            axes,
            chosen == number,
            facecolor="none",
            edgecolor=colour,
            linewidth=1.5 + 2.5 * strength,
            linestyle="-" if is_for else (0, (3, 1.5)),
            hatch=None if is_for else "//",
        )
    axes.set_axis_off()


def draw_region_scores(axes: Axes, explanation: Explanation, image: AnyArray, segments: AnyArray) -> None:
    """Draw what each region contributes, its share of interactions included, over the image in grey."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scores = explanation.node_scores
    reach = float(np.abs(scores).max()) or 1.0
    scale = ScalarMappable(Normalize(-reach, reach), sign_map())
    grey = image if image.ndim == 2 else image[:, :, :3].mean(axis=2)
    axes.imshow(grey, cmap="gray", vmin=0, vmax=_white(image), interpolation="nearest")
    for region, score in enumerate(scores.tolist()):
        _add_region(axes, segments == region, facecolor=scale.to_rgba(score), alpha=0.7, linewidth=0)
    axes.figure.colorbar(scale, ax=axes, shrink=0.8, label=f"{explanation.output}, share of each region")
    axes.set_axis_off()


def _add_region(axes: Axes, mask: Masks, **style: Any) -> None:
    """A region as one shape with its holes; corners of pixels lie half a pixel off their centres."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    loops = outlines(mask)
    if loops:
        parts = [Path(np.concatenate([loop, loop[:1]]) - 0.5, closed=True) for loop in loops]
        axes.add_patch(PathPatch(Path.make_compound_path(*parts), **style))


def _white(image: AnyArray) -> float:
    return 255.0 if np.issubdtype(image.dtype, np.integer) else 1.0
