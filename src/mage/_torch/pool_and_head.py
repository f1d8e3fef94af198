"""The pool and the head of a model, run by themselves on given node embeddings; the model is not changed.

While a model runs, every call of a torch function can be seen (``TorchFunctionMode``). What comes from the ``batch``
vector is followed; the tensors of nodes that first meet it are what goes into the pool. To run only the rest, the model
is called on a tiny graph, and the results of the calls that make those tensors are replaced by other embeddings, as
many rows as needed. Whatever follows is the model's own code: any pool, any head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch_geometric.data import Data

from mage._torch.graph_input import GraphInput
from mage._torch.masked_model import MaskedModel
from mage._torch.masking import union_of_copies
from mage._torch.observation import message_passing_layers, tensors_in

_GRAPHS = (4, 3, 2, 1, 3)  # nodes of each graph in the tiny batch: numbers that a layer's width rarely is in all


class NoPoolError(ValueError):
    """A model cannot be cut at a pool; the message says why."""


class _Call(NamedTuple):
    """The origin of a tensor: the number of a call of a torch function, and which of its results it is."""

    number: int
    result: int
    name: str


class _Trace(TorchFunctionMode):
    """Follows all tensors computed from the batch vector, and records the node tensors that are first combined with it.

    Args:
        batch: The batch vector, and ``ptr``.
        ends: The ends of edges, which must not meet it.
        num_nodes: Rows that tensors of nodes have.
    """

    def __init__(self, batch: Sequence[Tensor], ends: Sequence[Tensor], num_nodes: int) -> None:
        super().__init__()
        # References to tensors, so that no new tensor gets the identity of an old one.
        self._batch = {id(tensor): tensor for tensor in batch}
        self._ends = {id(tensor): tensor for tensor in ends}
        self._num_nodes = num_nodes
        self._results: dict[int, tuple[Tensor, _Call]] = {}
        self._calls = 0
        self.cuts: dict[int, Tensor] = {}
        self.places: list[_Call] = []
        self.names_after_pool: list[str] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        inputs = list(tensors_in((args, kwargs)))
        meets = any(id(tensor) in self._batch for tensor in inputs)
        if meets:
            self._meet(inputs)
        out = func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        results = list(tensors_in(out))
        of_edges = any(id(tensor) in self._ends for tensor in inputs)
        for position, tensor in enumerate(results):
            if of_edges and not tensor.is_floating_point():
                self._ends[id(tensor)] = tensor
            self._results[id(tensor)] = (tensor, _Call(self._calls, position, name))
            if meets:
                self._batch[id(tensor)] = tensor
        if self.cuts and results and not name.startswith("__get__"):
            self.names_after_pool.append(name)
        self._calls += 1
        return out

    def _meet(self, inputs: list[Tensor]) -> None:
        for tensor in inputs:
            if id(tensor) in self._ends:
                raise NoPoolError("its edges meet the batch vector")
            of_nodes = tensor.dim() > 0 and tensor.size(0) == self._num_nodes and tensor.is_floating_point()
            if id(tensor) in self._batch or id(tensor) in self.cuts or not of_nodes:
                continue
            if id(tensor) not in self._results:
                if isinstance(tensor, torch.nn.Parameter):
                    continue
                raise NoPoolError("features of nodes meet the batch vector as they are")
            self.cuts[id(tensor)] = tensor
            self.places.append(self._results[id(tensor)][1])

    def check_layer(self, _module: Any, args: Any, kwargs: Any) -> None:
        """Refuse message passing after the pool."""
        if any(id(tensor) in self._batch for tensor in tensors_in((args, kwargs))):
            raise NoPoolError("messages are passed after nodes have met in a pool")


class _Replace(TorchFunctionMode):
    """Replaces the results of some calls."""

    def __init__(self, places: Sequence[_Call], values: Sequence[Tensor]) -> None:
        super().__init__()
        self._by_number: dict[int, list[tuple[_Call, Tensor]]] = {}
        for place, value in zip(places, values, strict=True):
            self._by_number.setdefault(place.number, []).append((place, value))
        self._calls = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for place, value in self._by_number.get(self._calls, ()):
            if getattr(func, "__name__", "") != place.name:
                raise NoPoolError("it does not do the same in each call")
            if isinstance(out, Tensor):
                out = value
            elif isinstance(out, tuple | list) and isinstance(out[place.result], Tensor):
                out = type(out)([*out[: place.result], value, *out[place.result + 1 :]])
            else:
                raise NoPoolError("embeddings come out of a call in a way of its own")
        self._calls += 1
        return out


class PoolAndHead:
    """The pool and the head of a model.

    Args:
        runner: The model.
        graph: The input graph, of which a tiny batch is made.

    Attributes:
        width: Numbers per node that go into the pool.

    Raises:
        NoPoolError: The model has no such parts.
    """

    def __init__(self, runner: MaskedModel, graph: GraphInput) -> None:
        self._runner = runner
        self._graph = graph
        if runner.one_by_one or runner.level != "graph":
            raise NoPoolError("it does not pool batches of graphs")
        sizes = torch.tensor(_GRAPHS, device=graph.device)
        batch = torch.arange(len(sizes), device=graph.device).repeat_interleave(sizes)
        trace, _ = self._traced(self._tiny_batch(batch, len(sizes)), len(sizes))
        self._places = trace.places
        if not self._places:
            raise NoPoolError("no embeddings of nodes meet the batch vector")
        self._shapes = [tensor.shape[1:] for tensor in trace.cuts.values()]
        self.names_after_pool = tuple(trace.names_after_pool)
        self.width = sum(shape.numel() for shape in self._shapes)

    def embeddings(self, data: Data, num_graphs: int) -> tuple[Tensor, Tensor]:
        """What goes into the pool [nodes, width], and the model's output [graphs, C]."""
        trace, out = self._traced(data, num_graphs)
        tensors = list(trace.cuts.values())
        if [tensor.shape[1:] for tensor in tensors] != self._shapes:
            raise NoPoolError("it does not do the same on each graph")
        return torch.cat([tensor.reshape(len(tensor), -1) for tensor in tensors], dim=1), out

    def outputs(self, embeddings: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """The model's output [graphs, C] for nodes with these embeddings [nodes, width], sorted by graph."""
        widths = [shape.numel() for shape in self._shapes]
        parts = torch.split(embeddings, widths, dim=1)
        values = [part.reshape(len(part), *shape) for part, shape in zip(parts, self._shapes, strict=True)]
        data = self._tiny_batch(batch.contiguous(), num_graphs)
        with _Replace(self._places, values):
            return _rows(self._runner.forward(data, num_graphs), num_graphs)

    def _traced(self, data: Data, num_graphs: int) -> tuple[_Trace, Tensor]:
        trace = _Trace([data.batch, data.ptr], [data.edge_index], int(data.num_nodes or 0))
        with _checking_layers(self._runner.networks, trace.check_layer), trace:
            out = self._runner.forward(data, num_graphs)
        return trace, _rows(out, num_graphs)

    def _tiny_batch(self, batch: Tensor, num_graphs: int) -> Data:
        """A few copies of the first node, two of them joined, under a batch vector of any length; for one run."""
        graph, device = self._graph, self._graph.device
        self._runner.num_runs += -(-sum(_GRAPHS) // graph.num_nodes)
        rows = torch.zeros(sum(_GRAPHS), dtype=torch.long, device=device)
        ends = torch.tensor([[0, 1], [1, 0]], device=device)[:, : 2 * min(graph.edge_index.size(1), 1)]
        features = {key: value[rows] for key, value in graph.node.items()}
        data = union_of_copies(graph, num_graphs, features, torch.zeros_like(ends[0]), batch)
        data.edge_index = ends
        return data


@contextmanager
def _checking_layers(networks: Sequence[torch.nn.Module], check: Callable[..., None]) -> Iterator[None]:
    layers = dict.fromkeys(message_passing_layers(networks))
    handles = [layer.register_forward_pre_hook(check, with_kwargs=True) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _rows(out: Tensor, num_graphs: int) -> Tensor:
    out = out.reshape(1, -1) if num_graphs == 1 and out.dim() < 2 else out
    out = out.unsqueeze(-1) if out.dim() == 1 else out
    if out.dim() != 2 or len(out) != num_graphs:
        raise NoPoolError(f"it returns shape {list(out.shape)} for {num_graphs} graphs")
    return out
