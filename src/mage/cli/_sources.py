"""Models and graphs named on the command line. Nothing here unpickles a user's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mage._core.checks import checked_whole
from mage._core.importing import error_line, load_user_object
from mage._core.optional import require


def model_and_graph(
    model: str | None, weights: Path | None, data: Path | None, dataset: str | None, graph: int | None
) -> tuple[Any, Any, dict[str, Any]]:
    """The model, the graph to explain, and the settings that come with a named dataset."""
    require("torch_geometric", "pyg")
    if dataset is not None:
        if data is not None:
            raise ValueError("--dataset brings its own graphs; leave out --data")
        return _named(dataset, model, weights, graph)
    if model is None or data is None:
        raise ValueError("give --model and --data, or --dataset")
    if graph is not None:
        raise ValueError("--graph goes with --dataset; --data holds one graph")
    return load_model(model, weights), load_graph(data), {}


def _named(dataset: str, model: str | None, weights: Path | None, graph: int | None) -> tuple[Any, Any, dict[str, Any]]:
    if dataset == "demo":
        from mage.models import demo_graph, load_demo_model

        if model is not None or weights is not None:
            raise ValueError("--dataset demo brings its own model; leave out --model and --weights")
        return load_demo_model(), demo_graph(checked_whole("--graph", graph or 0, least=0)), {}
    network, data = network_and_dataset(dataset, model, weights)
    which = graph
    if which is None:
        explained = data.explained(network, limit=1)
        which = int(explained[0] if len(explained) else data.split.test[0])
    size = int(data.num_nodes_each[0]) if data.task == "node" else len(data)
    if not 0 <= which < size:
        raise ValueError(f"--graph: {which} is not between 0 and {size - 1:,}")
    return network, data[0] if data.task == "node" else data[which], data.settings(which)


def network_and_dataset(dataset: str, model: str | None, weights: Path | None) -> tuple[Any, Any]:
    """A named dataset, and the model of the zoo, of a checkpoint or of the user that explains it."""
    from mage import datasets
    from mage.models import load_checkpoint, pretrained

    if dataset not in datasets.names():
        raise ValueError(f"--dataset: {dataset!r} is none of demo, {', '.join(datasets.names())}")
    if model is not None and ":" in model:
        network: Any = load_model(model, weights)
    elif weights is not None:
        network = load_checkpoint(weights).model
    else:
        network = pretrained(dataset, model or "gin")
    return network, datasets.load(dataset)


def load_model(name: str, weights: Path | None) -> Any:
    """A model from ``module:name``: an instance, or a class or function that makes one without arguments."""
    import torch

    network = load_user_object("--model", name, "model", lambda target: isinstance(target, torch.nn.Module))
    if not callable(network):
        raise ValueError(f"--model: {name!r} returned {type(network).__name__}, which is no model")
    if weights is not None:
        _put_weights(network, weights)
    return network


def _put_weights(network: Any, weights: Path) -> None:
    tensors = _tensors(weights, "--weights")
    if not hasattr(network, "load_state_dict"):
        raise ValueError(f"--weights: a {type(network).__name__} takes none, only torch modules do; leave it out")
    try:
        network.load_state_dict(tensors)
    except Exception as error:
        kind = type(network).__name__
        raise ValueError(
            f"--weights: {weights} does not fit {kind}: {error_line(error)}\n"
            "It must be the state dict of the same network, as torch.save(model.state_dict(), ...) writes it."
        ) from error


def load_graph(path: Path) -> Any:
    """A graph from a file of named tensors: ``edge_index`` and whatever the model takes."""
    from torch_geometric.data import Data

    tensors = _tensors(path, "--data")
    for key, value in tensors.items():
        # numpy's default precision is not torch's.
        if getattr(value, "dtype", None) is not None and str(value.dtype) == "torch.float64":
            tensors[key] = value.float()
    if "edge_index" not in tensors:
        raise ValueError(f"--data: {path} has no edge_index; it has {', '.join(tensors)}")
    return Data(**tensors)


def _plain_graph_classes() -> list[Any]:
    """Classes that make up a saved ``Data`` object; they hold tensors and run nothing."""
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    return [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]


def _tensors(path: Path, argument: str) -> dict[str, Any]:
    import torch

    if not path.is_file():
        raise ValueError(f"{argument}: {path} does not exist")
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            words = {name: array.tolist() for name, array in arrays.items() if array.dtype.kind == "U"}
            return {name: words[name] if name in words else torch.from_numpy(arrays[name]) for name in arrays}
        with torch.serialization.safe_globals(_plain_graph_classes()):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(f"{argument}: {path} is not a file of plain tensors (.npz or .pt): {error}") from error
    if hasattr(loaded, "to_dict"):
        loaded = loaded.to_dict()
    if not isinstance(loaded, dict):
        raise ValueError(f"{argument}: {path} must hold named tensors, got {type(loaded).__name__}")
    return loaded
