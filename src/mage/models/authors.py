"""The paper's own checkpoints, read into our networks."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from mage._core.checks import checked_text
from mage._core.files import as_path
from mage._torch.randomness import OwnRandomNumbers
from mage.datasets import info, names
from mage.models.checkpoints import CheckpointError
from mage.models.networks import GraphNetwork, make_network

_FOLDERS = {"mutagenic": "mutag0"}


def authors_datasets(folder: str | Path) -> list[str]:
    """Our names of the datasets that a ``checkpoints`` folder of the paper's authors has networks for."""
    root = as_path("folder", folder)
    return [name for name in names() if any((root / _FOLDERS.get(name, name)).glob("*_3l_best.pth"))]


def authors_checkpoint(folder: str | Path, dataset: str, model: str) -> GraphNetwork:
    """A network of the paper's authors, in evaluation mode.

    Args:
        folder: The ``checkpoints`` folder of their repository, or a copy of it.
        dataset: Our name of the dataset.
        model: ``"gcn"``, ``"gin"`` or ``"gat"``.
    """
    known, kind = checked_text("dataset", dataset), checked_text("model", model)
    path = as_path("folder", folder) / _FOLDERS.get(known, known) / f"{kind}_3l_best.pth"
    if not path.is_file():
        raise CheckpointError(f"folder: {path} does not exist; folder is the authors' checkpoints folder")
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)["net"]
        num_classes = len(weights["mlps.0.bias"])
        first = next(value for name, value in weights.items() if name in _FIRST_WEIGHTS)
        num_features = first.shape[0] if "convs.0.weight" in weights else first.shape[1]
        architecture = info(dataset).networks.architecture(model, num_features, num_classes)
        with OwnRandomNumbers(0):
            network = make_network(architecture)
        network.load_state_dict(our_weights(weights))
    except CheckpointError:
        raise
    except Exception as error:  # a damaged file can raise anything
        raise CheckpointError(f"folder: {path} is not a checkpoint of the paper's {model}: {error}") from error
    return network.eval()


_FIRST_WEIGHTS = {"convs.0.weight", "convs.0.nn.0.weight", "gnn_layers.0.lin_src.weight"}


def our_weights(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The authors' weights under the names of our networks."""
    is_gcn = "convs.0.weight" in weights
    renamed = {}
    for name, value in weights.items():
        if is_gcn and name.endswith("lin.weight"):
            continue  # a dead copy
        if name.endswith("lin_dst.weight"):
            continue  # GATConv on one set of nodes shares the weights of both ends
        new = re.sub(r"^mlps\.0\.", "head.", name)
        new = re.sub(r"^(convs|gnn_layers)\.", "convolutions.", new).replace("lin_src.", "lin.")
        if is_gcn and re.fullmatch(r"convolutions\.\d+\.weight", new):
            renamed[new.replace(".weight", ".lin.weight")] = value.T.contiguous()
        else:
            renamed[new] = value
    return renamed
