"""A dataset of graphs with its split, its ground truth and the way the paper explains it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Batch, Data, Dataset

Indices: TypeAlias = NDArray[np.int64]

OUTSIDE = -1
"""Value of ``node_motif`` and ``edge_motif`` outside of all ground-truth motifs."""

_SPLIT_SEED = 2


class Split(NamedTuple):
    """Positions of the graphs (or, in a node-level set, of the nodes) to train on, to stop by and to report on."""

    train: Indices
    validation: Indices
    test: Indices


def paper_split(size: int) -> Split:
    """The paper's 80/10/10 split: ``random_split`` with a generator seeded 2."""
    # At least one graph to stop by and one to report on, where there are so many.
    sizes = [int(0.8 * size), max(int(0.1 * size), min(1, size // 3))]
    sizes.append(size - sum(sizes))
    generator = torch.Generator().manual_seed(_SPLIT_SEED)
    everything: Any = range(size)
    parts: Any = torch.utils.data.random_split(everything, sizes, generator)
    return Split(*(np.asarray(part.indices, dtype=np.int64) for part in parts))


@dataclass(frozen=True)
class Recipe:
    """How the paper explains a dataset.

    Args:
        masking: What becomes of nodes outside a coalition.
        output: Output of the model that a coalition is worth.
        num_motifs: m; None takes the number of ground-truth motifs of each graph.
        max_nodes: M; a count, a share of the nodes, or None for the number of nodes in the ground truth.
        least_nodes: M is at least this.
        connected: Whether motifs must be connected.
        label: Explain graphs of this class only.
        below: Explain graphs with fewer nodes only.
        limit: Explain at most the first so many, those that are predicted wrongly left out of them.
    """

    masking: str
    output: str = "logit"
    num_motifs: int | None = 1
    max_nodes: int | float | None = None
    least_nodes: int = 1
    connected: bool = True
    label: int | None = None
    below: int | None = None
    limit: int | None = None


@dataclass(frozen=True)
class Columns:
    """Many graphs in few arrays: what belongs to nodes, to edges and to graphs, and where each graph begins.

    Args:
        node_start: First node of each graph, and the number of nodes at the end.
        edge_start: Likewise for edges; each undirected edge counts twice.
        edge_index: Ends of the edges, numbered within their graph.
        nodes: Arrays with one row a node.
        edges: Arrays with one row an edge.
        graphs: Arrays with one row a graph.
        texts: Lists of strings or of tuples of strings, one a graph.
    """

    node_start: Indices
    edge_start: Indices
    edge_index: torch.Tensor
    nodes: Mapping[str, torch.Tensor]
    edges: Mapping[str, torch.Tensor]
    graphs: Mapping[str, torch.Tensor]
    texts: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.node_start) - 1

    @property
    def labels(self) -> Indices:
        """Classes, of the nodes in a node-level set and of the graphs otherwise."""
        values: Indices = (self.nodes["y"] if "y" in self.nodes else self.graphs["y"]).numpy()
        return values


class GraphDataset(Dataset):  # type: ignore[misc]
    """Graphs in PyG's form, with ground-truth motifs, the split and the paper's settings for explaining them.

    Each graph carries ``node_motif`` and ``edge_motif``: the number of the ground-truth motif that a node or an edge
    belongs to, or −1. Indexing with a list, a mask or a slice gives a view that shares the arrays.

    Args:
        name: Name in the registry.
        title: Name for people.
        columns: The graphs.
        num_classes: Number of classes.
        split: Positions for training, validation and test.
        recipe: How the paper explains it.
        task: ``"graph"``, or ``"node"`` for one graph whose nodes have labels.
        origin: Where this copy comes from: a file, or a generator with its seed.
        class_names: One name a class.
    """

    def __init__(
        self,
        name: str,
        title: str,
        columns: Columns,
        num_classes: int,
        split: Split,
        recipe: Recipe,
        *,
        task: str = "graph",
        origin: str = "",
        class_names: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._name = name
        self.title = title
        self.columns = columns
        self._split = split
        self.recipe = recipe
        self.task = task
        self.origin = origin
        self.class_names = tuple(class_names) or tuple(str(i) for i in range(num_classes))
        self._classes = num_classes

    @classmethod
    def from_graphs(
        cls,
        name: str,
        graphs: Sequence[Data],
        recipe: Recipe | None = None,
        split: Split | None = None,
        class_names: Sequence[str] = (),
    ) -> GraphDataset:
        """A dataset of one's own, to be trained on, explained and benchmarked like the others.

        Args:
            name: A name for it.
            graphs: Graphs with ``x``, ``edge_index`` and ``y``, and with ``node_motif`` and ``edge_motif`` (see above)
                where there is a ground truth.
            recipe: How to explain it; by default up to two motifs with 30 % of the nodes, or what the ground truth has.
            split: Positions for training, validation and test; by default the paper's 80/10/10.
            class_names: One name a class.
        """
        if not graphs:
            raise ValueError("graphs must hold at least one graph")
        for position, graph in enumerate(graphs):
            missing = [key for key in ("x", "edge_index", "y") if graph.get(key) is None]
            if missing:
                raise ValueError(f"graphs: graph {position} has no {missing[0]}")
        nodes = [int(graph.num_nodes) for graph in graphs]
        node_start = np.concatenate([[0], np.cumsum(nodes)])
        edge_start = np.concatenate([[0], np.cumsum([graph.edge_index.shape[1] for graph in graphs])])
        edge_index = torch.cat([graph.edge_index for graph in graphs], dim=1)
        has_truth = any(graph.get("node_motif") is not None for graph in graphs)
        motifs = [
            graph.node_motif if graph.get("node_motif") is not None else torch.full((count,), OUTSIDE)
            for graph, count in zip(graphs, nodes, strict=True)
        ]
        edge_motif = torch.cat(
            [
                graph.edge_motif if graph.get("edge_motif") is not None else _shared_motif(own, graph.edge_index)
                for graph, own in zip(graphs, motifs, strict=True)
            ]
        )
        y = torch.cat([torch.as_tensor(graph.y).reshape(-1)[:1] for graph in graphs])
        if y.is_floating_point() and bool((y != y.round()).any()):
            raise ValueError("graphs: y must be a class, a whole number; regression sets are explained graph by graph")
        y = y.long()
        node_columns = {"x": torch.cat([graph.x for graph in graphs]), "node_motif": torch.cat(motifs)}
        edge_columns = {"edge_motif": edge_motif}
        if all(graph.get("edge_attr") is not None for graph in graphs):
            edge_columns["edge_attr"] = torch.cat([graph.edge_attr for graph in graphs])
        columns = Columns(node_start, edge_start, edge_index, node_columns, edge_columns, {"y": y})
        default = Recipe("remove", num_motifs=None) if has_truth else Recipe("remove", num_motifs=2, max_nodes=0.3)
        num_classes = max(int(y.max()) + 1, len(class_names))
        split = split if split is not None else paper_split(len(graphs))
        return cls(name, name, columns, num_classes, split, recipe or default, origin="given", class_names=class_names)

    @property
    def name(self) -> str:
        """Name in the registry."""
        return self._name

    @property
    def split(self) -> Split:
        """Positions for training, validation and test; in a view, those that are in it, by their place there."""
        if self._indices is None or self.task == "node":
            return self._split
        place = np.full(len(self.columns), OUTSIDE)
        place[np.asarray(self.indices(), dtype=np.int64)] = np.arange(len(self))
        return Split(*(place[part][place[part] != OUTSIDE] for part in self._split))

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return self._classes

    @property
    def num_node_features(self) -> int:
        """Width of ``x``."""
        return int(self.columns.nodes["x"].shape[1])

    @property
    def labels(self) -> Indices:
        """The class of each graph of this view; in a node-level set, of each node."""
        every = self.columns.labels
        return every if self.task == "node" else every[list(self.indices())]

    @property
    def num_nodes_each(self) -> Indices:
        """Number of nodes of each graph of this view."""
        return np.diff(self.columns.node_start)[list(self.indices())]

    @property
    def num_edges_each(self) -> NDArray[np.float64]:
        """Number of undirected edges of each graph of this view."""
        return np.diff(self.columns.edge_start)[list(self.indices())] / 2

    def len(self) -> int:
        """Number of graphs, views aside."""
        return len(self.columns)

    def get(self, idx: int) -> Data:
        """One graph, views aside."""
        columns = self.columns
        first, after = columns.node_start[idx], columns.node_start[idx + 1]
        start, stop = columns.edge_start[idx], columns.edge_start[idx + 1]
        items: dict[str, Any] = {"edge_index": columns.edge_index[:, start:stop].long()}
        items |= {key: _loadable(values[first:after]) for key, values in columns.nodes.items()}
        items |= {key: _loadable(values[start:stop]) for key, values in columns.edges.items()}
        items |= {key: _loadable(values[idx : idx + 1]) for key, values in columns.graphs.items()}
        items |= {key: texts[idx] for key, texts in columns.texts.items()}
        return Data(**items)

    def batch(self, positions: Sequence[int] | Indices) -> Batch:
        """The disjoint union of some graphs of this view, built with array operations rather than graph by graph."""
        columns = self.columns
        base = np.asarray(self.indices(), dtype=np.int64)[np.asarray(positions, dtype=np.int64)]
        nodes, owner, node_counts = _spread(columns.node_start, base)
        edges, edge_owner, _ = _spread(columns.edge_start, base)
        ptr = np.concatenate([[0], np.cumsum(node_counts)])
        edge_index = columns.edge_index[:, edges].long() + torch.from_numpy(ptr[:-1][edge_owner])
        items: dict[str, Any] = {key: _loadable(values[nodes]) for key, values in columns.nodes.items()}
        items |= {key: _loadable(values[edges]) for key, values in columns.edges.items()}
        items |= {key: _loadable(values[base]) for key, values in columns.graphs.items()}
        return Batch(edge_index=edge_index, batch=torch.from_numpy(owner), ptr=torch.from_numpy(ptr), **items)

    def batches(self, positions: Sequence[int] | Indices, size: int) -> Iterator[Batch]:
        """Unions of at most ``size`` graphs, in the order given."""
        for start in range(0, len(positions), size):
            yield self.batch(positions[start : start + size])

    def motifs(self, index: int) -> tuple[tuple[int, ...], ...]:
        """The nodes of each ground-truth motif of a graph."""
        return motifs_of(self[index])

    def settings(self, index: int) -> dict[str, Any]:
        """The paper's settings for a graph (or a node of a node-level set), as arguments of :func:`mage.explain`."""
        recipe = self.recipe
        node_level = self.task == "node"
        motifs = self.motifs(0 if node_level else index)
        if node_level:
            motifs = tuple(motif for motif in motifs if index in motif)
        num_nodes = int(self.num_nodes_each[0 if node_level else index])
        if recipe.max_nodes is None:
            max_nodes = sum(map(len, motifs))
        elif isinstance(recipe.max_nodes, int):
            max_nodes = recipe.max_nodes
        else:
            max_nodes = int(recipe.max_nodes * num_nodes)
        return {
            "num_motifs": max(1, len(motifs)) if recipe.num_motifs is None else recipe.num_motifs,
            "max_nodes": min(max(recipe.least_nodes, max_nodes), num_nodes),
            "masking": recipe.masking,
            "output": recipe.output,
            "connected": recipe.connected,
            **({"node": index} if node_level else {}),
        }

    def candidates(self) -> Indices:
        """Test graphs (or nodes) that the paper's rule allows to be explained, whatever a model says of them."""
        recipe, test = self.recipe, self.split.test
        keep = np.ones(len(test), dtype=bool)
        if self.task == "node":
            keep &= self.columns.nodes["node_motif"].numpy()[test] != OUTSIDE
        if recipe.label is not None:
            keep &= self.labels[test] == recipe.label
        if recipe.below is not None:
            keep &= self.num_nodes_each[test] < recipe.below
        return test[keep][: recipe.limit]

    def explained(self, model: torch.nn.Module, limit: int | None = None) -> Indices:
        """Test graphs that the paper would explain: those its rule allows and the model predicts correctly."""
        from mage.models.training import predictions

        chosen = self.candidates()
        right: NDArray[np.bool_] = predictions(model, self, chosen) == self.labels[chosen]
        return chosen[right][:limit]

    def __repr__(self) -> str:
        return f"{self.title}({len(self):,} graphs, {self.num_classes} classes, {self.origin})"


def motifs_of(data: Data) -> tuple[tuple[int, ...], ...]:
    """The nodes of each ground-truth motif that a graph's ``node_motif`` numbers."""
    numbers = np.asarray(data.node_motif)
    return tuple(tuple(np.flatnonzero(numbers == i).tolist()) for i in range(int(numbers.max(initial=OUTSIDE)) + 1))


def _shared_motif(node_motif: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
    """The motif that both ends of an edge belong to."""
    first, second = node_motif[edge_index[0]], node_motif[edge_index[1]]
    return torch.where(first == second, first, torch.full_like(first, OUTSIDE))


def _spread(start: Indices, chosen: Indices) -> tuple[Indices, Indices, Indices]:
    """Rows of the chosen graphs one after the other, the position of their graph, and how many each has."""
    counts = start[chosen + 1] - start[chosen]
    owner = np.repeat(np.arange(len(chosen)), counts)
    before = np.cumsum(counts) - counts
    rows = np.arange(counts.sum()) - before[owner] + start[chosen][owner]
    return rows, owner, counts


def _loadable(values: torch.Tensor) -> torch.Tensor:
    """Values as models take them; large sets are kept in half precision or in small integers."""
    if values.is_floating_point():
        return values.float()
    return values if values.dtype == torch.bool else values.long()
