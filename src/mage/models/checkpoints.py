"""Checkpoints: weights as safetensors, everything else as JSON beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from mage._core.checks import checked_instance
from mage._core.files import as_path, atomic_path
from mage._core.optional import require
from mage._torch.randomness import OwnRandomNumbers
from mage.models.networks import GraphNetwork, make_network

if TYPE_CHECKING:
    from mage.datasets import GraphDataset
    from mage.models.training import Trained

_FORMAT = 1
Network = TypeVar("Network", bound=torch.nn.Module)


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged, or not of a network that this library makes."""


@dataclass(frozen=True)
class Checkpoint:
    """A network and what is known about it.

    Args:
        model: The network, in evaluation mode.
        about: Architecture, dataset, seed, accuracies and versions of libraries, as plain values.
    """

    model: GraphNetwork
    about: Mapping[str, Any]


def training_record(trained: Trained, dataset: GraphDataset) -> dict[str, Any]:
    """What a checkpoint says about a trained network."""
    return {
        "format": _FORMAT,
        "architecture": trained.model.architecture,
        "dataset": dataset.name,
        "dataset_origin": dataset.origin.partition(" in ")[0],
        "seed": trained.seed,
        "plan": trained.plan.to_dict(),
        "epochs": trained.epochs,
        "best_epoch": trained.best_epoch,
        "accuracy": trained.accuracy,
        "versions": library_versions("mage-explain", "torch", "torch-geometric"),
    }


def library_versions(*names: str) -> dict[str, str]:
    """Versions of installed libraries."""
    return {name: metadata.version(name) for name in names}


def save_checkpoint(path: str | Path, model: torch.nn.Module, about: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write ``path`` with the weights and, beside it with the suffix ``.json``, what is known about the network.

    Returns:
        Both paths. The weights come last, so that a checkpoint whose weights are there is whole.
    """
    safetensors = require("safetensors.torch", "pyg")
    checked_instance("model", model, torch.nn.Module, "a torch module")
    try:
        description = json.dumps(dict(about), indent=1, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise TypeError(f"about must be a dictionary of plain values: {error}") from None
    weights = _weights_path(path)
    text = weights.with_suffix(".json")
    weights.parent.mkdir(parents=True, exist_ok=True)
    tensors = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    with atomic_path(text) as unfinished:
        unfinished.write_text(description + "\n")
    with atomic_path(weights) as unfinished:
        unfinished.write_bytes(safetensors.save(tensors))
    return weights, text


def load_checkpoint(path: str | Path) -> Checkpoint:
    """A network from a checkpoint that :func:`save_checkpoint` wrote, in evaluation mode."""
    model, about = restore(path, make_network)
    return Checkpoint(model, about)


def restore(path: str | Path, make: Callable[[dict[str, Any]], Network]) -> tuple[Network, dict[str, Any]]:
    """A network from a checkpoint, in evaluation mode, and what is known about it.

    Args:
        path: The file of the weights; what is known is beside it.
        make: Makes a network with fresh weights from its architecture.
    """
    safetensors = require("safetensors.torch", "pyg")
    weights = _weights_path(path)
    text = weights.with_suffix(".json")
    for file in (weights, text):
        if not file.is_file():
            raise CheckpointError(f"path: {file} does not exist; a checkpoint is a .safetensors and a .json file")
    try:
        about: dict[str, Any] = json.loads(text.read_text())
        # Initial weights are drawn and thrown away; the caller's random numbers stay as they were.
        with OwnRandomNumbers(0):
            model = make(about["architecture"])
        model.load_state_dict(safetensors.load(weights.read_bytes()))
    except Exception as error:  # a damaged file can raise anything
        raise CheckpointError(f"path: {weights} is not a checkpoint of this library: {error}") from error
    model.eval()
    return model, about


def _weights_path(path: str | Path) -> Path:
    """The file of the weights: the name given, with a suffix unless it has one of the two; names may have dots."""
    file = as_path("path", path)
    if not file.name:
        raise ValueError(f"path must name a file, got {str(path)!r}")
    if file.suffix in {".safetensors", ".json"}:
        return file.with_suffix(".safetensors")
    return file.with_name(file.name + ".safetensors")
