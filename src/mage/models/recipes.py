"""Architectures of the paper's networks by dataset, and how ours are trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

_SYNTHETIC = {"ba_2motifs", "ba_house_grid", "ba_house_and_grid", "ba_house_or_grid", "ba_shapes"}
_TEXT = {"graph_sst2", "twitter"}
_ZINC = {"benzene", "fluoride_carbonyl", "alkane_carbonyl"}


KINDS = ("gcn", "gin", "gat")


def architecture(dataset: str, kind: str, num_features: int, num_classes: int) -> dict[str, Any]:
    """Three layers, as wide as in the paper; other datasets are treated like molecules."""
    made: dict[str, Any] = {"kind": kind, "num_features": num_features, "num_classes": num_classes, "num_layers": 3}
    made["readout"] = "none" if dataset == "ba_shapes" else "max" if dataset in _TEXT else "mean"
    if dataset == "mutagenic" and kind in {"gin", "gat"}:
        made["readout"] = "max"
    if kind == "gcn":
        made["width"] = 20 if dataset in _SYNTHETIC else 128
        made["normalize"] = dataset not in _SYNTHETIC | {"spmotif"}
    elif kind == "gin":
        made["width"] = 20 if dataset in _SYNTHETIC | {"spmotif"} else 32 if dataset in _ZINC else 128
    elif kind == "gat":
        made |= {"heads": 10, "head_width": 10}
    else:
        raise ValueError(f"model: {kind!r} is none of {', '.join(KINDS)}")
    return made


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


_DEFAULT = TrainingPlan(epochs=60, learning_rate=3e-3)
_PLANS: dict[str, TrainingPlan] = {
    "ba_2motifs": TrainingPlan(epochs=300, batch_size=32, learning_rate=1e-2),
    "ba_house_grid": TrainingPlan(epochs=40),
    "ba_house_and_grid": TrainingPlan(epochs=80),
    "ba_house_or_grid": TrainingPlan(epochs=60),
    "spmotif": TrainingPlan(epochs=60),
    "mutagenic": TrainingPlan(epochs=80, learning_rate=2e-3),
    "benzene": TrainingPlan(epochs=40, learning_rate=3e-3),
    "mnist75sp": TrainingPlan(epochs=12, learning_rate=5e-3),
    "graph_sst2": TrainingPlan(epochs=3, batch_size=128, learning_rate=1e-3),
    "twitter": TrainingPlan(epochs=8, batch_size=64, learning_rate=1e-3),
    "ba_shapes": TrainingPlan(epochs=1000, batch_size=1, learning_rate=1e-2, patience=1000),
}
_CHANGES: dict[tuple[str, str], dict[str, Any]] = {
    ("ba_house_grid", "gcn"): {"epochs": 80, "learning_rate": 1e-2},
    ("mnist75sp", "gcn"): {"epochs": 25, "learning_rate": 1e-2},
    ("mnist75sp", "gat"): {"epochs": 11},
    ("twitter", "gin"): {"batch_size": 256},
    ("spmotif", "gin"): {"epochs": 100, "learning_rate": 1e-2},
    ("spmotif", "gat"): {"epochs": 25},
    ("benzene", "gin"): {"epochs": 100},
}


def plan(dataset: str, kind: str) -> TrainingPlan:
    """How the network of a kind is trained on a dataset."""
    if kind not in KINDS:
        raise ValueError(f"model: {kind!r} is none of {', '.join(KINDS)}")
    return replace(_PLANS.get(dataset, _DEFAULT), **_CHANGES.get((dataset, kind), {}))
