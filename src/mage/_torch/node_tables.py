"""Weights with a row per node, such as the embeddings of LightGCN: they go with their nodes, like features.

Such a model knows nodes by their positions. Where nodes are removed or copied, its tables must be cut and copied with
them. Whether a table is meant that way, or is looked up by numbers that nodes carry, shows when nodes change places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch_geometric.data import Data

from mage._torch.graph_input import GraphInput
from mage._torch.structures import Structure

_PREFIX = "table "


class Table(NamedTuple):
    """A weight or buffer of a network.

    Attributes:
        name: Its name in the network.
        owner: The module that has it.
        attribute: Its name there.
        kind: The type of the nodes whose rows it has; empty in a graph without types.
    """

    name: str
    owner: nn.Module
    attribute: str
    kind: str = ""

    @property
    def key(self) -> str:
        """The name that its rows have among the features of nodes."""
        return _PREFIX + self.name

    @property
    def store(self) -> dict[str, Any]:
        """Where the module keeps it."""
        parameters: dict[str, Any] = self.owner._parameters
        return parameters if self.attribute in parameters else self.owner._buffers

    @property
    def rows(self) -> Tensor:
        """The numbers."""
        rows: Tensor = self.store[self.attribute].detach()
        return rows


class Block(NamedTuple):
    """Nodes that may change places among themselves, and the tables that may go with them.

    Attributes:
        order: All nodes, those of the block in another order.
        tables: Tables with a row for each node of the block.
    """

    order: Tensor
    tables: tuple[Table, ...]


def is_table(name: str) -> bool:
    """Whether a feature of nodes is a part of a table."""
    return name.startswith(_PREFIX)


def tables_of(networks: Sequence[nn.Module], num_nodes: int) -> list[Table]:
    """Weights and buffers with as many rows as there are nodes; most are so by chance."""
    return [
        table
        for table in _held(networks)
        if table.rows.dim() > 0 and table.rows.layout == torch.strided and table.rows.size(0) == num_nodes > 1
    ]


def held_structures(networks: Sequence[nn.Module], num_nodes: int) -> list[str]:
    """Names of the graphs that a model carries inside: edges, and matrices with a row and a column per node."""
    names = []
    for network in networks:
        for path, module in network.named_modules():
            attributes = {**module._buffers, **{key: value for key, value in vars(module).items() if key[0] != "_"}}
            for key, value in attributes.items():
                if isinstance(value, Tensor) and _is_graph(key, value, num_nodes):
                    names.append(f"{path}.{key}".lstrip("."))
    return names


def _is_graph(key: str, value: Tensor, num_nodes: int) -> bool:
    if tuple(value.shape) == (num_nodes, num_nodes):
        return True
    whole = not value.is_floating_point() and value.dtype != torch.bool
    return whole and value.dim() == 2 and len(value) == 2 and Structure.of(f"{key} index", value, num_nodes) is not None


def _held(networks: Sequence[nn.Module]) -> Iterator[Table]:
    for network in networks:
        for path, module in network.named_modules():
            for key, value in [*module._parameters.items(), *module._buffers.items()]:
                if value is not None and not is_lazy(value):
                    yield Table(f"{path}.{key}".lstrip("."), module, key)


def with_tables(graph: GraphInput, tables: Sequence[Table]) -> GraphInput:
    """The graph whose nodes carry their rows of the tables."""
    return replace(graph, node={**graph.node, **{table.key: table.rows for table in tables}})


@contextmanager
def rows_in_place(tables: Sequence[Table], data: Data) -> Iterator[None]:
    """The tables hold the rows of a union's nodes inside, and all of theirs after."""
    originals = [table.store[table.attribute] for table in tables]
    try:
        for table in tables:
            table.store[table.attribute] = data[table.key]
        yield
    finally:
        for table, rows in zip(tables, originals, strict=True):
            table.store[table.attribute] = rows


def positional_tables(
    candidates: Sequence[Table], same: Callable[[Sequence[Table]], bool]
) -> tuple[tuple[Table, ...], bool]:
    """The tables that belong to the nodes by position, and whether nodes may change places with them.

    Args:
        candidates: Tables with a row per node.
        same: Whether the model's answer stays the same when nodes change places with their rows of these tables.
    """
    if same(()):
        return (), True
    for group in [tuple(candidates), *((table,) for table in candidates)] if candidates else []:
        if same(group):
            return group, True
    return (), False
