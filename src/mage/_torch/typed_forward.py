"""How a model of typed graphs wants to be called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from mage._torch.forward import CallChoice, Forward, call_model
from mage._torch.graph_input import GraphInput
from mage._torch.module_caches import restoring_caches
from mage._torch.node_tables import Block, Table, tables_of
from mage._torch.signatures import is_implemented, parameters_of
from mage._torch.typed_graph import TypedGraph

_COUNTS = ("batch_size", "num_graphs", "size")
_DICTIONARY = "_dict"
_OF_ALL = ("edge_type", "node_type")  # arguments of models that take all types in one numbering, such as RGCN
_ALWAYS = ("edge_index", "edge_index_dict", "batch", "batch_dict", "edge_label_index", *_OF_ALL, *_COUNTS)
_WHOLE = ("data", "batch_data", "graph", "input", "inputs", "sample")


class TypedForward(Forward):
    """Calls a model on a union of typed graphs with the arguments that its signature names.

    Understands ``forward(x_dict, edge_index_dict)`` with any further ``<name>_dict``, the same names without ``_dict``
    as models from ``to_hetero`` have them, ``edge_label_index``, ``forward(data)``, models of all types in one
    numbering (``forward(x, edge_index, edge_type)``), and a user function ``call(model, data)``.

    Args:
        model: The model.
        graph: The graph with its types.
        level: ``"graph"``, ``"node"`` or ``"edge"``.
        ends: Types of the target node, or of both ends of the link.
        fill: What stands for features that a masking takes away: ``"zero"`` or ``"mean"``.
        call: The user's function, if any.
        choice: Which part of the answer is explained, and what the model is given.
    """

    def __init__(
        self,
        model: Any,
        graph: TypedGraph,
        level: str,
        ends: Sequence[str],
        fill: str,
        call: Callable[[Any, Any], Any] | None = None,
        choice: CallChoice | None = None,
    ) -> None:
        self._typed, self._level, self._ends, self._fill = graph, level, tuple(ends), fill
        self._in_one = False
        super().__init__(model, self._keys, call, choice)

    def _read_signature(self, available: set[str]) -> None:
        if not is_implemented(self._model):
            raise ValueError(f"model: {type(self._model).__name__} has no forward; pass forward=call(model, data)")
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        plain = [p for p in parameters_of(self._model) if p.kind not in variadic]
        required = [p.name for p in plain if p.default is inspect.Parameter.empty]
        self._in_one = bool(set(_OF_ALL) & {p.name for p in plain})
        usable = self._known(available)
        if self._inputs is not None:
            self._check_inputs(self._inputs, [p.name for p in plain], required, usable)
            usable &= {*self._inputs, *_ALWAYS}
        if len(required) == 1 and (required[0] in _WHOLE or required[0] == "batch" or required[0] not in usable):
            self._whole = True
            return
        missing = [name for name in required if name not in usable]
        if missing or not plain:
            raise ValueError(
                f"model: forward needs {', '.join(missing) or 'arguments by name'}, which data does not have (it has "
                f"{', '.join(sorted(usable))}); pass forward=call(model, data)"
            )
        self._names = [p.name for p in plain if p.name in usable]
        if self._inputs is None:
            self.optional = [name for name in self._names if name not in {*required, *_ALWAYS}]
        self.takes_batch = bool({"batch", "batch_dict"} & set(self._names))
        self._positional = any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in plain)

    @property
    def _keys(self) -> set[str]:
        """Names of what nodes and edges have."""
        parts = [*self._typed.node.values(), *self._typed.edge.values()]
        return {key for part in parts for key in part if key != "y"} | {"edge_index", "batch"}

    def _known(self, keys: set[str]) -> set[str]:
        """Names of all that the graph can give."""
        link = {"edge_label_index"} if self._level == "edge" else set()
        if self._in_one:
            return keys | {*_OF_ALL, *_COUNTS, "num_nodes"} | link
        return keys | {key + _DICTIONARY for key in keys} | {*_COUNTS, *self._typed.graph} | link

    def uses(self, name: str) -> bool:
        """True for all names: the plain graph does not show which typed tensors the model reads."""
        del name
        return True

    def table_blocks(self, networks: Sequence[nn.Module], graph: GraphInput) -> list[Block]:
        """Nodes of one type change places at a time, with tables that have a row for each of them."""
        blocks = []
        for place, kind in enumerate(self._typed.node_types):
            start, end = self._typed.node_starts[place : place + 2]
            tables = tables_of(networks, end - start)
            if not tables:
                continue
            order = torch.arange(graph.num_nodes, device=graph.device)
            turn = torch.randperm(end - start, generator=torch.Generator().manual_seed(0)).to(graph.device)
            order[start:end] = start + turn
            # A table belongs to one type: the one in its name where it could be several.
            of_kind = [table for table in tables if kind in table.name]
            others = [t for t in tables if t not in of_kind and not any(k in t.name for k in self._typed.node_types)]
            blocks.append(Block(order, tuple(table._replace(kind=kind) for table in of_kind + others)))
        return blocks

    def with_rows(self, graph: GraphInput, tables: Sequence[Table]) -> GraphInput:
        """The graph as it is: rows are looked up by the numbers of nodes."""
        del tables
        return graph

    @contextmanager
    def _rows_in_place(self, data: Data) -> Iterator[None]:
        originals = [table.store[table.attribute] for table in self.tables]
        try:
            for table, rows in zip(self.tables, originals, strict=True):
                table.store[table.attribute] = rows.detach()[self._typed.numbers_in_type(data, table.kind)]
            yield
        finally:
            for table, rows in zip(self.tables, originals, strict=True):
                table.store[table.attribute] = rows

    def __call__(self, data: Data, count: int, without: str | None = None) -> Tensor:
        """The model's output on a union of ``count`` graphs; at node level a row for each node of the union.

        Args:
            data: The union of copies of the plain graph.
            count: How many graphs it has.
            without: An optional argument that is left out.
        """
        padded = self._level == "graph" and self._lacks_last(data, count)
        union = self._typed.with_last_graph(data, count) if padded else data
        graphs = count + 1 if padded else count
        typed = self._typed.typed(union, graphs, self._fill)
        if self._level == "edge":
            self._name_link(typed, self._typed.positions(union)[data.edge_label_index])
        with restoring_caches(self.networks), self._rows_in_place(union):
            answer = self._typed_answer(typed, union, graphs, without)
        out = self._selected(self._of_type(answer), count)
        if padded and out.dim() and out.size(0) == graphs:
            out = out[:count]
        return self._rows_of_union(out, union) if self._level == "node" else out

    def _lacks_last(self, data: Data, count: int) -> bool:
        """Whether some type has no node in the last graph, so that a pool over it would have too few rows."""
        last = self._typed.type_of_node[data["n_id"][data.batch == count - 1]]
        sizes = torch.tensor(self._typed.node_starts).diff()
        return len(torch.unique(last)) < int((sizes > 0).sum())

    def _name_link(self, typed: HeteroData, link: Tensor) -> None:
        typed.edge_label_index = link
        source, target = self._ends
        for relation in self._typed.edge_types:
            if (relation[0], relation[2]) == (source, target):
                typed[relation].edge_label_index = link

    def _typed_answer(self, typed: HeteroData, union: Data, count: int, without: str | None) -> Any:
        if self._call is not None:
            return call_model(self._call, self._given, typed)
        if self._whole:
            return call_model(self._model, typed)
        names = [name for name in self._names if name not in (without, *self.left_out)]
        arguments = {name: self._typed_argument(name, typed, union, count) for name in names}
        if self._positional:
            return call_model(self._model, *arguments.values())
        return call_model(self._model, **arguments)

    def _typed_argument(self, name: str, typed: HeteroData, union: Data, count: int) -> Any:
        if name in _COUNTS:
            return count
        if name == "edge_label_index":
            return union.edge_label_index if self._in_one else typed.edge_label_index
        if self._in_one:
            return self._in_one_numbering(name, typed, union)
        if name in self._typed.graph:
            return typed[name]
        return typed.collect(name.removesuffix(_DICTIONARY))

    def _in_one_numbering(self, name: str, typed: HeteroData, union: Data) -> Any:
        if name == "num_nodes":
            return len(union.batch)
        plain = {
            "edge_index": union.get("edge_index"),
            "batch": union.batch,
            "node_type": self._typed.type_of_node[union["n_id"]],
            "edge_type": self._typed.type_of_edge[union["e_id"]],
        }
        if name in plain:
            return plain[name]
        of_nodes = any(name in rows for rows in self._typed.node.values())
        kinds: Sequence[Any] = self._typed.node_types if of_nodes else self._typed.edge_types
        lacking = [kind for kind in kinds if name not in typed[kind]]
        widths = {tuple(typed[kind][name].shape[1:]) for kind in kinds if kind not in lacking}
        if lacking or len(widths) > 1:
            raise ValueError(
                f"data: a model of all types in one numbering needs {name} of one width for all types; pass "
                "forward=call(model, data)"
            )
        values = torch.cat([typed[kind][name] for kind in kinds])
        order = [self._typed.rows_of_type(union, kind) for kind in kinds] if of_nodes else self._edge_rows(union)
        whole = torch.empty_like(values)
        whole[torch.cat(order)] = values
        return whole

    def _edge_rows(self, union: Data) -> list[Tensor]:
        of_edge = self._typed.type_of_edge[union["e_id"]]
        return [torch.nonzero(of_edge == place).flatten() for place in range(len(self._typed.edge_types))]

    def _of_type(self, answer: Any) -> Any:
        """Of outputs for several types those of the explained node's type."""
        if self._choice.select is not None or not isinstance(answer, Mapping):
            return answer
        if self._level == "node" and self._ends[0] in answer:
            return answer[self._ends[0]]
        if set(answer) & set(self._typed.node_types):
            kinds = ", ".join(map(repr, answer))
            if self._level == "node":
                raise ValueError(f"node: the model has no output for type {self._ends[0]!r}, only for {kinds}")
            raise ValueError(f"model returns rows for nodes of {kinds}; pass node=(type, number) to explain one")
        return answer

    def _rows_of_union(self, out: Tensor, union: Data) -> Tensor:
        """Outputs of nodes of one type in the places that they have among all nodes."""
        rows = self._typed.rows_of_type(union, self._ends[0])
        total = len(union.batch)
        if out.dim() == 0 or out.size(0) not in (len(rows), total):
            raise ValueError(
                f"model returned {list(out.shape)} for {len(rows)} nodes of type {self._ends[0]!r}; node= needs one "
                "row per node of its type"
            )
        if out.size(0) == total:
            return out
        whole = out.new_zeros(total, *out.shape[1:])
        whole[rows] = out
        return whole
