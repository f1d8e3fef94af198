"""How a model wants to be called."""

from __future__ import annotations

import inspect
import itertools
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from mage._torch.graph_input import GraphInput
from mage._torch.module_caches import restoring_caches
from mage._torch.node_tables import Block, Table, is_table, rows_in_place, tables_of, with_tables
from mage._torch.output_selection import explained_tensor
from mage._torch.signatures import is_implemented, keywords_of, parameters_of, unwrapped

# What a forward method may call the number of graphs in a batch.
_COUNTS = ("batch_size", "num_graphs", "size")
# What every union of graphs has, whatever the graph.
_ALWAYS = ("edge_index", "batch", "ptr", "num_nodes", *_COUNTS)
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
_LABELS = ("y",)  # given only where they are required


def raised_by_model(error: BaseException) -> bool:
    """Whether an error comes from within a model, or the user's function that calls it."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is call_model.__code__ for frame, _ in frames) and not isinstance(error, CallError)


def call_model(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a model, or the user's function that calls it: what is raised in here is raised by the model."""
    return function(*arguments, **keywords)


class CallError(ValueError):
    """A model cannot be called with what a graph has; the message says what would work."""


class CallChoice(NamedTuple):
    """Which part of a model's answer is explained, and what the model is given.

    Attributes:
        select: Which of several outputs.
        column: Which column of the output, as if it were the only one.
        inputs: Names of the arguments, where the signature leaves a choice.
    """

    select: Any = None
    column: int | None = None
    inputs: Sequence[str] | None = None


class Forward:
    """Calls a model on a (union of) graphs with the arguments that its signature names.

    Understands ``forward(x, edge_index, batch)``, ``forward(x, edge_index)``, ``forward(data)``, ``forward(batch)``,
    any further tensors of the graph by their names (``edge_attr``, ``edge_weight``, ``pos``, …), ``encode`` and
    ``decode`` for links, and a user function ``call(model, data)``.

    Args:
        model: The model.
        available: Names of the tensors that the graph has.
        call: The user's function, if any.
        choice: Which part of the answer is explained, and what the model is given.

    Attributes:
        matrix: Name of the adjacency matrix that stands for ``edge_index`` in a graph without edges.
        tables: Weights with a row per node; they hold the rows of the union's nodes while the model runs.
        takes_batch: Whether it can tell the graphs of a union apart.
        optional: Arguments with a default that the model gets because the graph has them, not by ``inputs``.
        left_out: Arguments that are never given.
        networks: The networks behind the model; what they remember of a call is forgotten after it.
    """

    def __init__(
        self,
        model: Any,
        available: set[str],
        call: Callable[[Any, Data], Any] | None = None,
        choice: CallChoice | None = None,
    ) -> None:
        if not callable(model) or isinstance(model, type):
            description = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
            raise TypeError(f"model must be a callable object such as Net(), got {description}")
        self._given = model
        self._model = unwrapped(model)
        self._call = call
        self._choice = choice or CallChoice()
        self._inputs = self._choice.inputs
        self._names: list[str] = []
        self._whole = False
        self._positional = False
        self._decodes = False
        self.takes_batch = True
        self.optional: list[str] = []
        self.left_out: tuple[str, ...] = ()
        self.matrix: str | None = None
        self.tables: tuple[Table, ...] = ()
        self.networks: Sequence[nn.Module] = ()
        if call is None:
            self._read_signature(available)
        elif self._inputs is not None:
            raise ValueError("inputs and forward: forward says already what the model is given; leave inputs out")

    def _read_signature(self, available: set[str]) -> None:
        parts = callable(getattr(self._model, "encode", None)) and callable(getattr(self._model, "decode", None))
        parameters = parameters_of(self._model) if is_implemented(self._model) else []
        takes_link = any(parameter.name == "edge_label_index" for parameter in parameters)
        if "edge_label_index" in available and parts and not takes_link:
            self._decodes = True
            parameters = parameters_of(self._model, "encode")
        elif not is_implemented(self._model):
            hint = "; it has encode and decode: pass edge= to explain a link" if parts else ""
            raise ValueError(f"model: {type(self._model).__name__} has no forward{hint} (or pass forward=)")
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        plain = [p for p in parameters if p.kind not in variadic]
        required = [p.name for p in plain if p.default is inspect.Parameter.empty]
        usable = (available - set(_LABELS)) | {*_ALWAYS, *(set(required) & available)}
        usable |= {alias for alias, name in _ALIASES.items() if name in usable}
        if self._inputs is not None:
            self._check_inputs(self._inputs, [p.name for p in plain], required, usable)
            usable &= {*self._inputs, *_ALWAYS, "edge_label_index"}
        if self._takes_whole(required, [p.name for p in plain], usable):
            self._whole = True
            return
        if not plain:
            # Nothing says what a model of *args takes; PyG's own order is the best guess.
            self._names = [name for name in ("x", "edge_index", "batch") if name in usable]
            self._positional, self.optional = True, ["batch"]
            return
        missing = [name for name in required if name not in usable]
        if missing:
            raise ValueError(
                f"model: forward needs {', '.join(missing)}, which data does not have (it has "
                f"{', '.join(sorted(available | {'edge_index'}))}); add it to data or pass forward=call(model, data)"
            )
        takes_more = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        # Parameters that may only be given by position, up to the first that there is nothing for.
        self._positional = any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in plain) and not takes_more
        accepted = itertools.takewhile(lambda p: p.name in usable, plain) if self._positional else plain
        self._names = [p.name for p in accepted if p.name in usable]
        if self._inputs is None:
            always = {*required, *_ALWAYS, "edge_label_index"}
            self.optional = [name for name in self._names if not always & {name, _ALIASES.get(name, name)}]
        if takes_more and "batch" not in self._names:
            self._names.append("batch")
        self.takes_batch = bool({"batch", "ptr"} & {_ALIASES.get(name, name) for name in self._names})

    def _takes_whole(self, required: list[str], parameters: list[str], usable: set[str]) -> bool:
        """Whether the only argument is a graph, or a batch of graphs as in GraphGym and Lightning."""
        if len(required) != 1:
            return False
        alone = required[0]
        return alone in _WHOLE or alone not in usable or (alone == "batch" and "edge_index" not in parameters)

    @staticmethod
    def _check_inputs(inputs: Sequence[str], parameters: list[str], required: list[str], usable: set[str]) -> None:
        for name in inputs:
            if name not in parameters or name not in usable:
                where = "the model does not take it" if name not in parameters else "data does not have it"
                raise ValueError(f"inputs: {name!r} cannot be given, {where}; the model takes {', '.join(parameters)}")
        missing = [name for name in required if name not in inputs and name not in _ALWAYS]
        if missing:
            raise ValueError(f"inputs must name {', '.join(missing)} too, which the model cannot do without")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arguments that are the graph's own."""
        names = (name for name in self._names if name not in self.left_out)
        return tuple(name for name in names if name not in _ALWAYS or name == "edge_index")

    @property
    def is_handed_all(self) -> bool:
        """Whether the model, or the user's function, is handed the whole graph."""
        return self._whole or self._call is not None

    def uses(self, name: str) -> bool:
        """Whether the model may look at a tensor of the graph; one that is handed the whole graph may look at all."""
        if self.is_handed_all or name == self.matrix or is_table(name):
            return True
        names = set(self._names) - set(self.left_out)
        return name in {_ALIASES.get(known, known) for known in names} | names

    def table_blocks(self, networks: Sequence[nn.Module], graph: GraphInput) -> list[Block]:
        """Nodes that may change places among themselves, with the tables that have a row for each of them."""
        order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0)).to(graph.device)
        return [Block(order, tuple(tables_of(networks, graph.num_nodes)))]

    def with_rows(self, graph: GraphInput, tables: Sequence[Table]) -> GraphInput:
        """The graph whose nodes carry their rows of the tables."""
        return with_tables(graph, tables)

    def __call__(self, data: Data, count: int, without: str | None = None) -> Tensor:
        """The model's output on a union of ``count`` graphs.

        Args:
            data: The union.
            count: How many graphs it has.
            without: An optional argument that is left out.
        """
        with restoring_caches(self.networks), rows_in_place(self.tables, data):
            return self._selected(self._answer(data, count, without), count)

    def _selected(self, answer: Any, count: int) -> Tensor:
        """The tensor of an answer, and the column of it, that is explained."""
        out = explained_tensor(answer, self._choice.select)
        column = self._choice.column
        if column is None or not (out.dim() == 2 or (out.dim() == 1 and count == 1)):
            return out
        if column >= out.size(-1):
            raise ValueError(f"column must be one of the model's columns 0 … {out.size(-1) - 1}, got {column}")
        return out[..., column : column + 1]

    def _answer(self, data: Data, count: int, without: str | None) -> Any:
        if self._call is not None:
            return call_model(self._call, self._given, data)
        if self._whole:
            return call_model(self._model, data)
        names = [name for name in self._names if name not in (without, *self.left_out)]
        arguments = {name: self._argument(name, data, count) for name in names}
        if self._decodes:
            return self._decoded(arguments, data)
        if self._positional:
            return call_model(self._model, *arguments.values())
        return call_model(self._model, **arguments)

    def _decoded(self, arguments: dict[str, Any], data: Data) -> Any:
        encode = self._model.encode
        embeddings = call_model(encode, *arguments.values()) if self._positional else call_model(encode, **arguments)
        links = data.edge_label_index
        required = [p.name for p in keywords_of(self._model.decode) if p.default is inspect.Parameter.empty]
        if len(required) > 3 or (len(required) == 3 and "neg" not in required[2]):
            raise CallError(
                f"model: decode needs {', '.join(required)}; pass forward=call(model, data), which finds the link in "
                "data.edge_label_index"
            )
        # Some decoders take true and false links apart.
        false_links = [links[:, :0]] * (len(required) - 2 if len(required) == 3 else 0)
        return call_model(self._model.decode, embeddings, links, *false_links)

    def _argument(self, name: str, data: Data, count: int) -> Any:
        if name in _COUNTS:
            return count
        if name == "num_nodes":
            return data.num_nodes
        plain = name if name in data else _ALIASES[name]
        return data[self.matrix] if plain == "edge_index" and self.matrix is not None else data[plain]
