"""The paper's three graph networks, on PyG's layers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, global_add_pool, global_max_pool, global_mean_pool

from mage._core.checks import checked_choice, checked_flag, checked_instance, checked_number, checked_whole

# The keys of stored results depend on the code of the classes below, so make_network checks the arguments instead.
_SIZES = frozenset({"num_features", "num_classes", "width", "num_layers", "heads", "head_width"})
_LARGEST_SIZE = 10**5  # of any part of a network; a slip of the keyboard must not fill the memory
_READOUTS = {"mean": global_mean_pool, "max": global_max_pool, "sum": global_add_pool}


class GraphNetwork(nn.Module):
    """Convolutions, a readout and one linear layer.

    Args:
        convolutions: The layers.
        width: Width of the last one.
        num_classes: Number of logits.
        readout: ``"mean"``, ``"max"`` or ``"sum"`` over the nodes of a graph; ``"none"`` for logits of nodes.
        settings: What :meth:`architecture` reports.
    """

    rectified = True
    """Whether a ReLU follows each convolution."""

    def __init__(
        self, convolutions: Sequence[nn.Module], width: int, num_classes: int, readout: str, settings: dict[str, Any]
    ) -> None:
        super().__init__()
        if readout not in {*_READOUTS, "none"}:
            raise ValueError(f"readout: {readout!r} is none of {', '.join(_READOUTS)}, none")
        self.convolutions = nn.ModuleList(convolutions)
        self.head = nn.Linear(width, num_classes)
        self.readout = readout
        self._settings = {**settings, "num_classes": num_classes, "readout": readout}

    @property
    def architecture(self) -> dict[str, Any]:
        """The arguments that make this network again, with its kind."""
        return {"kind": type(self).__name__.lower(), **self._settings}

    def embed(self, x: torch.Tensor, edge_index: Any) -> torch.Tensor:
        """Features of the nodes after the last convolution."""
        for convolution in self.convolutions:
            x = convolution(x, edge_index)
            if self.rectified:
                x = x.relu()
        return x

    def forward(self, x: torch.Tensor, edge_index: Any, batch: torch.Tensor | None = None) -> torch.Tensor:
        """Logits of each graph, or of each node if there is no readout."""
        x = self.embed(x, edge_index)
        if self.readout != "none":
            x = _READOUTS[self.readout](x, batch)
        logits: torch.Tensor = self.head(x)
        return logits


class GCN(GraphNetwork):
    """Graph convolutional network: X ← ReLU(Â X W + b), Â = A + I, normalised by degrees or not.

    Reference: Kipf & Welling, ICLR 2017.

    Args:
        num_features: Width of ``x``.
        num_classes: Number of logits.
        width: Width of the layers.
        num_layers: Number of layers.
        normalize: Whether Â is divided by the square roots of the degrees of both ends.
        readout: See :class:`GraphNetwork`.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        width: int = 128,
        num_layers: int = 3,
        normalize: bool = True,
        readout: str = "mean",
    ) -> None:
        sizes = [num_features] + [width] * num_layers
        layers = [GCNConv(a, b, normalize=normalize) for a, b in pairwise(sizes)]
        settings = {"num_features": num_features, "width": width, "num_layers": num_layers, "normalize": normalize}
        super().__init__(layers, width, num_classes, readout, settings)
        self.normalize = normalize

    def embed(self, x: torch.Tensor, edge_index: Any) -> torch.Tensor:
        """Features of the nodes after the last convolution."""
        if self.normalize:
            return super().embed(x, edge_index)
        convolution: Any
        for convolution in self.convolutions:
            # PyG adds the loops of A + I only together with the normalisation; adding X W instead is the same.
            x = (convolution(x, edge_index) + convolution.lin(x)).relu()
        return x


class GIN(GraphNetwork):
    """Graph isomorphism network: X ← MLP((1 + ε) X + A X) with trainable ε, no activation between the layers.

    The MLP is Linear, BatchNorm, ReLU, Linear. Reference: Xu et al., ICLR 2019.

    Args:
        num_features: Width of ``x``.
        num_classes: Number of logits.
        width: Width of the layers.
        num_layers: Number of layers.
        readout: See :class:`GraphNetwork`.
    """

    rectified = False

    def __init__(
        self, num_features: int, num_classes: int, width: int = 128, num_layers: int = 3, readout: str = "mean"
    ) -> None:
        def perceptron(inputs: int) -> nn.Sequential:
            return nn.Sequential(nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width))

        layers = [GINConv(perceptron(inputs), train_eps=True) for inputs in [num_features] + [width] * (num_layers - 1)]
        settings = {"num_features": num_features, "width": width, "num_layers": num_layers}
        super().__init__(layers, width, num_classes, readout, settings)


class GAT(GraphNetwork):
    """Graph attention network with several heads side by side, a ReLU after each layer.

    Reference: Veličković et al., ICLR 2018.

    Args:
        num_features: Width of ``x``.
        num_classes: Number of logits.
        heads: Number of heads.
        head_width: Width of each head.
        num_layers: Number of layers.
        dropout: Share of attention weights dropped in training.
        readout: See :class:`GraphNetwork`.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        heads: int = 10,
        head_width: int = 10,
        num_layers: int = 3,
        dropout: float = 0.0,
        readout: str = "mean",
    ) -> None:
        width = heads * head_width
        layers = [
            GATConv(inputs, head_width, heads=heads, dropout=dropout)
            for inputs in [num_features] + [width] * (num_layers - 1)
        ]
        settings = {
            "num_features": num_features,
            "heads": heads,
            "head_width": head_width,
            "num_layers": num_layers,
            "dropout": dropout,
        }
        super().__init__(layers, width, num_classes, readout, settings)


NETWORKS: dict[str, type[GraphNetwork]] = {"gcn": GCN, "gin": GIN, "gat": GAT}


def make_network(architecture: dict[str, Any]) -> GraphNetwork:
    """A network with fresh weights from what :attr:`GraphNetwork.architecture` says."""
    settings = dict(checked_instance("architecture", architecture, dict, "a dictionary with the kind and the sizes"))
    kind = checked_choice("architecture: kind", settings.pop("kind", None), NETWORKS)
    unknown = settings.keys() - inspect.signature(NETWORKS[kind]).parameters.keys()
    missing = {"num_features", "num_classes"} - settings.keys()
    if unknown or missing:
        problem = f"has no {min(missing)}" if missing else f"{min(map(str, unknown))} is no argument of {kind}"
        raise ValueError(f"architecture: {problem}")
    for name in _SIZES & settings.keys():
        settings[name] = checked_whole(name, settings[name], most=_LARGEST_SIZE)
    checked_flag("normalize", settings.get("normalize", True))
    checked_choice("readout", settings.get("readout", "mean"), (*_READOUTS, "none"))
    if not 0 <= checked_number("dropout", settings.get("dropout", 0.0)) < 1:
        raise ValueError(f"dropout must be in [0, 1), got {settings['dropout']!r}")
    return NETWORKS[kind](**settings)
