"""How large the paper's networks are on a dataset, and how ours are trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

NETWORK_KINDS = ("gcn", "gin", "gat")
_NUM_LAYERS = 3
_USUAL: Mapping[str, Mapping[str, Any]] = {
    "gcn": {"width": 128, "normalize": True},
    "gin": {"width": 128},
    "gat": {"heads": 10, "head_width": 10},
}

SMALL_NETWORKS: Mapping[str, Mapping[str, Any]] = {"gcn": {"width": 20, "normalize": False}, "gin": {"width": 20}}
"""Arguments of networks for graphs whose nodes all have the same features."""
NO_ATTENTION = ("gin", "gcn")
"""Kinds for such graphs: attention over equal neighbours sees no structure, so the paper's GAT does not learn them."""


@dataclass(frozen=True)
class TrainingPlan:
    """How a network is trained: Adam with one rise and fall of the learning rate.

    Args:
        epochs: Passes over the training graphs.
        batch_size: Graphs in a step.
        learning_rate: Its highest value.
        weight_decay: Pull of the weights towards zero.
        patience: Stop after so many epochs without a better validation accuracy.
        max_graphs: Train on the first so many training graphs only.
    """

    epochs: int = 100
    batch_size: int = 64
    learning_rate: float = 5e-3
    weight_decay: float = 0.0
    patience: int = 100
    max_graphs: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Its fields as plain values."""
        return asdict(self)


USUAL_TRAINING = TrainingPlan(epochs=60, learning_rate=3e-3)


@dataclass(frozen=True)
class NetworkPlans:
    """The networks for a dataset: their arguments and their training.

    Args:
        training: How all of them are trained.
        changes: Fields of ``training`` that are different for one kind of network.
        readout: Readout of all of them.
        arguments: Arguments that are different from the usual ones, by kind.
        kinds: Kinds that can learn the dataset.
    """

    training: TrainingPlan = USUAL_TRAINING
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    readout: str = "mean"
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ("gat", "gin", "gcn")

    def training_plan(self, kind: str) -> TrainingPlan:
        """How the network of a kind is trained."""
        return replace(self.training, **self.changes.get(_checked(kind), {}))

    def architecture(self, kind: str, num_features: int, num_classes: int) -> dict[str, Any]:
        """What :func:`mage.models.make_network` makes the network of a kind from."""
        return {
            "kind": _checked(kind),
            "num_features": num_features,
            "num_classes": num_classes,
            "num_layers": _NUM_LAYERS,
            "readout": self.readout,
            **_USUAL[kind],
            **self.arguments.get(kind, {}),
        }


def _checked(kind: str) -> str:
    if kind not in NETWORK_KINDS:
        raise ValueError(f"model: {kind!r} is none of {', '.join(NETWORK_KINDS)}")
    return kind
