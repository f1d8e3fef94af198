"""Our datasets beside the paper's table 4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from mage.datasets.dataset_info import DatasetInfo
from mage.datasets.registry import info, load, names

if TYPE_CHECKING:
    from mage.datasets.dataset import GraphDataset


@dataclass(frozen=True)
class Statistics:
    """What the paper's table 4 lists of a dataset, and how many motifs its explained graphs have.

    Args:
        name: Name in the registry.
        graphs: Number of graphs.
        classes: Number of classes.
        nodes: Mean number of nodes.
        edges: Mean number of undirected edges.
        motif_counts: How many of the candidates in the test part have so many ground-truth motifs.
        origin: Where the graphs are from.
    """

    name: str
    graphs: int
    classes: int
    nodes: float
    edges: float
    motif_counts: dict[int, int]
    origin: str


Row = tuple[DatasetInfo, Statistics | Exception]
"""A dataset with its statistics, or with what kept it from being loaded."""


def statistics_of(dataset: GraphDataset) -> Statistics:
    """Counts and means of a dataset."""
    candidates = [] if dataset.task == "node" else dataset.candidates().tolist()
    counts = Counter(len(dataset.motifs(position)) for position in candidates)
    return Statistics(
        dataset.name,
        len(dataset),
        dataset.num_classes,
        float(dataset.num_nodes_each.mean()),
        float(dataset.num_edges_each.mean()),
        dict(sorted(counts.items())),
        dataset.origin,
    )


def dataset_statistics(
    selection: Sequence[str] | None = None, root: str | Path | None = None, workers: int = 1
) -> Iterator[Row]:
    """Statistics of each dataset, or what kept it from being loaded."""
    for entry in [info(name) for name in selection or names()]:
        options: dict[str, Any] = {"workers": workers} if "workers" in entry.options else {}
        try:
            yield entry, statistics_of(load(entry.name, root, **options))
        except (OSError, ValueError, ImportError) as error:
            yield entry, error


def statistics_table(rows: Sequence[Row]) -> Table:
    """Ours / the paper's for each dataset."""
    table = Table(
        title="datasets: ours / table 4 of the paper",
        caption="nodes, edges: means over graphs, edges undirected; difference: the larger one of these two means; "
        "motifs: test graphs with 1, 2, … motifs",
        box=None,
        pad_edge=False,
    )
    for column in ("dataset", "graphs", "classes", "nodes", "edges", "difference", "motifs"):
        table.add_column(column, overflow="fold")
    for entry, ours in rows:
        if isinstance(ours, Exception):
            table.add_row(entry.name, f"not loaded: {ours}", *[""] * 5)
        else:
            table.add_row(entry.name, *_cells(entry, ours))
    return table


def _cells(entry: DatasetInfo, ours: Statistics) -> tuple[str, ...]:
    motifs = ", ".join(f"{motifs}: {graphs}" for motifs, graphs in ours.motif_counts.items() if motifs)
    paper = entry.paper
    if paper is None:
        sizes = (f"{ours.graphs:,}", str(ours.classes), f"{ours.nodes:.2f}", f"{ours.edges:.2f}")
        return (*sizes, "not in the paper", motifs)
    difference = max(abs(ours.nodes / paper.nodes - 1), abs(ours.edges / paper.edges - 1))
    return (
        f"{ours.graphs:,} / {paper.graphs:,}",
        f"{ours.classes} / {len(entry.class_names)}",
        f"{ours.nodes:.2f} / {paper.nodes:.2f}",
        f"{ours.edges:.2f} / {paper.edges:.2f}",
        f"{difference:.1%}",
        motifs,
    )


def remarks(rows: Sequence[Row]) -> list[str]:
    """Where each set is from; where our graphs are not built as the paper's were, and why."""
    return [
        f"{entry.name}: {ours.origin}" + (f". {entry.remark}" if entry.remark else "")
        for entry, ours in rows
        if isinstance(ours, Statistics)
    ]


def statistics_record(row: Row) -> dict[str, Any]:
    """A row as plain values."""
    entry, ours = row
    if isinstance(ours, Exception):
        return {"name": entry.name, "error": str(ours)}
    paper = None if entry.paper is None else asdict(entry.paper)
    return {**asdict(ours), "paper": paper}
