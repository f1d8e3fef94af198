"""Training on a dataset's split, with early stopping; the same seed gives the same weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mage._core.checks import (
    checked_array,
    checked_choice,
    checked_flag,
    checked_function,
    checked_instance,
    checked_seed,
    shortened,
)
from mage._core.progress import progress_bar
from mage.datasets.dataset import GraphDataset
from mage.datasets.prediction import dataset_logits, graph_logits, predicted_classes
from mage.datasets.training_plans import TrainingPlan
from mage.models.fitting import Score, fit, one_thread
from mage.models.networks import GCN, NETWORKS, GraphNetwork, make_network

_LONGEST_GRADIENT = 2.0


@dataclass(frozen=True)
class Trained:
    """A trained network and how well it does.

    Args:
        model: The network with its best weights, in evaluation mode.
        accuracy: Share of right predictions by part of the split.
        epochs: Passes over the training graphs until the end.
        best_epoch: The one whose weights were kept, by validation accuracy.
        plan: How it was trained.
        seed: Seed of the weights and of the order of graphs.
    """

    model: GraphNetwork
    accuracy: dict[str, float]
    epochs: int
    best_epoch: int
    plan: TrainingPlan
    seed: int


def train(
    dataset: GraphDataset,
    kind: str,
    *,
    seed: int = 0,
    plan: TrainingPlan | None = None,
    progress: bool | None = None,
    on_epoch: Callable[[int, float, float], None] | None = None,
) -> Trained:
    """A network of the paper's architecture, trained on a dataset.

    The validation part decides which epoch's weights are kept; the test part is looked at once, at the end.

    Args:
        dataset: What to train on.
        kind: ``"gcn"``, ``"gin"`` or ``"gat"``.
        seed: Seed of the weights and of the order of graphs.
        plan: How to train; by default the plan of the dataset.
        progress: Whether to show progress; None does so on a terminal.
        on_epoch: Called after each epoch with its number, mean loss and validation accuracy.
    """
    checked_instance("dataset", dataset, GraphDataset, "a dataset, as mage.datasets.load returns it")
    checked_choice("kind", kind, NETWORKS)
    seed = checked_seed("seed", seed)
    networks = dataset.info.networks
    if plan is not None:
        checked_instance("plan", plan, TrainingPlan, "a mage.models.TrainingPlan")
    plan = networks.training_plan(kind) if plan is None else plan
    progress = progress if progress is None else checked_flag("progress", progress)
    on_epoch = on_epoch if on_epoch is None else checked_function("on_epoch", on_epoch)
    architecture = networks.architecture(kind, dataset.num_node_features, dataset.num_classes)
    parts = dataset.split._replace(train=dataset.split.train[: plan.max_graphs])
    for name in ("train", "validation"):
        if not len(getattr(parts, name)):
            raise ValueError(f"dataset: its {name} part is empty; give GraphDataset.from_graphs a split of its own")
    if dataset.task != "node":
        dataset.prepare(np.concatenate(parts))
    losses = _node_losses if dataset.task == "node" else _graph_losses
    steps = 1 if dataset.task == "node" else -(-len(parts.train) // plan.batch_size)
    generator = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]), one_thread():
        torch.manual_seed(seed)
        model = make_network(architecture)
        optimizer = torch.optim.Adam(model.parameters(), plan.learning_rate, weight_decay=plan.weight_decay)
        with progress_bar(f"training {type(model).__name__} on {dataset.title}", plan.epochs, progress) as advance:

            def after_epoch(epoch: int, loss: float, score: Score) -> None:
                if on_epoch is not None:
                    on_epoch(epoch, loss, score[0])
                advance(1)

            result = fit(
                model,
                optimizer,
                lambda: losses(model, dataset, generator.permutation(parts.train), plan.batch_size),
                epochs=plan.epochs,
                steps=steps,
                validate=lambda: _validation_score(model, dataset, parts.validation),
                patience=plan.patience,
                clip=_LONGEST_GRADIENT,
                on_epoch=after_epoch,
            )
        accuracies = {name: accuracy(model, dataset, positions) for name, positions in parts._asdict().items()}
    return Trained(model, accuracies, result.epochs, result.best_epoch, plan, seed)


def _graph_losses(
    model: GraphNetwork, dataset: GraphDataset, order: NDArray[np.int64], batch_size: int
) -> Iterator[torch.Tensor]:
    for batch in dataset.batches(order, batch_size):
        yield torch.nn.functional.cross_entropy(model(*_inputs(model, batch)), batch.y)


def _node_losses(
    model: GraphNetwork, dataset: GraphDataset, order: NDArray[np.int64], _batch_size: int
) -> Iterator[torch.Tensor]:
    data = dataset[0]
    yield torch.nn.functional.cross_entropy(model(data.x, data.edge_index)[order], data.y[order])


def _inputs(model: GraphNetwork, batch: Any) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """Arguments of a network for a union of graphs."""
    edges: Any = batch.edge_index
    if isinstance(model, GCN) and model.normalize:
        from torch_geometric.utils import to_torch_csr_tensor

        # Five times as fast as gathering messages at this width (graphs of 67 nodes); our graphs are symmetric.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse (CSR tensor support is in beta|invariant checks)")
            edges = to_torch_csr_tensor(edges, size=(len(batch.x), len(batch.x)))
    return batch.x, edges, batch.batch


def _call(model: Any, data: Any, num_graphs: int) -> torch.Tensor:
    """Any model's output on a union of graphs; our networks in the fastest way."""
    if isinstance(model, GraphNetwork) and next(model.parameters()).device.type == "cpu":
        rows: torch.Tensor = model(*_inputs(model, data))
        return rows
    return graph_logits(model, data, num_graphs)


def _validation_score(model: torch.nn.Module, dataset: GraphDataset, positions: NDArray[np.int64]) -> Score:
    """Accuracy, and between equal accuracies the lower loss: small validation sets tie often."""
    logits = dataset_logits(model, dataset, positions, _call)
    y = torch.from_numpy(dataset.labels[positions]).long()
    correct = (logits.argmax(dim=1) == y).double().mean()
    return float(correct), -float(torch.nn.functional.cross_entropy(logits, y))


def predictions(
    model: torch.nn.Module, dataset: GraphDataset, positions: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.int64]:
    """Predicted classes of graphs, or of nodes of a node-level set, by their position in the dataset."""
    return predicted_classes(model, dataset, _checked_positions(dataset, positions), _call)


def accuracy(model: torch.nn.Module, dataset: GraphDataset, positions: Sequence[int] | NDArray[np.int64]) -> float:
    """Share of graphs, or of nodes, that the model puts into their class."""
    numbers = _checked_positions(dataset, positions)
    return float(np.mean(predictions(model, dataset, numbers) == dataset.labels[numbers]))


def _checked_positions(dataset: Any, positions: Any) -> NDArray[np.int64]:
    """Positions of graphs or nodes of a dataset, or an error that names what is wrong."""
    checked_instance("dataset", dataset, GraphDataset, "a dataset, as mage.datasets.load returns it")
    numbers, count = checked_array("positions", positions, "a list of whole numbers"), len(dataset.labels)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise ValueError(f"positions must be a list of whole numbers, got {shortened(positions)}")
    if numbers.size and not -count <= numbers.min() <= numbers.max() < count:
        raise ValueError(f"positions must be 0 … {count - 1}, got {numbers.min()} … {numbers.max()}")
    return numbers.astype(np.int64)
