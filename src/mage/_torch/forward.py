"""How a model wants to be called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

# What a forward method may call the number of graphs in a batch.
_COUNTS = ("batch_size", "num_graphs", "size")
# Other names under which forward methods take what PyG calls by one name.
_ALIASES = {
    "batch_index": "batch",
    "batch_idx": "batch",
    "edges": "edge_index",
    "edge_idx": "edge_index",
    "features": "x",
    "node_features": "x",
    "feat": "x",
    "edge_features": "edge_attr",
    "edge_feat": "edge_attr",
}
_WHOLE = ("data", "batch_data", "graph", "input", "inputs", "sample")


class Forward:
    """Calls a model on a (union of) graphs with the arguments that its signature names.

    Understands ``forward(x, edge_index, batch)``, ``forward(x, edge_index)``, ``forward(data)``, any further tensors of
    the graph by their names (``edge_attr``, ``edge_weight``, ``pos``, …), and a user function ``call(model, data)``.

    Args:
        model: The model.
        available: Names of the tensors that the graph has.
        call: The user's function, if any.
    """

    def __init__(self, model: Any, available: set[str], call: Callable[[Any, Data], Tensor] | None = None) -> None:
        if not callable(model):
            raise TypeError(f"model must be callable, got {type(model).__name__}")
        self._model = model
        self._call = call
        self._names: list[str] = []
        self._whole = False
        self._positional = False
        self.takes_batch = True
        if call is None:
            self._read_signature(available)

    def _read_signature(self, available: set[str]) -> None:
        function = getattr(self._model, "forward", self._model)
        parameters = list(inspect.signature(function).parameters.values())
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = [p for p in parameters if p.kind not in variadic]
        required = [p.name for p in named if p.default is inspect.Parameter.empty]
        known = available | {"edge_index", "batch", *_COUNTS}
        known |= {alias for alias, name in _ALIASES.items() if name in known}
        if len(required) == 1 and (required[0] in _WHOLE or required[0] not in known):
            self._whole = True
            return
        if not named:
            # Containers such as torch_geometric.nn.Sequential hide their signature; PyG's own order is the best guess.
            self._names = [name for name in ("x", "edge_index", "batch") if name in known]
            self._positional = True
            return
        missing = [name for name in required if name not in known]
        if missing:
            raise ValueError(
                f"model: forward needs {', '.join(missing)}, which data does not have (it has "
                f"{', '.join(sorted(available | {'edge_index'}))}); add it to data or pass forward=call(model, data)"
            )
        self._names = [p.name for p in named if p.name in known]
        takes_more = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        if takes_more and "batch" not in self._names:
            self._names.append("batch")
        self.takes_batch = "batch" in {_ALIASES.get(name, name) for name in self._names}
        # Parameters that may only be given by position.
        self._positional = any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in named) and not takes_more

    def uses(self, name: str) -> bool:
        """Whether the model may look at a tensor of the graph; one that is handed the whole graph may look at all."""
        if self._whole or self._call is not None:
            return True
        return name in {_ALIASES.get(known, known) for known in self._names} | set(self._names)

    def __call__(self, data: Data, count: int) -> Tensor:
        """The model's output on a union of ``count`` graphs."""
        if self._call is not None:
            out = self._call(self._model, data)
        elif self._whole:
            out = self._model(data)
        else:
            arguments = {name: self._argument(name, data, count) for name in self._names}
            out = self._model(*arguments.values()) if self._positional else self._model(**arguments)
        if isinstance(out, tuple | list) and out and isinstance(out[0], Tensor):
            out = out[0]
        if not isinstance(out, Tensor):
            raise TypeError(f"model must return a tensor, got {type(out).__name__}")
        return out

    @staticmethod
    def _argument(name: str, data: Data, count: int) -> Any:
        if name in _COUNTS:
            return count
        return data[name] if name in data else data[_ALIASES[name]]
