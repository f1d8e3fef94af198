"""The paper's study of group attribution on images (appendix E, table 9): which index foretells what a group does?"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mage._core.checks import checked_whole
from mage._core.files import atomic_path
from mage._core.fingerprint import update
from mage._core.progress import progress_bar
from mage.experiments.engines import Engine, EngineError, LocalEngine, Payload
from mage.experiments.store import Record, Store, key_of
from mage.games import Game
from mage.games.image_game import ImageGame
from mage.indices import interactions
from mage.metrics.group_attribution import group_attributions, infidelity, random_groups
from mage.models.image_classifiers import ImageClassifier, load_image_classifier

NAME = "group-attribution"
TITLE = "group attribution on images: infidelity of four indices (appendix E, table 9)"
INDICES = ("shapley", "myerson", "shapley-taylor", "myerson-taylor")
MODELS = ("efficientnet-lite0", "mnist-vit")
DIGITS = 50
_VERSION = 1
_POLL_SECONDS = 0.5

COLUMNS: dict[str, str] = {
    "part": "string",
    "position": "int",
    "dataset": "string",
    "model": "string",
    "method": "string",
    "seed": "int",
    "image": "string",
    "target": "int",
    "probability": "float",
    "num_players": "int",
    "permutations": "int",
    "groups": "int",
    "infid_plus": "float",
    "infid_minus": "float",
    "infid_minus_printed": "float",
    "infid_plus_connected": "float",
    "infid_minus_connected": "float",
    "infid_minus_printed_connected": "float",
    "queries": "float",
    "image_queries": "float",
    "seconds": "float",
}
"""What is known of an index on an image; ``seconds`` and ``image_queries`` are of all indices together."""


class StudyStore(Store):
    """Finished images of the study, in a folder of their own within a store: they have other columns than graphs."""

    def __init__(self, folder: str | Path) -> None:
        super().__init__(Path(folder) / NAME)

    def write(self, key: str, records: Sequence[Record]) -> None:
        """Keep a finished image."""
        import pyarrow
        from pyarrow import parquet

        kinds = {"string": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64()}
        columns = {name: [record.get(name) for record in records] for name in COLUMNS}
        schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
        table = pyarrow.table({**columns, "part": [key] * len(records)}, schema=schema)
        with atomic_path(self.path(key)) as unfinished:
            parquet.write_table(table, unfinished)


@dataclass(frozen=True)
class Settings:
    """What the study leaves to choose; the paper says nothing of groups, fill and output.

    Args:
        permutations: Orderings for each index, in pairs of an ordering and its reverse.
        groups: Random groups of each kind, sizes 1 to n − 1 equally likely.
        seed: Seed of orderings and groups.
        output: What of the predicted class is explained; the size of the paper's figures speaks for probabilities.
        patches: Rows and columns of the grid.
        indices: Which of the four.
    """

    permutations: int = 10
    groups: int = 100
    seed: int = 0
    output: str = "probability"
    patches: tuple[int, int] = (7, 7)
    indices: tuple[str, ...] = INDICES

    def __post_init__(self) -> None:
        checked_whole("permutations", self.permutations)
        checked_whole("groups", self.groups)

    def as_key(self) -> dict[str, Any]:
        """What tells parts of the store apart. All four indices go without saying, as they did from the start."""
        return {name: value for name, value in asdict(self).items() if name != "indices" or value != INDICES}


@dataclass(frozen=True)
class Subject:
    """A classifier and its images.

    Args:
        classifier: The classifier.
        dataset: Name of the images' set.
        images: Prepared images by name.
        fill: What hides a patch.
    """

    classifier: ImageClassifier
    dataset: str
    images: dict[str, torch.Tensor]
    fill: Any


@dataclass(frozen=True)
class Job:
    """One image for one classifier, all indices.

    Args:
        subject: Position of the subject.
        image: Name of the image.
        settings: Settings of the study.
        key: Name of the part that results.
    """

    subject: int
    image: str
    settings: Settings
    key: str


@dataclass
class Shared:
    """What all jobs share."""

    subjects: list[Subject]

    def to(self, device: str) -> None:
        """Move the networks to a device."""
        for subject in self.subjects:
            if isinstance(subject.classifier.network, torch.nn.Module):
                subject.classifier.network.to(device)


def load_subject(model: str, root: str | Path | None = None, limit: int | None = None) -> Subject:
    """A classifier by name with the images that it is tried on.

    Args:
        model: As for :func:`mage.models.image_classifiers.load_image_classifier`. ``"mnist-vit"`` sees the first digits
            of MNIST's test part, all others the 50 images of SHAP.
        root: Folder with published files; ``MAGE_DATA`` by default.
        limit: Take only the first so many images.
    """
    classifier = load_image_classifier(model).through_onnx()
    if model == "mnist-vit":
        from mage.models.train_digits import digits

        pictures, _ = digits(root)
        chosen = range(min(limit or DIGITS, len(pictures)))
        # Paper is black in MNIST: a hidden patch is an empty one.
        return Subject(classifier, "mnist", {f"digit {number}": pictures[number] for number in chosen}, 0.0)
    files = imagenet_files(root)[:limit]
    return Subject(classifier, "imagenet50", {file.name: classifier.prepare(file) for file in files}, "mean")


def imagenet_files(root: str | Path | None = None) -> list[Path]:
    """SHAP's 50 images that stand for ImageNet, in the order of their names."""
    from mage.datasets._sources import MissingDataError, folders

    for base in folders(root):
        if found := sorted((base / "imagenet50").glob("*.jpg")):
            return found
    raise MissingDataError(
        "imagenet50: the images are not on this machine; put the .jpg files of data/imagenet50 of the repository "
        f"shap/shap into {folders(root)[0] / 'imagenet50'}, or name another folder with --root"
    )


def make_jobs(subjects: Sequence[Subject], settings: Settings) -> list[Job]:
    """All work, finished or not."""
    jobs = []
    for number, subject in enumerate(subjects):
        for name, image in subject.images.items():
            digest = hashlib.sha256()
            update(digest, image)
            key = key_of(
                {
                    "study": [NAME, _VERSION],
                    "dataset": subject.dataset,
                    "image": [name, digest.hexdigest()],
                    "model": [subject.classifier.name, subject.classifier.fingerprint],
                    "fill": str(subject.fill),
                    "settings": settings.as_key(),
                }
            )
            jobs.append(Job(number, name, settings, key))
    return jobs


def measure(shared: Shared, job: Job) -> list[Record]:
    """The indices of one image, and how well each foretells what random groups do alone and by their absence."""
    start = time.perf_counter()
    settings, subject = job.settings, shared.subjects[job.subject]
    image = subject.images[job.image]
    game = ImageGame(
        subject.classifier.network, image, patches=settings.patches, fill=subject.fill, output=settings.output
    )
    groups = {
        suffix: random_groups(game.graph, settings.groups, connected=connected, seed=settings.seed)
        for suffix, connected in (("", False), ("_connected", True))
    }
    records = []
    for place, index in enumerate(settings.indices):
        # A game of its own counts what this index needs, whatever the others asked for before.
        own = Game(game.worth, game.num_players, game.graph, baseline=0.0)
        found = interactions(
            own, index, method="permutation", permutations=settings.permutations, seed=settings.seed, progress=False
        )
        record: Record = {"method": index, "position": place, "queries": float(own.num_queries)}
        for suffix, masks in groups.items():
            error = infidelity(game, found, masks)
            record["infid_plus" + suffix], record["infid_minus" + suffix] = error.present, error.absent
            record["infid_minus_printed" + suffix] = _printed_absent(game, found, masks)
        records.append(record)
    common: Record = {
        "dataset": subject.dataset,
        "model": subject.classifier.name,
        "seed": settings.seed,
        "image": job.image,
        "target": game.target,
        "probability": float(torch.softmax(torch.from_numpy(game.prediction), 0)[game.target or 0]),
        "num_players": game.num_players,
        "permutations": settings.permutations,
        "groups": settings.groups,
        "image_queries": float(game.num_queries),
        "seconds": time.perf_counter() - start,
    }
    return [{**common, **record} for record in records]


def _printed_absent(game: Game, found: Any, masks: Any) -> float:
    """Infid⁻ as the paper prints it for second-order indices, with GrAttr(V) − GrAttr(S).

    For first-order ones it prints GrAttr(V) − GrAttr(V∖S); see :func:`mage.metrics.infidelity`.
    """
    predicted = group_attributions(found, masks)
    if found.order > 1:
        predicted = group_attributions(found, np.ones((1, game.num_players), dtype=bool)) - predicted
    return float(np.abs(predicted - (game.total - game.worth(~masks))).mean())


def run_study(
    subjects: Sequence[Subject],
    settings: Settings,
    store: StudyStore,
    engine: Engine[Job] | None = None,
    progress: bool | None = None,
) -> None:
    """Compute the images that are missing in the store; several runs may share one and divide the work."""
    engine = engine or LocalEngine()
    waiting = [job for job in make_jobs(subjects, settings) if not store.has(job.key)]
    payload = Payload(measure, Shared(list(subjects)))
    held: dict[str, int] = {}
    try:
        with progress_bar(NAME, len(waiting), progress) as advance:
            while waiting:
                claimed = _claimed(waiting, store, held)
                # Where other runs hold all that is left, there is nothing to start workers for.
                first = next(claimed, None)
                for job, records in engine.run(payload, itertools.chain([first], claimed)) if first else ():
                    store.write(job.key, records)
                    store.release(job.key, held.pop(job.key))
                    advance(1)
                if held:
                    raise EngineError(f"the engine lost {len(held)} images; run again to compute them")
                waiting = [job for job in waiting if not store.has(job.key)]
                if waiting:
                    time.sleep(_POLL_SECONDS)
    finally:
        for key, handle in held.items():
            store.release(key, handle)


def _claimed(jobs: Sequence[Job], store: Store, held: dict[str, int]) -> Iterator[Job]:
    """Jobs that this run may do, locked as they are taken, so that another run finds some left."""
    for job in jobs:
        handle = store.claim(job.key)
        if handle is None:
            continue
        if store.has(job.key):
            store.release(job.key, handle)
            continue
        held[job.key] = handle
        yield job


def finished(subjects: Sequence[Subject], settings: Settings, store: StudyStore) -> Iterator[Record]:
    """The records that are there."""
    yield from store.read([job.key for job in make_jobs(subjects, settings)])
