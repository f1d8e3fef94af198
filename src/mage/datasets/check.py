"""Our datasets beside the paper's table 4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from mage.datasets.dataset import GraphDataset
from mage.datasets.registry import Card, card, load, names, where

# Where our graphs are not built as the paper's were, and why.
_REMARKS = {
    "fluoride_carbonyl": "in spite of its name, the published ground truth marks unbranched alkanes and carbonyls",
    "alkane_carbonyl": "in spite of its name, the published ground truth marks fluorides and carbonyls",
    "mnist75sp": "SLIC changed with scikit-image 0.17: fewer super-pixels than in the paper, hence fewer edges",
    "graph_sst2": "spaCy's tree; words as published, so counts differ from those of the paper's tokenizer",
    "twitter": "spaCy's tree; words as published, so counts differ from those of the paper's tokenizer",
}


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


def statistics(dataset: GraphDataset) -> Statistics:
    """Counts and means of a dataset."""
    if dataset.task == "node":
        counts: Counter[int] = Counter()
    else:
        motif_numbers = dataset.columns.nodes["node_motif"].numpy()
        start = dataset.columns.node_start
        counts = Counter(int(motif_numbers[start[i] : start[i + 1]].max()) + 1 for i in dataset.candidates())
    return Statistics(
        dataset.name,
        len(dataset),
        dataset.num_classes,
        float(dataset.num_nodes_each.mean()),
        float(dataset.num_edges_each.mean()),
        dict(sorted(counts.items())),
        dataset.origin,
    )


def check(
    chosen: Sequence[str] | None = None, root: str | Path | None = None, workers: int = 1
) -> Iterator[tuple[Card, Statistics | Exception]]:
    """Statistics of each dataset, or what kept it from being loaded."""
    for entry in [card(name) for name in chosen or names()]:
        name = entry.name
        options: dict[str, Any] = {"workers": workers} if "workers" in entry.options else {}
        try:
            yield entry, statistics(load(name, root, **options))
        except (OSError, ValueError, ImportError) as error:
            yield entry, error


def check_table(rows: Sequence[tuple[Card, Statistics | Exception]]) -> Table:
    """Ours / the paper's for each dataset."""
    table = Table(title="datasets: ours / table 4 of the paper", caption="mean nodes and undirected edges of a graph")
    for column in ("dataset", "graphs", "classes", "nodes", "edges", "largest difference", "test graphs by motifs"):
        table.add_column(column, overflow="fold")
    for entry, found in rows:
        if isinstance(found, Exception):
            table.add_row(entry.name, f"not loaded: {found}", *[""] * 5)
            continue
        paper = entry.paper
        motifs = ", ".join(f"{motifs}: {graphs}" for motifs, graphs in found.motif_counts.items() if motifs)
        if paper is None:
            ours = (f"{found.graphs:,}", str(found.classes), f"{found.nodes:.2f}", f"{found.edges:.2f}")
            table.add_row(entry.name, *ours, "not in the paper", motifs)
            continue
        off = max(abs(found.nodes / paper.nodes - 1), abs(found.edges / paper.edges - 1))
        table.add_row(
            entry.name,
            f"{found.graphs:,} / {paper.graphs:,}",
            f"{found.classes} / {len(entry.class_names)}",
            f"{found.nodes:.2f} / {paper.nodes:.2f}",
            f"{found.edges:.2f} / {paper.edges:.2f}",
            f"{off:.1%}",
            motifs,
        )
    return table


def remarks(rows: Sequence[tuple[Card, Statistics | Exception]]) -> list[str]:
    """Where our graphs are not built as the paper's were, and why; and where each set is from."""
    lines = []
    for entry, found in rows:
        if isinstance(found, Statistics):
            remark = _REMARKS.get(entry.name)
            lines.append(f"{entry.name}: {found.origin}" + (f". {remark}" if remark else ""))
    return lines


def list_table(root: str | Path | None = None) -> Table:
    """The datasets with size, source, licence and place on this machine."""
    table = Table(title="datasets")
    for column in ("name", "graphs", "classes", "task", "source", "licence", "on this machine"):
        table.add_column(column, overflow="fold")
    for name in names():
        entry = card(name)
        graphs = entry.paper.graphs if entry.paper else entry.size
        source, licence = (entry.source.home, entry.source.licence) if entry.source else ("generated by mage", "MIT")
        needs = f" (extra: {entry.extra})" if entry.extra else ""
        table.add_row(
            name, f"{graphs:,}", str(len(entry.class_names)), entry.task, source + needs, licence, where(name, root)
        )
    return table
