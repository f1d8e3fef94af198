"""Networks trained by us that ship with the library."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from mage.models.checkpoints import Checkpoint, load_checkpoint
from mage.models.networks import GraphNetwork


def zoo_folder() -> Path:
    """Where the shipped checkpoints are."""
    return Path(str(resources.files("mage.models").joinpath("zoo")))


def pretrained_names() -> list[tuple[str, str]]:
    """Datasets and kinds of the networks that ship with the library."""
    stems = sorted(path.stem for path in zoo_folder().glob("*.safetensors"))
    return [(dataset, kind) for dataset, _, kind in (stem.rpartition("_") for stem in stems)]


def pretrained_checkpoint(dataset: str, model: str) -> Checkpoint:
    """A shipped network with what is known about it: accuracies, seed, how it was trained."""
    if (dataset, model) not in pretrained_names():
        there = ", ".join(f"{name} {kind}" for name, kind in pretrained_names())
        raise ValueError(
            f"dataset, model: no network for {dataset} {model} ships with the library; there are {there}. "
            f"Train one with: mage train {dataset} --model {model}"
        )
    return load_checkpoint(zoo_folder() / f"{dataset}_{model}.safetensors")


def pretrained(dataset: str, model: str) -> GraphNetwork:
    """A network that ships with the library, in evaluation mode.

    Args:
        dataset: Name of the dataset that it was trained on.
        model: ``"gcn"``, ``"gin"`` or ``"gat"``.
    """
    return pretrained_checkpoint(dataset, model).model
