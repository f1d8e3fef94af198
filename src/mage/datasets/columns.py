"""Many graphs in few arrays: all of them at hand, or each made when it is first needed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mage._core.fingerprint import update
from mage._core.ragged import pointers
from mage.explanation.subject import Subject

if TYPE_CHECKING:
    import torch

Indices: TypeAlias = NDArray[np.int64]

OUTSIDE = -1
"""Value of ``node_motif`` and ``edge_motif`` outside of all ground-truth motifs."""


class GraphColumns(Protocol):
    """What a dataset keeps its graphs in."""

    @property
    def labels(self) -> Indices:
        """Classes, of the nodes in a node-level set and of the graphs otherwise."""

    @property
    def num_node_features(self) -> int:
        """Width of ``x``."""

    def __len__(self) -> int: ...

    def take(self, positions: Sequence[int] | Indices) -> Columns:
        """The graphs at these positions, in this order."""

    def sizes(self, positions: Sequence[int] | Indices) -> tuple[Indices, Indices]:
        """Numbers of nodes and of directed edges of the graphs at these positions."""

    def subject(self, position: int) -> Subject | None:
        """What the nodes of a graph are, where its columns do not say it."""

    def fingerprint(self) -> str:
        """What tells these graphs from others."""


@dataclass(frozen=True)
class Columns:
    """Graphs that are all at hand: what belongs to nodes, to edges and to graphs, and where each graph begins.

    Args:
        node_start: First node of each graph, and the number of nodes at the end.
        edge_start: Likewise for edges; each undirected edge counts twice.
        edge_index: Ends of the edges, numbered within their graph.
        nodes: Arrays with one row per node.
        edges: Arrays with one row per edge.
        graphs: Arrays with one row per graph.
        texts: Lists of strings or of tuples of strings, one per graph.
    """

    node_start: Indices
    edge_start: Indices
    edge_index: torch.Tensor
    nodes: Mapping[str, torch.Tensor]
    edges: Mapping[str, torch.Tensor]
    graphs: Mapping[str, torch.Tensor]
    texts: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def of_arrays(
        cls,
        node_start: Indices,
        edge_start: Indices,
        edge_index: NDArray[np.integer],
        nodes: Mapping[str, NDArray[Any]],
        edges: Mapping[str, NDArray[Any]],
        graphs: Mapping[str, NDArray[Any]],
        texts: Mapping[str, Sequence[Any]] | None = None,
    ) -> Columns:
        """Columns of NumPy's arrays, which share their memory."""
        import torch

        def tensors(arrays: Mapping[str, NDArray[Any]]) -> dict[str, torch.Tensor]:
            return {name: torch.from_numpy(array) for name, array in arrays.items()}

        ends = torch.from_numpy(edge_index)
        return cls(node_start, edge_start, ends, tensors(nodes), tensors(edges), tensors(graphs), texts or {})

    def __len__(self) -> int:
        return len(self.node_start) - 1

    @property
    def labels(self) -> Indices:
        """Classes, of the nodes in a node-level set and of the graphs otherwise."""
        values: Indices = (self.nodes["y"] if "y" in self.nodes else self.graphs["y"]).numpy()
        return values

    @property
    def num_node_features(self) -> int:
        """Width of ``x``."""
        return int(self.nodes["x"].shape[1])

    def take(self, positions: Sequence[int] | Indices) -> Columns:
        """The graphs at these positions, in this order."""
        numbers = np.asarray(positions, dtype=np.int64)
        nodes, node_start = _rows(self.node_start, numbers)
        edges, edge_start = _rows(self.edge_start, numbers)
        return Columns(
            node_start,
            edge_start,
            self.edge_index[:, edges],
            {name: values[nodes] for name, values in self.nodes.items()},
            {name: values[edges] for name, values in self.edges.items()},
            {name: values[numbers] for name, values in self.graphs.items()},
            {name: [texts[position] for position in numbers.tolist()] for name, texts in self.texts.items()},
        )

    def sizes(self, positions: Sequence[int] | Indices) -> tuple[Indices, Indices]:
        """Numbers of nodes and of directed edges of the graphs at these positions."""
        numbers = np.asarray(positions, dtype=np.int64)
        return np.diff(self.node_start)[numbers], np.diff(self.edge_start)[numbers]

    def subject(self, position: int) -> Subject | None:
        """What the nodes of a graph are, where its columns do not say it."""
        del position
        return None

    def fingerprint(self) -> str:
        """What tells these graphs from others: a digest of their arrays."""
        digest = hashlib.sha256()
        for values in (self.node_start, self.edge_index, *self.nodes.values(), *self.graphs.values()):
            update(digest, values)
        return digest.hexdigest()


def concatenate(parts: Sequence[Columns]) -> Columns:
    """The graphs of all parts, in order."""
    import torch

    def joined(columns: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
        return {name: torch.cat([column[name] for column in columns]) for name in columns[0]}

    return Columns(
        pointers(np.concatenate([np.diff(part.node_start) for part in parts])),
        pointers(np.concatenate([np.diff(part.edge_start) for part in parts])),
        torch.cat([part.edge_index for part in parts], dim=1),
        joined([part.nodes for part in parts]),
        joined([part.edges for part in parts]),
        joined([part.graphs for part in parts]),
        {name: [text for part in parts for text in part.texts[name]] for name in parts[0].texts},
    )


class LazyColumns:
    """Graphs that are made when they are first needed, and then kept in memory.

    Args:
        labels: Class of each graph.
        num_node_features: Width of ``x``.
        make: Makes the graphs at some positions, which ascend.
        identity: What tells the graphs from others, without making them.
        subject: What the nodes of a graph are; None where they are just nodes.
    """

    def __init__(
        self,
        labels: Indices,
        num_node_features: int,
        make: Callable[[Indices], Columns],
        identity: str,
        subject: Callable[[int], Subject] | None = None,
    ) -> None:
        self._labels = labels
        self._num_node_features = num_node_features
        self._make = make
        self._identity = identity
        self._subject = subject
        # Parts in the order in which they were made; each is longer than the one after it, so they are few.
        self._parts: list[Columns] = []
        self._row = np.full(len(labels), OUTSIDE, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def labels(self) -> Indices:
        """Class of each graph."""
        return self._labels

    @property
    def num_node_features(self) -> int:
        """Width of ``x``."""
        return self._num_node_features

    def take(self, positions: Sequence[int] | Indices) -> Columns:
        """The graphs at these positions, in this order; those that are missing are made."""
        numbers = np.asarray(positions, dtype=np.int64)
        missing = np.unique(numbers[self._row[numbers] == OUTSIDE])
        if len(missing) or not self._parts:
            self._add(missing)
        rows = self._row[numbers]
        if len(self._parts) == 1:
            return self._parts[0].take(rows)
        first_rows = pointers(np.array([len(part) for part in self._parts]))
        owner = np.searchsorted(first_rows, rows, side="right") - 1
        order = np.argsort(owner, kind="stable")
        pieces = [part.take((rows - first_rows[i])[owner == i]) for i, part in enumerate(self._parts)]
        return concatenate(pieces).take(np.argsort(order))

    def sizes(self, positions: Sequence[int] | Indices) -> tuple[Indices, Indices]:
        """Numbers of nodes and of directed edges of the graphs at these positions, which are made for that."""
        part = self.take(positions)
        return np.diff(part.node_start), np.diff(part.edge_start)

    def fingerprint(self) -> str:
        """What tells these graphs from others."""
        return hashlib.sha256(self._identity.encode()).hexdigest()

    def subject(self, position: int) -> Subject | None:
        """What the nodes of a graph are, where that is more than nodes."""
        return None if self._subject is None else self._subject(position)

    def _add(self, positions: Indices) -> None:
        self._row[positions] = sum(map(len, self._parts)) + np.arange(len(positions))
        self._parts.append(self._make(positions))
        while len(self._parts) > 1 and len(self._parts[-1]) >= len(self._parts[-2]):
            last = self._parts.pop()
            self._parts[-1] = concatenate([self._parts[-1], last])


def _rows(start: Indices, numbers: Indices) -> tuple[Indices, Indices]:
    """Rows of the chosen graphs, one graph after the other, and where each of them then begins."""
    counts = start[numbers + 1] - start[numbers]
    begins = pointers(counts)
    shift = np.repeat(start[numbers] - begins[:-1], counts)
    return np.arange(begins[-1]) + shift, begins
