"""``mage explain-image``: the parts of an image that made a classifier say this."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mage._core.optional import require
from mage.cli._app import app, failing_politely
from mage.cli._options import check_files, checked_max_nodes

if TYPE_CHECKING:
    from mage.explanation import Explanation
    from mage.models.image_classifiers import ImageClassifier

_STYLES = {1: "bold green", -1: "bold red"}


@app.command("explain-image")
def explain_image(
    image: Annotated[Path, typer.Argument(help="A picture: .jpg, .png, …")],
    model: Annotated[
        str,
        typer.Option(
            help="efficientnet-lite0, mnist-vit, an .onnx file, a folder of Hugging Face's save_pretrained, or a name "
            "on their hub such as microsoft/resnet-50."
        ),
    ] = "efficientnet-lite0",
    patches: Annotated[str, typer.Option(help="Rows and columns of the grid, such as 7x7.")] = "7x7",
    superpixels: Annotated[
        int | None, typer.Option(help="Cut the image into about so many super-pixels (SLIC) instead.")
    ] = None,
    fill: Annotated[str, typer.Option(help="What hides a region: mean, blur, or a colour.")] = "mean",
    target: Annotated[str | None, typer.Option(help="Class, by number or name; the predicted one by default.")] = None,
    output: Annotated[str, typer.Option(help="logit, probability or log-probability.")] = "logit",
    return_type: Annotated[str, typer.Option(help="What the model returns: raw, probs or log_probs.")] = "raw",
    class_names: Annotated[
        Path | None, typer.Option(help="File with the names of the classes: a line each, or JSON.")
    ] = None,
    num_motifs: Annotated[int, typer.Option(help="m, most motifs.")] = 2,
    max_nodes: Annotated[float, typer.Option(help="M, most regions in all: a count ≥ 1 or a share below 1.")] = 0.25,
    tau: Annotated[float, typer.Option(help="1: what speaks for; 0: against; between: both.")] = 0.5,
    method: Annotated[str, typer.Option(help="auto, exact or permutation; see mage.explain_image.")] = "auto",
    budget: Annotated[int | None, typer.Option(help="Most images to ask the model for.")] = None,
    permutations: Annotated[int | None, typer.Option(help="Orderings to sample; 20 by default.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the explanation in this file.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write a page to this .html file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw it to this .svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Explain what a classifier says of a picture: the parts that speak for it and against it.

    Exit codes: 0 for an explanation, 1 for a failure, 2 for wrong arguments.
    """
    with failing_politely():
        require("torch_geometric", "pyg")
        from mage.explainers.image import explain_image as explain
        from mage.models.image_classifiers import load_image_classifier

        check_files(save=save, page=page, picture=picture)
        grid, most = _grid(patches), checked_max_nodes(max_nodes)
        classifier = load_image_classifier(model, class_names)
        seen = classifier.picture(image)
        explanation = explain(
            classifier.through_onnx(),
            image,
            num_motifs,
            most,
            tau,
            _class_number(target, classifier),
            output,
            patches=grid,
            segments=None if superpixels is None else _superpixels(seen, superpixels),
            fill=fill if fill in ("mean", "blur") else classifier.prepare.colour(fill),
            method=method,
            budget=budget,
            permutations=permutations,
            seed=seed,
            return_type=return_type,
        )
        if save is not None:
            explanation.save(save)
        if page is not None:
            explanation.save_html(page, title=verdict(explanation))
        if picture is not None:
            from mage.plots import save_figure
            from mage.plots.image import plot_image

            save_figure(plot_image(explanation), picture)
    if as_json:
        typer.echo(json.dumps({"class": verdict(explanation), **explanation.to_dict()}, indent=2))
        return
    console = Console()
    for part in image_parts(explanation, grid if superpixels is None else None):
        console.print(part, soft_wrap=isinstance(part, Text))
    for file in (page, picture):
        if file is not None:
            console.print(f"wrote {file}", soft_wrap=True, markup=False, highlight=False)


def verdict(explanation: Explanation) -> str:
    """What the classifier says, in words."""
    names = explanation.class_names
    if explanation.target is None or not names:
        return explanation.headline
    probabilities = explanation.probabilities
    sure = "" if probabilities is None else f", probability {probabilities[explanation.target]:.3g}"
    return f"{names[explanation.target]} (class {explanation.target}{sure})"


def image_parts(explanation: Explanation, grid: tuple[int, int] | None) -> list[Text | Table]:
    """What is said of an explained image on a terminal: the verdict, the grid with its motifs, the scores, the cost."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", "", "score", "regions"):
        table.add_column(heading)
    for number, motif in enumerate(explanation.motifs):
        side, score = "for" if motif.sign > 0 else "against", f"{motif.score:+.3g}{explanation.error_text(motif)}"
        names = "; ".join(explanation.names[region] for region in motif.nodes)
        table.add_row(Text(_letter(number), _STYLES[motif.sign]), Text(side), Text(score), Text(names))
    cost = f"{explanation.how}, {explanation.num_queries:,} queries, {explanation.seconds:.1f} s"
    return [
        Text(verdict(explanation), "bold"),
        *([] if grid is None else [_map(explanation, grid)]),
        table if len(explanation.motifs) else Text("no motif found"),
        Text(f"{cost}; motifs {explanation.motifs.proof}", "dim"),
    ]


def _map(explanation: Explanation, grid: tuple[int, int]) -> Text:
    """The grid with a letter for each motif."""
    text = Text()
    for place, label in enumerate(explanation.motifs.labels.tolist()):
        mark = _letter(label - 1) if label else "·"
        text.append(f" {mark}", _STYLES[explanation.motifs[label - 1].sign] if label else "dim")
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
    if count < 2:
        raise ValueError(f"--superpixels must be at least 2, got {count}")
    segmentation = require("skimage.segmentation", "image")
    channel = None if picture.ndim == 2 else -1
    return segmentation.slic(picture, n_segments=count, compactness=10.0, start_label=0, channel_axis=channel)
