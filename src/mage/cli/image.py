"""``mage explain-image``: the regions of an image that led to a prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from mage._core.optional import require
from mage.cli._app import announce, app
from mage.cli._options import EXPLAINED, MODEL, option, sharing
from mage.cli._printing import HEADINGS, STYLES, cost_line, motif_cells, remark_lines
from mage.cli._request import check_request, request_options
from mage.cli._results import Results, result_options
from mage.games.request import ImageRequest

if TYPE_CHECKING:
    from mage.explanation import Explanation
    from mage.models.image_classifiers import ImageClassifier


_MODEL = (
    "A name on the Hugging Face hub such as google/efficientnet-b0 (the default), mnist-vit, an .onnx file, a folder "
    "of save_pretrained, or efficientnet-lite0 (of the extra reuploads; the default where that is installed)."
)


@app.command("explain-image")
@sharing(fields=request_options, results=result_options)
def explain_image(
    image: Annotated[Path, typer.Argument(help="A picture: .jpg, .png, …")],
    model: Annotated[str, option(MODEL, _MODEL)] = "",
    return_type: Annotated[str | None, option(MODEL, "What the model returns: raw, probs or log_probs.")] = None,
    class_names: Annotated[
        Path | None, option(MODEL, "File with the names of the classes: one per line, or JSON.")
    ] = None,
    target: Annotated[str | None, option(EXPLAINED, "Class, by number or name; the predicted one by default.")] = None,
    patches: Annotated[
        str | None, option(EXPLAINED, "Rows and columns of the grid of regions; 7x7 by default.")
    ] = None,
    superpixels: Annotated[
        int | None, option(EXPLAINED, "Regions are about this many super-pixels (SLIC), no grid.")
    ] = None,
    fill: Annotated[
        str | None, option(EXPLAINED, "What covers absent regions: mean, blur or a colour; mean by default.")
    ] = None,
    *,
    fields: dict[str, Any],
    results: Results,
) -> None:
    """Explain the class of an image: the regions for it and against it."""
    grid = None if patches is None else _grid(patches)
    if superpixels is not None and superpixels < 2:
        raise ValueError(f"--superpixels must be at least 2, got {superpixels}")
    check_request(ImageRequest, {"return_type": return_type, "patches": grid, **fields})
    if not image.is_file():
        raise ValueError(f"image: the file {image} does not exist")
    announce("loading PyTorch and the network")
    require("torch_geometric", "pyg")
    from mage.explainers.image import explain_image as explain
    from mage.models.image_classifiers import default_classifier, load_image_classifier

    classifier = load_image_classifier(model or default_classifier(), class_names)
    picture = classifier.picture(image)
    announce("preparing the network")
    explanation = explain(
        classifier.through_onnx(),
        image,
        target=_class_number(target, classifier),
        patches=grid,
        segments=None if superpixels is None else _superpixels(picture, superpixels),
        fill=fill if fill in (None, "mean", "blur") else classifier.prepare.colour(fill),
        **{"return_type": return_type, **fields},
    )
    title = verdict(explanation)
    results.finish(explanation, image_parts(explanation), title=title, **{"class": title})


def verdict(explanation: Explanation) -> str:
    """The prediction in words."""
    names = explanation.class_names
    if explanation.target is None or not names:
        return explanation.headline
    probabilities = explanation.probabilities
    sure = "" if probabilities is None else f", probability {probabilities[explanation.target]:.3g}"
    return f"{names[explanation.target]} (class {explanation.target}{sure})"


def image_parts(explanation: Explanation) -> list[Text | Table]:
    """What is said of an explained image on a terminal: the verdict, the grid with its motifs, the scores, the cost."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", *HEADINGS, "regions"):
        table.add_column(heading)
    for number, motif in enumerate(explanation.all_motifs):
        names = "; ".join(explanation.names[region] for region in motif.nodes)
        table.add_row(Text(_letter(number), STYLES[motif.sign]), *motif_cells(explanation, motif), Text(names))
    request: ImageRequest = explanation.request.model_as(ImageRequest)
    return [
        Text(verdict(explanation), "bold"),
        *([_map(explanation, request.patches)] if request.segments is None else []),
        table if explanation.all_motifs else Text("no motif found"),
        *remark_lines(explanation),
        cost_line(explanation, "motifs"),
    ]


def _map(explanation: Explanation, grid: tuple[int, int]) -> Text:
    """The grid with a letter for each motif."""
    text = Text()
    for place, label in enumerate(explanation.all_labels.tolist()):
        mark = _letter(label - 1) if label else "·"
        text.append(f" {mark}", STYLES[explanation.all_motifs[label - 1].sign] if label else "dim")
        if place % grid[1] == grid[1] - 1 and place + 1 < grid[0] * grid[1]:
            text.append("\n")
    return text


def _letter(number: int) -> str:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 26]


def _grid(text: str) -> tuple[int, int]:
    try:
        rows, columns = (int(part) for part in text.lower().replace("×", "x").split("x"))
    except ValueError:
        raise ValueError(f"--patches must be rows x columns, such as 7x7; got {text!r}") from None
    return rows, columns


def _class_number(target: str | None, classifier: ImageClassifier) -> int | None:
    if target is None:
        return None
    if target.isdecimal() and target not in classifier.class_names:
        return int(target)
    if target not in classifier.class_names:
        raise ValueError(f"--target: {target!r} is neither a number nor the name of a class of {classifier.name}")
    return classifier.class_names.index(target)


def _superpixels(picture: Any, count: int) -> Any:
    """About ``count`` regions of like colour, by SLIC."""
    segmentation = require("skimage.segmentation", "image")
    channel = None if picture.ndim == 2 else -1
    return segmentation.slic(picture, n_segments=count, compactness=10.0, start_label=0, channel_axis=channel)
