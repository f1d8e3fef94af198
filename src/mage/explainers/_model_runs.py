"""Runs of a model on its input, and the hidden features that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch_geometric.nn import MessagePassing

from mage._torch.forward import Forward
from mage._torch.graph_input import GraphInput
from mage._torch.masking import MASKINGS
from mage.explainers.protocol import UnsupportedError

if TYPE_CHECKING:
    from torch_geometric.data import Data

_ACTIVATIONS = {"relu", "relu6", "leaky_relu", "elu", "selu", "celu", "prelu", "rrelu", "gelu", "silu", "mish", "tanh"}
_ACTIVATIONS |= {"sigmoid", "softplus", "softsign", "hardtanh", "hardswish", "hardsigmoid", "logsigmoid"}


class Run(nn.Module):
    """A model tied to its input, called as PyG's explainers call models; it counts the graphs it was run on.

    Args:
        model: The model.
        data: One graph, or a union of several if ``count`` says so.
        count: Number of graphs in ``data``.
        names: Names of the tensors that the model may take; by default read from ``data``.
        of_nodes: Whether the model says something of each node, rather than of each graph.
    """

    embedding: Tensor
    """Hidden features of the nodes, where an explainer keeps them."""

    def __init__(
        self,
        model: nn.Module,
        data: Data,
        count: int | None = None,
        names: set[str] | None = None,
        of_nodes: bool = False,
    ) -> None:
        super().__init__()
        if count is None or names is None:
            whole = GraphInput.of(data)
            names = {*whole.node, *whole.edge, *whole.graph}
            data = MASKINGS["remove"](whole, torch.ones(1, whole.num_nodes, dtype=torch.bool, device=whole.device)).data
        self.model = model
        self.data = data
        self.count = count or 1
        self.graphs = 0
        self.of_nodes = of_nodes
        self._call = Forward(model, names)

    def forward(self, *_: Any, **__: Any) -> Tensor:
        """The output rows [count, C], whatever the arguments: PyG's, which hold nothing but parts of the input.

        Where the model says something of nodes, the rows are those of all nodes [n, C].
        """
        self.graphs += self.count
        out = self._call(self.data, self.count)
        masks = [getattr(module, "_edge_mask", None) for module in self.model.modules()]
        if not out.requires_grad and any(mask is not None and mask.requires_grad for mask in masks):
            raise UnsupportedError(
                "model: its output does not depend on messages; use a black-box explainer such as mage"
            )
        if self.of_nodes:
            return out.reshape(self.data.num_nodes, -1)
        out = out.reshape(1, -1) if self.count == 1 else out.reshape(len(out), -1)
        if len(out) != self.count:
            raise UnsupportedError(f"model returned {len(out)} rows for {self.count} graphs; it must take batch=")
        return out


class LastLayer(TorchFunctionMode):
    """Sees the node features [n, K] of the last message-passing layer called inside, after its activation.

    The activation is the first one outside of layers that keeps the shape: models apply it, not PyG's layers.

    Args:
        model: The model that is run inside.
        num_nodes: n.
        cut: Whether the layers' outputs are cut off from what comes before, so that gradients with respect to them
            exist whatever the weights and the input.
    """

    def __init__(self, model: nn.Module, num_nodes: int, cut: bool = False) -> None:
        super().__init__()
        self._layers = [module for module in model.modules() if isinstance(module, MessagePassing)]
        self._num_nodes = num_nodes
        self._cut = cut
        self._depth = 0
        self._seen: Tensor | None = None
        self._activated = False
        self._handles: list[Any] = []

    @property
    def features(self) -> Tensor:
        """The features."""
        if self._seen is None:
            raise UnsupportedError("model: no message-passing layer gives features of nodes; use a black-box explainer")
        return self._seen

    def __enter__(self) -> LastLayer:
        for layer in self._layers:
            self._handles += [layer.register_forward_pre_hook(self._before), layer.register_forward_hook(self._after)]
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *problem: Any) -> None:
        super().__exit__(*problem)  # type: ignore[no-untyped-call]
        for handle in self._handles:
            handle.remove()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        waiting = self._depth == 0 and self._seen is not None and not self._activated
        if waiting and getattr(func, "__name__", "").rstrip("_") in _ACTIVATIONS and self._fits(out):
            self._seen, self._activated = out, True
        return out

    def _fits(self, out: Any) -> bool:
        features = self._seen
        return isinstance(out, Tensor) and features is not None and out.shape == features.shape

    def _before(self, *_: Any) -> None:
        self._depth += 1

    def _after(self, layer: Any, inputs: Any, out: Any) -> Any:
        del layer, inputs
        self._depth -= 1
        features = out[0] if isinstance(out, tuple) else out
        of_nodes = isinstance(features, Tensor) and features.dim() == 2 and features.size(0) == self._num_nodes
        if self._depth or not of_nodes:
            return None  # layers inside layers, and those that return no features, change nothing
        self._activated = False
        if not self._cut:
            self._seen = features
            return None
        self._seen = features.detach().requires_grad_()
        passed = self._seen.clone()  # so that what follows may work in place
        return (passed, *out[1:]) if isinstance(out, tuple) else passed
