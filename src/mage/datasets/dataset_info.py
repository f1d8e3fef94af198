"""What is known about a dataset: its source, its ground truth, how it is explained and trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mage._core.checks import checked_whole
from mage.datasets.columns import GraphColumns, Indices
from mage.datasets.locations import locate_files
from mage.datasets.published_files import PublishedFiles
from mage.datasets.training_plans import NetworkPlans

_SPLIT_SEED = 2
_MOST_GRAPHS = 10**7  # that a split lists


class Split(NamedTuple):
    """Positions of the graphs (or, in a node-level set, of the nodes) to train on, to stop by and to report on."""

    train: Indices
    validation: Indices
    test: Indices


def paper_split(size: int) -> Split:
    """The paper's 80/10/10 split: ``random_split`` with a generator seeded 2."""
    import torch

    if (size := checked_whole("size", size, least=0)) > _MOST_GRAPHS:
        raise ValueError(f"size must be at most {_MOST_GRAPHS:,}, got {size:,}")
    # At least one graph to stop by and one to report on, where there are so many.
    sizes = [int(0.8 * size), max(int(0.1 * size), min(1, size // 3))]
    sizes.append(size - sum(sizes))
    generator = torch.Generator().manual_seed(_SPLIT_SEED)
    everything: Any = range(size)
    parts: Any = torch.utils.data.random_split(everything, sizes, generator)
    return Split(*(np.asarray(part.indices, dtype=np.int64) for part in parts))


@dataclass(frozen=True)
class ExplanationSettings:
    """How the graphs of a dataset are explained, and which.

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
class PaperFigures:
    """What the paper's tables 4 and 5 say of a dataset.

    Args:
        graphs: Number of graphs.
        nodes: Mean number of nodes.
        edges: Mean number of undirected edges.
        gcn: Test accuracy of its GCN in per cent.
        gin: Likewise of its GIN.
        gat: Likewise of its GAT.
    """

    graphs: int
    nodes: float
    edges: float
    gcn: float
    gin: float
    gat: float

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Test accuracy in per cent by kind of network."""
        return {"gcn": self.gcn, "gin": self.gin, "gat": self.gat}


class Content(NamedTuple):
    """The graphs of a dataset, their split, and where they come from in words."""

    columns: GraphColumns
    split: Split
    origin: str


@dataclass(frozen=True)
class DataRoot:
    """Where published files are looked for.

    Args:
        folder: Folder that holds a folder for each dataset; None for the usual ones.
        download: Whether files that are not there may be downloaded.
    """

    folder: str | Path | None = None
    download: bool = True

    def files(self, source: PublishedFiles) -> dict[str, Path]:
        """The files of a dataset by name, checked."""
        return locate_files(source, self.folder, download=self.download)


@dataclass(frozen=True)
class DatasetInfo:
    """A dataset's entry in the registry: all that the library knows about it.

    Args:
        name: Name to load it by.
        title: Name to display.
        class_names: One name per class.
        truth: What the ground-truth motifs are, in words.
        settings: How the paper explains it.
        build: Makes the graphs: takes a :class:`DataRoot` and the options, gives a :class:`Content`.
        options: Names of the options of ``build``.
        source: Published files; None for generated sets.
        paper: The paper's figures; None if the paper does not have the set.
        networks: The networks that are trained on it.
        task: ``"graph"`` or ``"node"``.
        extra: Extra that installs the libraries it needs besides PyG.
        num_graphs: Number of graphs, of a set that the paper does not have.
        remark: Where our graphs are not built as the paper's were, and why.
        when_missing: What loading does where the published files are not on this machine.
    """

    name: str
    title: str
    class_names: tuple[str, ...]
    truth: str
    settings: ExplanationSettings
    build: Callable[..., Content]
    options: tuple[str, ...] = ()
    source: PublishedFiles | None = None
    paper: PaperFigures | None = None
    networks: NetworkPlans = field(default_factory=NetworkPlans)
    task: str = "graph"
    extra: str | None = None
    num_graphs: int = 1
    remark: str = ""
    when_missing: str = "downloaded when loaded"


def published(columns: GraphColumns, files: Mapping[str, Path], split: Split | None = None) -> Content:
    """Content that was read from published files; the split is the paper's unless another is given."""
    origin = f"published files in {next(iter(files.values())).parent}"
    return Content(columns, paper_split(len(columns)) if split is None else split, origin)


def generated(columns: GraphColumns, seed: int, remark: str = "") -> Content:
    """Content that was drawn from a seed."""
    return Content(columns, paper_split(len(columns)), f"generated with seed {seed}{remark}")
