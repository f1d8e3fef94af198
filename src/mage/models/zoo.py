"""Networks trained by us that ship with the library."""

from __future__ import annotations

from mage._core.shipped_networks import check_shipped, pretrained_names, zoo_folder
from mage.models.checkpoints import Checkpoint, load_checkpoint
from mage.models.networks import GraphNetwork

__all__ = ["pretrained", "pretrained_checkpoint", "pretrained_names", "zoo_folder"]


def pretrained_checkpoint(dataset: str, model: str) -> Checkpoint:
    """A shipped network with what is known about it: accuracies, seed, how it was trained."""
    check_shipped(dataset, model)
    return load_checkpoint(zoo_folder() / f"{dataset}_{model}.safetensors")


def pretrained(dataset: str, model: str) -> GraphNetwork:
    """A network that ships with the library, in evaluation mode.

    Args:
        dataset: Name of the dataset that it was trained on.
        model: ``"gcn"``, ``"gin"`` or ``"gat"``.
    """
    return pretrained_checkpoint(dataset, model).model
