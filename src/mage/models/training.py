"""Training on a dataset's split, with early stopping; the same seed gives the same weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from mage._core.progress import progress_bar
from mage.models.networks import GCN, GraphNetwork, make_network
from mage.models.recipes import TrainingPlan, architecture, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mage.datasets.dataset import GraphDataset

_EVALUATION_BATCH = 512


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
    settings: TrainingPlan | None = None,
    progress: bool | None = None,
    on_epoch: Callable[[int, float, float], None] | None = None,
) -> Trained:
    """A network of the paper's architecture, trained on a dataset.

    The validation part decides which epoch's weights are kept; the test part is looked at once, at the end.

    Args:
        dataset: What to train on.
        kind: ``"gcn"``, ``"gin"`` or ``"gat"``.
        seed: Seed of the weights and of the order of graphs.
        settings: How to train; by default what :func:`mage.models.recipes.plan` says.
        progress: Whether to show progress; None does so on a terminal.
        on_epoch: Called after each epoch with its number, mean loss and validation accuracy.
    """
    settings = settings or plan(dataset.name, kind)
    network = architecture(dataset.name, kind, dataset.num_node_features, dataset.num_classes)
    learning = dataset.split.train[: settings.max_graphs]
    for part, positions in zip(("train", "validation"), (learning, dataset.split.validation), strict=True):
        if not len(positions):
            raise ValueError(f"dataset: its {part} part is empty; give GraphDataset.from_graphs a split of its own")
    with torch.random.fork_rng(devices=[]), _one_thread():
        torch.manual_seed(seed)
        model = make_network(network)
        step = _node_steps if dataset.task == "node" else _graph_steps
        best, best_epoch, epochs = _fit(model, dataset, learning, settings, step, seed, progress, on_epoch)
        model.load_state_dict(best)
        model.eval()
        accuracies = {
            part: accuracy(model, dataset, positions)
            for part, positions in zip(
                ("train", "validation", "test"), (learning, dataset.split.validation, dataset.split.test), strict=True
            )
        }
    return Trained(model, accuracies, epochs, best_epoch, settings, seed)


Losses = Callable[[GraphNetwork, "GraphDataset", NDArray[np.int64], int], "Iterator[torch.Tensor]"]


def _fit(
    model: GraphNetwork,
    dataset: GraphDataset,
    learning: NDArray[np.int64],
    settings: TrainingPlan,
    losses: Losses,
    seed: int,
    progress: bool | None,
    on_epoch: Callable[[int, float, float], None] | None,
) -> tuple[dict[str, torch.Tensor], int, int]:
    generator = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(model.parameters(), settings.learning_rate, weight_decay=settings.weight_decay)
    steps_an_epoch = 1 if dataset.task == "node" else -(-len(learning) // settings.batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, settings.learning_rate, total_steps=settings.epochs * steps_an_epoch
    )
    best = (-1.0, -np.inf)
    weights: dict[str, torch.Tensor] = {}
    best_epoch = epoch = 0
    title = f"training {type(model).__name__} on {dataset.title}"
    with progress_bar(title, settings.epochs, progress) as advance:
        for epoch in range(1, settings.epochs + 1):
            model.train()
            seen = []
            for loss in losses(model, dataset, generator.permutation(learning), settings.batch_size):
                optimizer.zero_grad()
                torch.autograd.backward(loss)  # the typed spelling of loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                optimizer.step()
                schedule.step()
                seen.append(float(loss.detach()))
            right, mean_loss = _evaluate(model.eval(), dataset, dataset.split.validation)
            # Between equal accuracies the lower loss wins: small validation sets tie often.
            if (right, -mean_loss) > best:
                best, best_epoch = (right, -mean_loss), epoch
                weights = {name: value.clone() for name, value in model.state_dict().items()}
            if on_epoch is not None:
                on_epoch(epoch, float(np.mean(seen)), right)
            advance(1)
            if epoch - best_epoch >= settings.patience:
                break
    return weights, best_epoch, epoch


def _graph_steps(
    model: GraphNetwork, dataset: GraphDataset, order: NDArray[np.int64], batch_size: int
) -> Iterator[torch.Tensor]:
    for start in range(0, len(order), batch_size):
        x, edges, owner, y = _inputs(model, dataset, order[start : start + batch_size])
        yield torch.nn.functional.cross_entropy(model(x, edges, owner), y)


def _node_steps(
    model: GraphNetwork, dataset: GraphDataset, order: NDArray[np.int64], _batch_size: int
) -> Iterator[torch.Tensor]:
    data = dataset[0]
    yield torch.nn.functional.cross_entropy(model(data.x, data.edge_index)[order], data.y[order])


def _inputs(model: torch.nn.Module, dataset: GraphDataset, positions: NDArray[np.int64]) -> tuple[Any, ...]:
    batch = dataset.batch(positions)
    edges: Any = batch.edge_index
    if isinstance(model, GCN) and model.normalize:
        from torch_geometric.utils import to_torch_csr_tensor

        # Five times as fast as gathering messages at this width (graphs of 67 nodes); our graphs are symmetric.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse (CSR tensor support is in beta|invariant checks)")
            edges = to_torch_csr_tensor(edges, size=(len(batch.x), len(batch.x)))
    return batch.x, edges, batch.batch, batch.y


@torch.no_grad()
def _logits(model: torch.nn.Module, dataset: GraphDataset, positions: NDArray[np.int64]) -> torch.Tensor:
    if dataset.task == "node":
        data = dataset[0]
        every = model(data.x, data.edge_index) if isinstance(model, GraphNetwork) else _called(model, data, 1)
        return every.cpu()[positions]
    parts = []
    for start in range(0, len(positions), _EVALUATION_BATCH):
        some = positions[start : start + _EVALUATION_BATCH]
        if isinstance(model, GraphNetwork) and next(model.parameters()).device.type == "cpu":
            x, edges, owner, _ = _inputs(model, dataset, some)
            parts.append(model(x, edges, owner))
        else:
            parts.append(_called(model, dataset.batch(some), len(some)).cpu())
    return torch.cat(parts) if parts else torch.zeros(0, dataset.num_classes)


def _called(model: Any, data: Any, count: int) -> torch.Tensor:
    """Any model's output on a union of graphs, called as its signature wants and where its weights are."""
    from mage._torch.forward import Forward

    parameters = getattr(model, "parameters", lambda: iter(()))()
    device = next((parameter.device for parameter in parameters), torch.device("cpu"))
    forward = Forward(model, set(data.keys()) - {"edge_index", "batch", "ptr"})
    if forward.takes_batch or count == 1:
        out = forward(data.to(device), count)
        return out.reshape(-1, out.shape[-1])
    return torch.cat([forward(graph.to(device), 1).reshape(1, -1) for graph in data.to_data_list()])


def _evaluate(model: torch.nn.Module, dataset: GraphDataset, positions: NDArray[np.int64]) -> tuple[float, float]:
    logits = _logits(model, dataset, positions)
    y = torch.from_numpy(dataset.labels[positions]).long()
    return float((logits.argmax(dim=1) == y).double().mean()), float(torch.nn.functional.cross_entropy(logits, y))


def predictions(
    model: torch.nn.Module, dataset: GraphDataset, positions: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.int64]:
    """Predicted classes of graphs, or of nodes of a node-level set, by their position in the whole dataset."""
    from mage._torch.evaluation import evaluating

    with evaluating(model):
        logits = _logits(model, dataset, np.asarray(positions, dtype=np.int64))
    chosen: NDArray[np.int64] = logits.argmax(dim=1).numpy()
    return chosen


def accuracy(model: torch.nn.Module, dataset: GraphDataset, positions: Sequence[int] | NDArray[np.int64]) -> float:
    """Share of graphs, or of nodes, that the model puts into their class."""
    positions = np.asarray(positions, dtype=np.int64)
    return float(np.mean(predictions(model, dataset, positions) == dataset.labels[positions]))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Kernels this small lose to the cost of sharing them, and sums in one order repeat to the last bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
