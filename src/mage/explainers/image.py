"""``mage.explain_image``: the regions of an image for a prediction and against it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from mage._core.optional import require
from mage._core.typing import AnyArray
from mage.explainers.fields import OtherImageFields
from mage.explainers.pipeline import InputGraph, Progress, explain_game
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation, ImageSubject
from mage.games.request import ImageRequest


def explain_image(
    model: Any,
    image: Any,
    *,
    target: int | None = None,
    num_motifs: int | str | None = None,
    max_nodes: int | float | str | None = None,
    tau: float | str | None = None,
    patches: Any = None,
    segments: Any = None,
    fill: Any = None,
    class_names: Sequence[str] | None = None,
    progress: Progress = None,
    request: Any = None,
    **fields: Unpack[OtherImageFields],
) -> Explanation:
    """Explain a prediction for an image by the regions that led to it.

    Patches or segments are the players, those that touch side by side may act together, and a motif is a connected part
    of the image. See :class:`mage.ImageRequest` for the regions and for what hides them.

    Args:
        model: Any callable that maps images [b, c, h, w] to rows [b, classes], or a classifier of
            :func:`mage.models.image_classifiers.load_image_classifier`, which prepares files by itself.
        image: One image [c, h, w] as floats, prepared as the model needs it; for a loaded classifier also a file,
            a Pillow image or bytes [h, w, 3].
        target: Class to explain; the predicted one by default.
        num_motifs: m, the largest number of motifs; up to three by default.
        max_nodes: M, regions in all motifs together: a count, or a share of the regions; chosen by default, see
            :mod:`mage.motifs.path`.
        tau: By default each side has its own search; a number τ weights both in one search: 1 only for the class, 0
            only against it.
        patches: Rows and columns of the grid of regions; 7 × 7 by default.
        segments: Instead of a grid: for each pixel the number of its region [h, w]; pixels below 0 are always shown.
        fill: What covers an absent region: ``"mean"`` (the default), ``"blur"``, a colour, or an image [c, h, w].
        class_names: Names of the classes; those of a loaded classifier by default.
        progress: As for :func:`mage.explain`.
        request: One or several requests instead of single fields.
        fields: Other fields of the requests by name, such as ``output``, ``method`` or ``permutations``; and ``like``,
            an explanation of an image that is to be repeated.

    Returns:
        An explanation whose nodes are regions, together with the picture; its page and its plot show the motifs on it.
    """
    require("torch_geometric", "pyg")
    from mage.games.image_game import ImageGame

    everyday = {"target": target, "num_motifs": num_motifs, "max_nodes": max_nodes, "tau": tau}
    regions = {"patches": patches, "segments": segments, "fill": fill}
    whole = ExplainRequest.of(ImageRequest, request, **everyday, **regions, **fields)
    started = time.perf_counter()
    image_request = whole.model_as(ImageRequest)
    network, tensor, pixels, default_names = _prepared(model, image)
    game = ImageGame(network, tensor, image_request)
    picture = pixels if image_request.picture is None else np.asarray(image_request.picture)
    picture = picture_of(game.image) if picture is None else picture
    if picture.shape[:2] != game.segments.shape:
        raise ValueError(f"picture must have the image's {list(game.segments.shape)} pixels, got {list(picture.shape)}")
    if class_names is None and len(default_names) == max(2, len(game.prediction)) and game.target is not None:
        class_names = default_names
    subject = ImageSubject.of(picture, game.segments)
    graph = replace(InputGraph.of(game), subject=subject, class_names=class_names)
    return explain_game(game, whole, graph, progress=progress, started=started)


def picture_of(image: Any) -> AnyArray:
    """A prepared image [c, h, w] as floats [h, w] or [h, w, 3] in [0, 1]: its range is stretched to undo a scaling."""
    pixels: AnyArray = image.float().cpu().movedim(0, 2).numpy()
    if pixels.shape[2] not in (1, 3):
        pixels = pixels.mean(axis=2, keepdims=True)
    low, high = float(pixels.min()), float(pixels.max())
    if low < 0 or high > 1:
        pixels = (pixels - low) / ((high - low) or 1.0)
    return pixels[:, :, 0] if pixels.shape[2] == 1 else pixels


def _prepared(model: Any, image: Any) -> tuple[Any, Any, AnyArray | None, Sequence[str]]:
    """The network, its input, the picture for people, and the names of classes that came with the network."""
    if not hasattr(model, "prepare"):
        return model, image, None, ()
    if hasattr(image, "dim") and image.is_floating_point():
        return model.network, image, None, model.class_names
    return model.network, model.prepare(image), model.picture(image), model.class_names
