"""Pictures of an explained image: motifs as outlines, and what each region contributes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_array, checked_flag, shortened
from mage._core.typing import AnyArray
from mage.drawing import drawable, scene_of
from mage.explanation.arguments import checked_explanation
from mage.explanation.subject import ImageSubject
from mage.plots.explanation import scene_figure
from mage.plots.indices import sign_map
from mage.plots.scene import region
from mage.plots.titles import score_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mage.explanation import Explanation
    from mage.plots.figures import ExplanationFigure


def plot_image(
    explanation: Explanation, image: Any = None, segments: Any = None, heat_map: bool = True
) -> ExplanationFigure:
    """The image with its motifs outlined, the rest paled, and beside it what each region contributes.

    Args:
        explanation: Its nodes are regions of the image.
        image: [h, w] or [h, w, 3]; by default the picture that the explanation carries.
        segments: For each pixel the number of its region [h, w], −1 for none; by default the explanation's own.
        heat_map: Whether to draw the second panel.
    """
    checked_explanation(explanation)
    heat_map = checked_flag("heat_map", heat_map)
    carried = attached_image(explanation) if image is None or segments is None else (image, segments)
    pixels = checked_array("image", carried[0] if image is None else image)
    labels = checked_array("segments", carried[1] if segments is None else segments)
    if pixels.ndim not in (2, 3) or not pixels.size or pixels.dtype.kind not in "biuf":
        raise ValueError(f"image must hold numbers [h, w] or [h, w, 3], got {shortened(image)}")
    if labels.dtype.kind not in "iu" or labels.shape != pixels.shape[:2] or labels.max() >= explanation.num_nodes:
        raise ValueError(f"segments must number the {explanation.num_nodes} regions of each pixel of the image")
    explanation = drawable(replace(explanation, subject=ImageSubject.of(pixels, labels)))
    scene = scene_of(explanation)
    figure, axes = scene_figure(explanation, scene, (explanation.verdict, *score_lines(explanation)), beside=heat_map)
    if heat_map and scene.picture is not None:
        draw_region_scores(axes, explanation, scene.picture.pixels, scene.picture.segments)
    return figure


def plot_superpixels(explanation: Explanation, image: AnyArray, segments: AnyArray) -> ExplanationFigure:
    """Motifs as regions of the image that their super-pixels come from; see :func:`plot_image`.

    Args:
        explanation: Its nodes are the super-pixels.
        image: [height, width] or [height, width, 3].
        segments: For each pixel the number of its super-pixel [height, width]; −1 for none.
    """
    checked_explanation(explanation)
    return plot_image(explanation, image, segments, heat_map=False)


def attached_image(explanation: Explanation) -> tuple[AnyArray, AnyArray]:
    """The picture and the label map that an explanation carries; see :class:`mage.explanation.ImageSubject`."""
    if not isinstance(explanation.subject, ImageSubject):
        raise ValueError("image, segments: the explanation carries none; pass both")
    return explanation.subject.pixels, explanation.subject.segments


def draw_region_scores(axes: Axes, explanation: Explanation, image: AnyArray, segments: AnyArray) -> None:
    """Draw what each region contributes, its share of interactions included, over the image in grey."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scores = explanation.node_scores
    reach = float(np.abs(scores).max()) or 1.0
    scale = ScalarMappable(Normalize(-reach, reach), sign_map())
    grey = image if image.ndim == 2 else image[:, :, :3].mean(axis=2)
    height, width = segments.shape
    axes.imshow(grey, cmap="gray", vmin=0, vmax=255, interpolation="nearest", extent=(0.0, width, height, 0.0))
    for number, score in enumerate(scores.tolist()):
        patch = region(segments == number, facecolor=scale.to_rgba(score), alpha=0.7, linewidth=0)
        if patch is not None:
            axes.add_patch(patch)
    axes.figure.colorbar(scale, ax=axes, shrink=0.8, label=f"{explanation.output}, share of each region")
    axes.set_axis_off()
