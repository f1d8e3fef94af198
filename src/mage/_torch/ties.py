"""Ties in models that select nodes by scores (top-k pools) or join the nearest nodes.

Where two scores are equal, rounding or the order of the nodes decides which node is selected. Rounding differs between
a batch and a single graph, so graphs with ties in a top-k pool must be evaluated alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch_geometric.nn.pool.select import SelectTopK

from mage._torch.observation import tensors_in

_CHOOSING = frozenset(["argmin", "argmax", "min", "max", "topk", "sort", "argsort", "kthvalue", "median"])
_ROUNDINGS = 512  # how often a score may be rounded before nodes are chosen by it


def selections(networks: Sequence[torch.nn.Module]) -> list[SelectTopK]:
    """The layers of some networks that keep the best nodes; TopKPooling, SAGPooling and ASAPooling have one."""
    return [layer for network in networks for layer in network.modules() if isinstance(layer, SelectTopK)]


class NodeComparisons(TorchFunctionMode):
    """Detects whether a model selects by numbers of all pairs of nodes, as when it joins the nearest nodes.

    Args:
        num_nodes: Number of nodes of the graph that the model is run on.

    Attributes:
        chooses: Whether the model selected in this way.
    """

    def __init__(self, num_nodes: int) -> None:
        super().__init__()
        self._num_nodes = num_nodes
        self.chooses = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__name__", "") in _CHOOSING:
            shapes = [tensor.shape[-2:] for tensor in tensors_in((args, kwargs or {}))]
            self.chooses |= (self._num_nodes, self._num_nodes) in shapes
        return func(*args, **(kwargs or {}))


@contextmanager
def tied_graphs(layers: Sequence[SelectTopK]) -> Iterator[set[int]]:
    """Collects the graphs, by number in their batch, in which rounding decides which nodes a top-k pool keeps."""
    tied: set[int] = set()

    def look(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        tied.update(_tied(layer, *args, **kwargs))

    handles = [layer.register_forward_pre_hook(look, with_kwargs=True) for layer in dict.fromkeys(layers)]
    try:
        yield tied
    finally:
        for handle in handles:
            handle.remove()


def _tied(layer: SelectTopK, x: Tensor, batch: Tensor | None = None) -> list[int]:
    """The graphs in which the layer keeps other nodes when all numbers are changed by about their rounding."""
    if not x.numel():
        return []
    step = _ROUNDINGS * float(torch.finfo(x.dtype).eps) * float(x.abs().max())
    generator = torch.Generator().manual_seed(0)
    perturbation = step * torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)
    graphs = x.new_zeros(len(x), dtype=torch.long) if batch is None else batch
    kept_masks = []
    for perturbed in (x + perturbation, x - perturbation):
        is_kept = torch.zeros(len(x), dtype=torch.bool, device=x.device)
        is_kept[layer.forward(perturbed, graphs).node_index] = True
        kept_masks.append(is_kept)
    return [int(graph) for graph in torch.unique(graphs[kept_masks[0] != kept_masks[1]])]
