"""Models and graphs named on the command line. Nothing here unpickles a user's file."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from mage._optional import require


def model_and_graph(
    model: str | None, weights: Path | None, data: Path | None, dataset: str | None, graph: int
) -> tuple[Any, Any]:
    """The model and the graph to explain."""
    require("torch_geometric", "pyg")
    if dataset is not None:
        if model is not None or data is not None or weights is not None:
            raise ValueError("--dataset brings its own model and graphs; leave out --model, --weights and --data")
        if dataset != "demo":
            raise ValueError(f"--dataset must be 'demo', got {dataset!r}")
        from mage.models import demo_graph, load_demo_model

        return load_demo_model(), demo_graph(graph)
    if model is None or data is None:
        raise ValueError("give --model and --data, or --dataset")
    return load_model(model, weights), load_graph(data)


def load_model(name: str, weights: Path | None) -> Any:
    """A model from ``module:name``: an instance, or a class or function that makes one without arguments."""
    import torch

    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ValueError(f"--model must be module:name, got {name!r}")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--model: {name!r} cannot be imported: {error}") from error
    network = found if isinstance(found, torch.nn.Module) else found()
    if weights is not None:
        network.load_state_dict(_tensors(weights, "--weights"))
    return network


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
