"""Why a classifier says this of an image: the regions that speak for it and against it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.optional import require
from mage._core.typing import AnyArray
from mage.explanation import Explanation
from mage.graph import PlayerGraph
from mage.indices import interactions
from mage.motifs import check_request, find_motifs

if TYPE_CHECKING:
    from mage.games.image_game import ImageGame

DEFAULT_PERMUTATIONS = 20
"""Orderings where nothing else is said: of 7 × 7 patches they need some 6,500 images, minutes on a processor."""
EXACT_LIMIT = 15_000
"""Most connected coalitions that are all asked for unbidden; 4 × 4 patches have 11,506."""


def explain_image(
    model: Any,
    image: Any,
    num_motifs: int = 2,
    max_nodes: int | float = 0.25,
    tau: float = 0.5,
    target: int | None = None,
    output: str = "logit",
    *,
    patches: Any = (7, 7),
    segments: Any = None,
    fill: Any = "mean",
    picture: Any = None,
    class_names: Sequence[str] | None = None,
    index: str = "myerson-taylor",
    order: int = 2,
    method: str = "auto",
    budget: int | None = None,
    permutations: int | None = None,
    seed: int = 0,
    connected: bool = True,
    noise_floor: float = 0.1,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
    task: str = "auto",
    return_type: str = "raw",
    baseline: float | None = None,
    batch_size: int = 64,
    solver: str = "auto",
    progress: bool | None = None,
) -> Explanation:
    """Explain what a classifier says of an image by the regions that made it say so.

    Patches or segments are the players, those that touch side by side may act together, and a motif is a connected part
    of the image. See :class:`mage.games.ImageGame`.

    Args:
        model: Any callable that maps images [b, c, h, w] to rows [b, classes], or a classifier of
            :func:`mage.models.image_classifiers.load_image_classifier`, which prepares files by itself.
        image: One image [c, h, w] as floats, prepared the way the model wants it; for a loaded classifier also a file,
            a Pillow image or bytes [h, w, 3].
        num_motifs: m, the largest number of motifs.
        max_nodes: M, regions in all motifs together: a count, or a share of the regions.
        tau: τ: 1 shows what speaks for the class, 0 what speaks against it, 0.5 both alike.
        target: Class to explain; the predicted one by default.
        output: ``"logit"``, ``"probability"`` or ``"log-probability"`` of the target.
        patches: Rows and columns of the grid.
        segments: Instead of a grid: for each pixel the number of its region [h, w]; pixels below 0 are always shown.
        fill: What hides a region: ``"mean"``, ``"blur"``, a colour in the image's own units, or an image [c, h, w].
        picture: What to show to people instead of the prepared image: bytes [h, w] or [h, w, 3].
        class_names: Names of the classes; those of a loaded classifier by default.
        index: ``"myerson-taylor"`` or one of the other three indices.
        order: Order of the index, 1 to 3.
        method: How the index is computed, see :func:`mage.interactions`; networks for images being slow, ``"auto"`` is
            exact up to 15,000 coalitions where no budget is given.
        budget: Most coalitions to ask the model for.
        permutations: Orderings to sample; 20 by default where the exact index is out of reach.
        seed: Seed of the sampling.
        connected: Whether motifs must be connected.
        noise_floor: Share of the largest interaction below which interactions count as zero.
        include: Regions, by number, that must be in some motif.
        exclude: Regions that must be in none.
        task: ``"multiclass"``, ``"binary"`` or ``"regression"``; by the output's shape by default.
        return_type: What the model returns: ``"raw"``, ``"probs"`` or ``"log_probs"``.
        baseline: Value of the image with all regions hidden, where it is known.
        batch_size: Most images in one call of the model.
        solver: Motif solver, see :func:`mage.find_motifs`.
        progress: Show a progress bar; by default on a terminal only.

    Returns:
        An explanation whose nodes are regions, together with the picture: its page shows the motifs on it, and so does
        :func:`mage.plots.plot_image`.
    """
    require("torch_geometric", "pyg")
    from mage.games.image_game import ImageGame
    from mage.report.pictures import attach_image

    check_request(num_motifs, max_nodes, tau, noise_floor, solver, order or 1)
    start = time.perf_counter()
    network, tensor, shown, known = _prepared(model, image)
    game = ImageGame(
        network,
        tensor,
        patches=patches,
        segments=segments,
        fill=fill,
        target=target,
        output=output,
        task=task,
        return_type=return_type,
        baseline=baseline,
        batch_size=batch_size,
    )
    classes = _checked_classes(known if class_names is None else class_names, game, given=class_names is not None)
    shown = picture_of(game) if picture is None and shown is None else np.asarray(shown if picture is None else picture)
    if shown.shape[:2] != game.segments.shape:
        raise ValueError(f"picture must have the image's {list(game.segments.shape)} pixels, got {list(shown.shape)}")
    if method == "auto" and budget is None and permutations is None:
        method = _affordable_method(game, index)
    if method == "permutation" and budget is None and permutations is None:
        permutations = DEFAULT_PERMUTATIONS
    found = interactions(
        game, index, order, method, budget=budget, permutations=permutations, seed=seed, progress=progress
    )
    motifs = find_motifs(
        found,
        num_motifs=num_motifs,
        max_nodes=max_nodes,
        tau=tau,
        connected=connected,
        noise_floor=noise_floor,
        include=include,
        exclude=exclude,
        solver=solver,
    )
    edges = game.graph.edges.T
    explanation = Explanation(
        motifs=motifs,
        interactions=found,
        prediction=game.prediction,
        target=game.target,
        players=tuple((region,) for region in range(game.num_players)),
        edge_index=np.concatenate([edges, edges[::-1]], axis=1),
        num_nodes=game.num_players,
        names=game.names,
        task=game.readout.task,
        output=output,
        masking=game.masking,
        level="image",
        num_queries=game.num_queries,
        seconds=time.perf_counter() - start,
        extra={"return_type": return_type, **({"class_names": classes} if classes else {})},
    )
    return attach_image(explanation, shown, game.segments)


def picture_of(game: ImageGame) -> AnyArray:
    """A prepared image as floats [h, w] or [h, w, 3] in [0, 1]: normalisation is undone by stretching the range."""
    pixels = game.image.float().cpu().movedim(0, 2).numpy()
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


def _affordable_method(game: ImageGame, index: str) -> str:
    graph = PlayerGraph.complete(game.num_players) if index.startswith("shapley") else game.graph
    return "exact" if graph.count_connected(cap=EXACT_LIMIT) <= EXACT_LIMIT else "permutation"


def _checked_classes(names: Sequence[str], game: ImageGame, given: bool) -> list[str]:
    if not names:
        return []
    count = max(2, len(game.prediction))
    if isinstance(names, str) or len(names) != count or game.target is None:
        if not given:
            return []
        raise ValueError(f"class_names must list {count} names, one a class, got {len(names)}")
    return [str(name) for name in names]
