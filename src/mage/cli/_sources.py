"""Models and graphs named on the command line. Nothing here unpickles a user's file."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np

from mage._core.checks import checked_whole, did_you_mean
from mage._core.importing import check_user_code, error_line, load_user_object, user_module
from mage._core.optional import require
from mage._core.shipped_networks import check_shipped

_MODEL_FILES = (".pt", ".pth", ".safetensors")
_LARGE, _TIGHT = 1 << 30, 100  # bytes in memory, and how many times the size of the file, that make it suspect


def check_sources(
    model: str | None, weights: Path | None, data: Path | None, dataset: str | None, graph: int | None
) -> None:
    """Refuse options that contradict each other and files that do not exist, before PyTorch is loaded."""
    if dataset == "demo":
        if model is not None or weights is not None:
            raise ValueError("--dataset demo has its own model; leave out --model and --weights")
        checked_whole("--graph", graph or 0, least=0)
    if dataset is not None:
        if data is not None:
            raise ValueError("--dataset has its own graphs; leave out --data")
        check_dataset(dataset, model, weights)
        return
    if model is None or data is None:
        raise ValueError(
            "give --model and --data (or --smiles), or --dataset; mage explain --dataset demo needs nothing else"
        )
    if graph is not None:
        raise ValueError("--graph needs --dataset; --data has only one graph")
    check_model(model)
    check_file("--data", data)
    check_file("--weights", weights)


def check_dataset(dataset: str, model: str | None, weights: Path | None) -> None:
    """Refuse a dataset, a network or a file that does not exist, before PyTorch is loaded."""
    from mage import datasets

    names = ["demo", *datasets.names()]
    if dataset not in names:
        hint = did_you_mean(dataset, names)
        raise ValueError(f"--dataset: {dataset!r} is none of {', '.join(names)}{hint}")
    check_named(dataset, model, weights)


def check_named(dataset: str, model: str | None, weights: Path | None) -> None:
    """Refuse a network for a dataset that does not exist, before PyTorch is loaded."""
    if model is not None and ":" in model:
        _check_module("--model", model)
        check_file("--weights", weights)
    elif weights is not None:
        check_file("--weights", weights)
    elif dataset != "demo":
        check_shipped(dataset, model or "gin")


def check_model(name: str) -> None:
    """Refuse a model that is neither a file nor ``module:name``, before PyTorch is loaded."""
    if Path(name).suffix in _MODEL_FILES:
        check_file("--model", Path(name))
    elif ":" not in name:
        raise ValueError(f"--model must be module:name, a TorchScript .pt file or a checkpoint, got {name!r}")
    else:
        _check_module("--model", name)


def check_file(option: str, path: Path | None) -> None:
    """Refuse a file that does not exist."""
    if path is not None and not path.is_file():
        raise ValueError(f"{option}: {path} does not exist")


def _check_module(option: str, name: str) -> None:
    """Refuse ``module:name`` whose module is nowhere; whether it can be imported is seen later."""
    module = user_module(option, name)
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        raise ValueError(f"{option}: {name!r} cannot be imported: there is no module {module!r} here")


def model_and_graph(
    model: str | None, weights: Path | None, data: Path | None, dataset: str | None, graph: int | None
) -> tuple[Any, Any, dict[str, Any]]:
    """The model, the graph to explain, and the settings that come with a named dataset."""
    require("torch_geometric", "pyg")
    if dataset is not None:
        return _named(dataset, model, weights, graph)
    return load_model(str(model), weights), load_graph(cast(Path, data)), {}


def _named(dataset: str, model: str | None, weights: Path | None, graph: int | None) -> tuple[Any, Any, dict[str, Any]]:
    if dataset == "demo":
        from mage.models import demo_graph, load_demo_model

        return load_demo_model(), demo_graph(graph or 0), {"class_names": ("house", "grid")}
    network, graphs = network_and_dataset(dataset, model, weights)
    position = graph
    if position is None:
        explained = graphs.explained(network, limit=1)
        position = int(explained[0] if len(explained) else graphs.split.test[0])
    size = int(graphs.num_nodes_each[0]) if graphs.task == "node" else len(graphs)
    if not 0 <= position < size:
        raise ValueError(f"--graph: {position} is not between 0 and {size - 1:,}")
    settings = {**dataset_options(graphs, position), "class_names": graphs.class_names}
    return network, graphs[0] if graphs.task == "node" else graphs[position], settings


def dataset_options(dataset: Any, position: int) -> dict[str, Any]:
    """The settings of a dataset for a graph (or node): masking, connectivity, and the sizes of its ground truth if any.

    Which number the paper explains is left out: its probabilities and logits may say nothing of other networks.
    """
    settings: dict[str, Any] = dataset.settings(position)
    of_nodes = dataset.task == "node"
    has_truth = any(not of_nodes or position in motif for motif in dataset.motifs(0 if of_nodes else position))
    rule = dataset.info.settings
    sizes = {"num_motifs": rule.num_motifs, "max_nodes": rule.max_nodes}
    open_fields = {"output", *(name for name, size in sizes.items() if size is None and not has_truth)}
    return {name: value for name, value in settings.items() if name not in open_fields}


def network_and_dataset(dataset: str, model: str | None, weights: Path | None) -> tuple[Any, Any]:
    """A named dataset and a network for it."""
    from mage import datasets

    return network_of(dataset, model, weights), datasets.load(dataset)


def network_of(dataset: str, model: str | None, weights: Path | None) -> Any:
    """A network for a named dataset: one that ships with the library, a checkpoint, or the user's own."""
    from mage.models import load_checkpoint, pretrained

    if model is not None and ":" in model:
        return load_model(model, weights)
    return load_checkpoint(weights).model if weights is not None else pretrained(dataset, model or "gin")


def load_model(name: str, weights: Path | None) -> Any:
    """A model from ``module:name`` (an instance, or a class or function that makes one), or from a file."""
    import torch

    if Path(name).suffix in _MODEL_FILES:
        if weights is not None:
            raise ValueError("--weights: the file of --model has its own weights; leave it out")
        return _model_file(Path(name))

    network = load_user_object("--model", name, "model", lambda target: isinstance(target, torch.nn.Module))
    if not callable(network):
        raise ValueError(f"--model: {name!r} returned {type(network).__name__}, which is no model")
    if weights is not None:
        _put_weights(network, weights)
    return network


def _model_file(path: Path) -> Any:
    """A model from a checkpoint of mage train, or from a TorchScript file; pickles are not opened."""
    import torch

    from mage.models import load_checkpoint

    if path.suffix == ".safetensors":
        return load_checkpoint(path).model
    check_user_code("--model", str(path))
    try:
        return torch.jit.load(str(path), map_location="cpu")  # type: ignore[no-untyped-call]  # torch has no type
    except (RuntimeError, ValueError) as error:
        raise ValueError(
            f"--model: {path} is not a TorchScript file: {error_line(error)[:120]}\n"
            "Weights of torch.save(model.state_dict(), ...) need their class: --model module:Class --weights "
            f"{path.name}. A pickled model of torch.save(model, ...) can run any code and is not opened."
        ) from error


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
    """A graph from a file of named tensors: ``edge_index`` and the other inputs of the model."""
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


def _check_size(path: Path) -> None:
    """Refuse a small file that would take all memory; arrays of real graphs are hardly ever packed that tightly."""
    with zipfile.ZipFile(path) as archive:
        needed = sum(member.file_size for member in archive.infolist())
    size = path.stat().st_size
    if needed > _LARGE and needed > _TIGHT * size:
        raise ValueError(
            f"its {size:,} bytes would take {needed:,} bytes of memory; if you trust it, write it with numpy.savez, "
            "which does not pack"
        )


def _tensors(path: Path, argument: str) -> dict[str, Any]:
    import torch

    if not path.is_file():
        raise ValueError(f"{argument}: {path} does not exist")
    try:
        if path.suffix == ".npz":
            _check_size(path)
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


def names_of(graph: Any) -> list[str] | None:
    """Names of the nodes: those that the graph has, or the atoms of its molecule; None where there are neither."""
    from mage.datasets.smiles import atom_names

    if graph.get("names") is not None:
        return list(graph.names)
    if not isinstance(graph.get("smiles"), str):
        return None
    try:
        names = atom_names(graph.smiles, graph.num_nodes)
    except (ImportError, ValueError):
        return None  # without RDKit, atoms have numbers only
    return names if len(names) == graph.num_nodes else None
