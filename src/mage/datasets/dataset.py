"""A dataset of graphs with its split, its ground truth and the way the paper explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Batch, Data, Dataset

from mage._core.checks import (
    checked_array,
    checked_instance,
    checked_list,
    checked_text,
    checked_texts,
    checked_whole,
    shortened,
)
from mage.datasets.columns import OUTSIDE, Columns, GraphColumns, Indices
from mage.datasets.dataset_info import DatasetInfo, ExplanationSettings, Split, paper_split
from mage.datasets.ground_truth import motifs_of
from mage.datasets.prediction import predicted_classes
from mage.datasets.user_graphs import checked_graphs, columns_of_graphs, refuse_loading
from mage.explanation.subject import GraphSubject, SentenceSubject, subject_of
from mage.motifs import MotifRequest


class GraphDataset(Dataset):  # type: ignore[misc]
    """Graphs in PyG's form, with ground-truth motifs, the split and the paper's settings for explaining them.

    Each graph carries ``node_motif`` and ``edge_motif``: the number of the ground-truth motif that a node or an edge
    belongs to, or −1. Indexing with a list, a mask or a slice gives a view that shares the arrays.

    Args:
        info: What is known about the dataset.
        columns: The graphs.
        split: Positions for training, validation and test.
        origin: Where this copy comes from: a file, or a generator with its seed.
    """

    def __init__(self, info: DatasetInfo, columns: GraphColumns, split: Split, origin: str = "") -> None:
        super().__init__()
        self.info = info
        self.columns = columns
        self.origin = origin
        self._split = split

    @classmethod
    def from_graphs(
        cls,
        name: str,
        graphs: Sequence[Data],
        settings: ExplanationSettings | None = None,
        split: Split | None = None,
        class_names: Sequence[str] = (),
    ) -> GraphDataset:
        """A dataset of your own graphs, to be trained on, explained and benchmarked like the others.

        Args:
            name: A name for it.
            graphs: Graphs with ``x``, ``edge_index`` and ``y``, and with ``node_motif`` and ``edge_motif`` (see above)
                where there is a ground truth.
            settings: How to explain it; by default up to two motifs with 30 % of the nodes, or as many motifs and
                nodes as the ground truth has.
            split: Positions for training, validation and test; by default the paper's 80/10/10.
            class_names: One name per class.
        """
        name, graphs = checked_text("name", name), checked_graphs(graphs)
        class_names = checked_texts("class_names", checked_list("class_names", class_names, "a list of names"))
        if settings is not None:
            checked_instance("settings", settings, ExplanationSettings, "mage.datasets.ExplanationSettings")
        if split is not None:
            checked_instance("split", split, Split, "a mage.datasets.Split")
        columns = columns_of_graphs(graphs)
        num_classes = max(int(columns.labels.max()) + 1, len(class_names))
        all_names = (*class_names, *(str(i) for i in range(len(class_names), num_classes)))
        has_truth = any(graph.get("node_motif") is not None for graph in graphs)
        usual = {"num_motifs": None} if has_truth else {"num_motifs": 2, "max_nodes": 0.3}
        info = DatasetInfo(
            name=name,
            title=name,
            class_names=all_names,
            truth="as given" if has_truth else "none",
            settings=ExplanationSettings("remove", **usual) if settings is None else settings,
            build=refuse_loading,
            num_graphs=len(graphs),
        )
        return cls(info, columns, split if split is not None else paper_split(len(graphs)), origin="given")

    @property
    def name(self) -> str:
        """Name in the registry."""
        return self.info.name

    @property
    def title(self) -> str:
        """Name to display."""
        return self.info.title

    @property
    def task(self) -> str:
        """``"graph"``, or ``"node"`` for one graph whose nodes have labels."""
        return self.info.task

    @property
    def class_names(self) -> tuple[str, ...]:
        """One name per class."""
        return self.info.class_names

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.info.class_names)

    @property
    def num_node_features(self) -> int:
        """Width of ``x``."""
        return self.columns.num_node_features

    @property
    def split(self) -> Split:
        """Positions for training, validation and test; in a view, those that are in it, by their place there."""
        if self._indices is None or self.task == "node":
            return self._split
        place = np.full(len(self.columns), OUTSIDE)
        place[self._positions] = np.arange(len(self))
        return Split(*(place[part][place[part] != OUTSIDE] for part in self._split))

    @property
    def labels(self) -> Indices:
        """The class of each graph of this view; in a node-level set, of each node."""
        labels = self.columns.labels
        return labels if self.task == "node" else labels[self._positions]

    @property
    def num_nodes_each(self) -> Indices:
        """Number of nodes of each graph of this view; graphs that are not there yet are made for that."""
        return self.columns.sizes(self._positions)[0]

    @property
    def num_edges_each(self) -> NDArray[np.float64]:
        """Number of undirected edges of each graph of this view; graphs that are not there yet are made for that."""
        return self.columns.sizes(self._positions)[1] / 2

    @property
    def _positions(self) -> Indices:
        """Positions of the graphs of this view in the whole dataset."""
        return np.asarray(self.indices(), dtype=np.int64)

    def len(self) -> int:
        """Number of graphs, views aside."""
        return len(self.columns)

    def get(self, idx: int) -> Data:
        """One graph, views aside."""
        part = self.columns.take([idx])
        texts = {name: values[0] for name, values in part.texts.items()}
        data = Data(edge_index=part.edge_index.long(), **_loadable(part), **texts)
        # What its nodes are, where that cannot be seen: super-pixels of a picture, words of a sentence.
        subject = self.columns.subject(idx)
        if subject is None and "names" in texts and isinstance(subject_of(data), GraphSubject):
            subject = SentenceSubject(tuple(texts["names"]))
        if subject is not None:
            data.subject = subject
        return data

    def batch(self, positions: Sequence[int] | Indices) -> Batch:
        """The disjoint union of some graphs of this view, built with array operations rather than graph by graph."""
        part = self.columns.take(self._positions[self._checked(positions)])
        first_node, first_edge = torch.from_numpy(part.node_start), torch.from_numpy(part.edge_start)
        owner = torch.repeat_interleave(torch.arange(len(part)), first_node.diff())
        shift = torch.repeat_interleave(first_node[:-1], first_edge.diff())
        union = Batch(edge_index=part.edge_index.long() + shift, batch=owner, ptr=first_node, **_loadable(part))
        # What PyG's own unions remember, so that they can be taken apart again.
        starts = (part.nodes, first_node), (part.edges, first_edge), (part.graphs, torch.arange(len(part) + 1))
        union._num_graphs = len(part)
        union._slice_dict = {name: start for names, start in starts for name in names} | {"edge_index": first_edge}
        union._inc_dict = dict.fromkeys(union._slice_dict) | {"edge_index": first_node[:-1]}
        return union

    def batches(self, positions: Sequence[int] | Indices, size: int) -> Iterator[Batch]:
        """Unions of at most ``size`` graphs, in the order given."""
        numbers, size = self._checked(positions), checked_whole("size", size)
        for start in range(0, len(numbers), size):
            yield self.batch(numbers[start : start + size])

    def _checked(self, positions: Any) -> Indices:
        """Positions in this view, or an error that names them; those below 0 count from the end."""
        numbers = checked_array("positions", positions, "a list of whole numbers")
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            raise ValueError(f"positions must be a list of whole numbers, got {shortened(positions)}")
        if numbers.size and not -len(self) <= numbers.min() <= numbers.max() < len(self):
            raise ValueError(f"positions must be 0 … {len(self) - 1}, got {numbers.min()} … {numbers.max()}")
        return numbers.astype(np.int64)

    def _checked_index(self, index: Any, count: int) -> int:
        number = checked_whole("index", index, least=-count)
        if number >= count:
            raise ValueError(f"index must be 0 … {count - 1}, got {number}")
        return number

    def prepare(self, positions: Sequence[int] | Indices | None = None) -> None:
        """Make the graphs at some positions now, all by default, where a dataset makes them when they are needed."""
        all_positions = self._positions
        self.columns.sizes(all_positions if positions is None else all_positions[self._checked(positions)])

    def motifs(self, index: int) -> tuple[tuple[int, ...], ...]:
        """The nodes of each ground-truth motif of a graph."""
        return motifs_of(self[self._checked_index(index, len(self))])

    def settings(self, index: int) -> dict[str, Any]:
        """The paper's settings for a graph (or a node of a node-level set), as arguments of :func:`mage.explain`."""
        settings = self.info.settings
        of_node = self.task == "node"
        graph = self[0 if of_node else self._checked_index(index, len(self))]
        index = self._checked_index(index, int(graph.num_nodes) if of_node else len(self))
        motifs = motifs_of(graph)
        if of_node:
            motifs = tuple(motif for motif in motifs if index in motif)
        size = max(1, sum(map(len, motifs))) if settings.max_nodes is None else settings.max_nodes
        search = MotifRequest(max_nodes=size)
        return {
            "num_motifs": max(1, len(motifs)) if settings.num_motifs is None else settings.num_motifs,
            "max_nodes": search.max_nodes_of(int(graph.num_nodes), least=settings.least_nodes),
            "masking": settings.masking,
            "output": settings.output,
            "connected": settings.connected,
            **({"node": index} if of_node else {}),
        }

    def candidates(self) -> Indices:
        """Test graphs (or nodes) that the paper's rule allows, for any predictions of a model."""
        settings, test = self.info.settings, self.split.test
        keep = np.ones(len(test), dtype=bool)
        if self.task == "node":
            keep &= self[0].node_motif.numpy()[test] != OUTSIDE
        if settings.label is not None:
            keep &= self.labels[test] == settings.label
        if settings.below is not None:
            keep &= self.columns.sizes(self._positions[test])[0] < settings.below
        return test[keep][: settings.limit]

    def explained(self, model: torch.nn.Module, limit: int | None = None) -> Indices:
        """Test graphs that the paper would explain: those its rule allows and the model predicts correctly."""
        if limit is not None:
            limit = checked_whole("limit", limit, least=0)
        candidates = self.candidates()
        correct: NDArray[np.bool_] = predicted_classes(model, self, candidates) == self.labels[candidates]
        return candidates[correct][:limit]

    def __repr__(self) -> str:
        return f"{self.title}({len(self):,} graphs, {self.num_classes} classes, {self.origin})"


def _loadable(part: Columns) -> dict[str, torch.Tensor]:
    """What belongs to nodes, edges and graphs, in the types that models take.

    Large sets are kept in half precision and in small integers.
    """
    return {name: _wide(values) for name, values in {**part.nodes, **part.edges, **part.graphs}.items()}


def _wide(values: torch.Tensor) -> torch.Tensor:
    if values.is_floating_point():
        return values.float()
    return values if values.dtype == torch.bool else values.long()
