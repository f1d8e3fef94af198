"""Observation of one run of a model: how far messages travel, and what its last step is.

While a model runs, every call of a torch function can be seen (``TorchFunctionMode``). Each tensor is as many hops deep
as the deepest tensor it was made from, and a message-passing layer adds its own. Layers that work side by side, as in
``DirGNNConv`` or in parallel branches, thus count once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary
from torch_geometric.nn import MessagePassing

# What nodes may be mixed with outside of layers that count as message passing.
_MIXING = frozenset(
    {
        *("index_add", "scatter", "scatter_add", "scatter_reduce", "index_reduce", "segment_reduce", "gather"),
        *("index_select", "matmul", "__matmul__", "mm", "bmm", "spmm", "einsum", "sparse_mm", "addmm"),
        # A choice among nodes may hide all others as long as the chosen ones are there.
        *("topk", "sort", "argsort", "kthvalue", "median", "nanmedian", "quantile", "nanquantile", "max", "min"),
        *("amax", "amin", "aminmax", "argmax", "argmin", "unique"),
    }
)
_RANKING = frozenset({"topk", "sort", "argsort", "kthvalue", "median", "nanmedian", "quantile", "nanquantile"})
_SAME_NUMBERS = ("reshape", "view", "squeeze", "unsqueeze", "flatten", "__getitem__", "to", "float", "double", "detach")


class Observation(TorchFunctionMode):
    """What was seen of one run.

    Args:
        networks: The networks behind the model, whose weights are 0 hops deep.

    Attributes:
        hops: Hops of message passing.
        ranks_nodes: Whether numbers, one for each node perhaps, were put in order: who is chosen may depend on all.
    """

    def __init__(self, networks: Sequence[torch.nn.Module]) -> None:
        super().__init__()
        self._depth: MutableMapping[Tensor, int] = WeakIdKeyDictionary()
        self._maker: MutableMapping[Tensor, str] = WeakIdKeyDictionary()
        self._thread = threading.get_ident()
        self._stack: list[int] = []
        self.hops = 0
        self.ranks_nodes = False
        self._inside, self._was_inside, self._mixed = 0, False, False
        for network in networks:
            for buffer in network.buffers():
                self._depth[buffer] = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        inputs = list(tensors_in((args, kwargs or {})))
        depth = self._deepest(inputs)
        out = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if self._inside and not self._stack:
            self._mixed |= name in _MIXING or name.rstrip("_") in _MIXING or _picks_rows(name, args)
            self.ranks_nodes |= name in _RANKING and _is_ranked(inputs, kwargs or {})
        for tensor in tensors_in(out):
            self._depth[tensor] = max(depth, self._depth.get(tensor, 0))
            same = name in _SAME_NUMBERS and inputs
            self._maker[tensor] = self._maker.get(inputs[0], "") if same else name
        return out

    @property
    def by_hand(self) -> bool:
        """Whether nodes may exchange information outside of message-passing layers, or no network was seen to run."""
        return self._mixed or not self._was_inside

    def last_step(self, out: Tensor) -> str:
        """Name of the torch function that made an output; empty where it was not seen."""
        return self._maker.get(out, "")

    def enter_network(self, *_: Any) -> None:
        """A network is called."""
        if threading.get_ident() == self._thread:
            self._inside, self._was_inside = self._inside + 1, True

    def leave_network(self, *_: Any) -> None:
        """It has answered."""
        if threading.get_ident() == self._thread:
            self._inside -= 1

    def enter(self, _layer: Any, args: Any, kwargs: Any) -> None:
        """A message-passing layer is called."""
        if threading.get_ident() == self._thread:
            self._stack.append(self._deepest(tensors_in((args, kwargs))))

    def leave(self, layer: Any, _args: Any, out: Any) -> None:
        """It has answered."""
        if threading.get_ident() != self._thread or not self._stack:
            return
        numbers = (getattr(layer, name, 1) for name in ("K", "num_layers"))
        steps = max(steps if isinstance(steps, int) and steps > 0 else 1 for steps in numbers)
        depth = self._stack.pop() + steps
        for tensor in tensors_in(out):
            depth = max(depth, self._depth.get(tensor, 0))
            self._depth[tensor] = depth
        self.hops = max(self.hops, depth)

    def _deepest(self, tensors: Iterable[Tensor]) -> int:
        return max(map(self._depth_of, tensors), default=0)

    def _depth_of(self, tensor: Tensor) -> int:
        if tensor not in self._depth:
            # No seen call has made it: an input, or what another language computed, from whatever there was by then.
            self._depth[tensor] = 0 if isinstance(tensor, torch.nn.Parameter) else self.hops
        return self._depth[tensor]


def _is_ranked(inputs: Sequence[Tensor], options: Any) -> bool:
    """Whether a list of numbers, or each column of a matrix, is put in order."""
    if not inputs or not inputs[0].is_floating_point():
        return False
    return inputs[0].dim() == 1 or options.get("dim") == 0


def _picks_rows(name: str, args: tuple[Any, ...]) -> bool:
    """Whether rows are taken by their numbers, as neighbours may be."""
    if name != "__getitem__" or len(args) < 2:
        return False
    return any(not each.is_floating_point() and each.dtype != torch.bool for each in tensors_in(args[1]))


@contextmanager
def observing(networks: Sequence[torch.nn.Module]) -> Iterator[Observation]:
    """Watch the runs of a model in this thread; other threads may run it meanwhile."""
    observation = Observation(networks)
    layers = dict.fromkeys(message_passing_layers(networks))
    handles = [layer.register_forward_pre_hook(observation.enter, with_kwargs=True) for layer in layers]
    handles += [layer.register_forward_hook(observation.leave) for layer in layers]
    plain = [network for network in networks if not isinstance(network, torch.jit.ScriptModule)]
    handles += [network.register_forward_pre_hook(observation.enter_network) for network in plain]
    handles += [network.register_forward_hook(observation.leave_network) for network in plain]
    try:
        with observation:
            yield observation
    finally:
        for handle in handles:
            handle.remove()


def message_passing_layers(networks: Sequence[torch.nn.Module]) -> list[MessagePassing]:
    """The message-passing layers of some networks."""
    return [layer for network in networks for layer in network.modules() if isinstance(layer, MessagePassing)]


def tensors_in(value: Any) -> Iterator[Tensor]:
    """All tensors in tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from tensors_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors_in(part)
