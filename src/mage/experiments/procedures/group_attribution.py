"""Group attributions of images (appendix E and table 9 of the paper): which index predicts what a group does?"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.table import Table

from mage._core.checks import checked_whole
from mage._core.fingerprint import update
from mage.experiments.engines import Payload
from mage.experiments.inputs import Inputs
from mage.experiments.plan import Batch, CellName, Procedure, Testbed
from mage.experiments.procedures.paired_orders import paired_tables
from mage.experiments.records import Record
from mage.experiments.run_loop import Job
from mage.experiments.spec import Column, Experiment, Method
from mage.experiments.store import key_of
from mage.games import Game
from mage.games.image_game import ImageGame
from mage.indices import interactions
from mage.metrics import GroupPredictions, measure_case, random_groups
from mage.models.image_classifiers import ImageClassifier, load_image_classifier

_VERSION = 2
_DIGITS = 50


@dataclass(frozen=True)
class GroupSettings:
    """What an experiment chooses for all indices; the paper says nothing of groups, fill and output.

    Args:
        permutations: Orderings for each index, in pairs of an ordering and its reverse.
        groups: Random groups of each kind, sizes 1 to n − 1 equally likely.
        output: What of the predicted class is explained; the size of the paper's figures speaks for probabilities.
        patches: Rows and columns of the grid.
    """

    permutations: int = 10
    groups: int = 100
    output: str = "probability"
    patches: tuple[int, int] = (7, 7)

    def __post_init__(self) -> None:
        checked_whole("permutations", self.permutations)
        checked_whole("groups", self.groups)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> GroupSettings:
        """GroupSettings of an experiment, refused where there are others than these."""
        unknown = set(settings) - set(cls.__dataclass_fields__)
        if unknown:
            raise ValueError(f"settings: unknown {', '.join(sorted(unknown))}; there are {', '.join(asdict(cls()))}")
        plain: dict[str, Any] = dict(settings)
        if "patches" in plain:
            plain["patches"] = tuple(plain["patches"])
        return cls(**plain)


@dataclass(frozen=True)
class ImageTestbed(Testbed):
    """A classifier and its images.

    Args:
        dataset: Name of the images' set.
        model_name: Name of the classifier.
        classifier: The classifier.
        images: Prepared images by name.
        fill: What hides a patch.
    """

    classifier: ImageClassifier
    images: dict[str, torch.Tensor]
    fill: Any


@dataclass(frozen=True)
class ImageJob(Job):
    """One image, all indices.

    Args:
        part: Name of its batch.
        place: Its place in the batch.
        testbed: Position of its testbed.
        image: The prepared image.
        fill: What hides a patch.
        indices: Names of the indices.
        seed: Seed of orderings and groups.
        metrics: What is measured.
    """

    testbed: int
    image: torch.Tensor
    fill: Any
    indices: tuple[str, ...]
    seed: int
    metrics: tuple[str, ...]


@dataclass
class ImageWorkload:
    """What workers share.

    Args:
        networks: Networks of the classifiers.
        settings: Settings of the experiment.
    """

    networks: list[Any]
    settings: GroupSettings

    def to(self, device: str) -> None:
        """Move the networks to a device."""
        for network in self.networks:
            if isinstance(network, torch.nn.Module):
                network.to(device)


def _digits(_classifier: ImageClassifier, root: str | Path | None, limit: int | None) -> dict[str, torch.Tensor]:
    """The first digits of MNIST's test part."""
    from mage.models.digit_training import digit_tensors

    pictures, _ = digit_tensors(root)
    return {f"digit {number}": pictures[number] for number in range(min(limit or _DIGITS, len(pictures)))}


def _photographs(classifier: ImageClassifier, root: str | Path | None, limit: int | None) -> dict[str, torch.Tensor]:
    """SHAP's 50 images that stand for ImageNet, in the order of their names."""
    from mage.datasets import MissingDataError, data_folders

    for base in data_folders(root):
        if files := sorted((base / "imagenet50").glob("*.jpg")):
            return {file.name: classifier.prepare(file) for file in files[:limit]}
    raise MissingDataError(
        "imagenet50: the images are not on this machine; put the .jpg files of data/imagenet50 of the repository "
        f"shap/shap into {data_folders(root)[0] / 'imagenet50'}, or name another folder with --root"
    )


Loader = Callable[[ImageClassifier, str | Path | None, int | None], dict[str, torch.Tensor]]
# Sets of images: how they are loaded, and what hides a patch. Paper is black in MNIST: a hidden patch is an empty one.
_SETS: dict[str, tuple[Loader, Any]] = {"imagenet50": (_photographs, "mean"), "mnist": (_digits, 0.0)}


def measure_image(workload: ImageWorkload, job: ImageJob) -> list[Record]:
    """The indices of an image, and how well each predicts what random groups do alone and by their absence."""
    start = time.perf_counter()
    settings = workload.settings
    game = ImageGame(
        workload.networks[job.testbed], job.image, patches=settings.patches, fill=job.fill, output=settings.output
    )
    groups, connected = (
        random_groups(game.graph, settings.groups, connected=connected, seed=job.seed) for connected in (False, True)
    )
    measured = []
    for name in job.indices:
        # A separate game for each index counts the queries of this index alone.
        counted = Game(game.worth, game.num_players, game.graph, baseline=0.0)
        index = interactions(
            counted, name, method="permutation", permutations=settings.permutations, seed=job.seed, progress=False
        )
        case = GroupPredictions(game, index, groups, connected, float(counted.num_queries))
        measured.append(measure_case(case, job.metrics))
    common: Record = {
        "target": game.target,
        "probability": float(torch.softmax(torch.from_numpy(game.prediction), 0)[game.target or 0]),
        "num_players": game.num_players,
        "permutations": settings.permutations,
        "groups": settings.groups,
        "image_queries": float(game.num_queries),
        "seconds": time.perf_counter() - start,
    }
    return [{**common, **record} for record in measured]


class GroupAttribution(Procedure):
    """Indices of image classifiers predict what groups of patches do."""

    items = "images"
    item_headings = ("image", "class", "probability")
    case = GroupPredictions

    def __init__(self, experiment: Experiment, inputs: Inputs) -> None:
        super().__init__(experiment, inputs)
        folders_must_be_used = not inputs.zoo_where_missing
        if folders_must_be_used and (inputs.checkpoints is not None or inputs.models is not None):
            raise ValueError(f"checkpoints, models: folders of graph networks; {experiment.name} is about images")
        self.settings = GroupSettings.of(experiment.settings)

    def load(self, column: Column, limit: int | None) -> ImageTestbed:
        """A classifier with the images that it is tried on."""
        if column.dataset not in _SETS:
            raise ValueError(f"datasets: {column.dataset!r} is none of {', '.join(_SETS)}")
        classifier = load_image_classifier(column.model).through_onnx()
        load_images, fill = _SETS[column.dataset]
        images = load_images(classifier, self.inputs.root, limit)
        return ImageTestbed(column.dataset, column.model, classifier, images, fill)

    def batches(self, number: int, column: Column, methods: Sequence[Method], size: int) -> Iterator[Batch]:
        """Batches of all methods: they share the outputs of the classifier for an image."""
        testbed: ImageTestbed = self.testbeds[number]
        every, step = list(testbed.images), max(1, size // max(1, len(methods)))
        for seed in self.experiment.seeds if methods else ():
            for start in range(0, len(every), step):
                items = tuple(every[start : start + step])
                key = self._key(testbed, methods, seed, items, column.metrics)
                yield Batch(number, tuple(methods), seed, items, column.metrics, key)

    def _key(
        self,
        testbed: ImageTestbed,
        methods: Sequence[Method],
        seed: int,
        items: Sequence[str],
        metrics: Sequence[str],
    ) -> str:
        digests = []
        for name in items:
            digest = hashlib.sha256()
            update(digest, testbed.images[name])
            digests.append([name, digest.hexdigest()])
        return key_of(
            {
                "procedure": ["group-attribution", _VERSION],
                "dataset": testbed.dataset,
                "images": digests,
                "model": [testbed.model_name, testbed.classifier.fingerprint],
                "fill": str(testbed.fill),
                "methods": [[method.name, method.explainer] for method in methods],
                "metrics": sorted(metrics),
                "seed": seed,
                "settings": asdict(self.settings),
            }
        )

    def prepare(self, batches: Sequence[Batch], gaps: dict[CellName, str]) -> tuple[Payload, list[Batch]]:  # noqa: ARG002 (indices need nothing that could fail)
        """Classifiers, images and settings."""
        networks = [testbed.classifier.network for testbed in self.testbeds]
        return Payload(measure_image, ImageWorkload(networks, self.settings)), list(batches)

    def jobs(self, batch: Batch) -> list[ImageJob]:
        """The images of a batch."""
        testbed: ImageTestbed = self.testbeds[batch.testbed]
        indices = tuple(method.explainer for method in batch.methods)
        return [
            ImageJob(
                batch.key, place, batch.testbed, testbed.images[item], testbed.fill, indices, batch.seed, batch.metrics
            )
            for place, item in enumerate(batch.items)
        ]

    def about_item(self, testbed: ImageTestbed, item: str) -> Record:  # noqa: ARG002 (a name says it all)
        """Name of an image."""
        return {"image": item}

    def item_rows(self, testbed: ImageTestbed) -> Iterator[tuple[str, ...]]:
        """What the classifier takes each image for."""
        for name, image in testbed.images.items():
            with torch.no_grad():
                sure = torch.softmax(testbed.classifier(image[None])[0].double(), 0)
            best = int(sure.argmax())
            yield name, testbed.classifier.class_name(best), f"{float(sure[best]):.2f}"

    def remarks(self) -> list[str]:
        """The settings in words."""
        settings = self.settings
        seeds = ", ".join(map(str, self.experiment.seeds))
        return [
            f"{settings.permutations} orderings for each index; {settings.groups} random groups of each kind an image, "
            f"sizes 1 to n − 1 equally likely; {settings.output} of the predicted class; seed {seeds}"
        ]

    def comparisons(self, records: Sequence[Record]) -> Iterator[Table]:
        """Second order against first, image by image."""
        yield from paired_tables(records, {method.name: method.title for method in self.experiment.methods})
