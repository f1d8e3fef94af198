"""The datasets by name: what they are, where they come from, what the paper says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mage.datasets import ba_2motifs, mnist, molecules, node_level, spmotif, synthetic, text
from mage.datasets._sources import MissingDataError, Source, find, locate
from mage.datasets.dataset import Columns, GraphDataset, Recipe, Split, paper_split


@dataclass(frozen=True)
class PaperFigures:
    """What the paper's tables 4 and 5 say of a dataset.

    Args:
        graphs: Number of graphs.
        nodes: Mean number of nodes.
        edges: Mean number of undirected edges.
        accuracy: Test accuracy in per cent by model.
    """

    graphs: int
    nodes: float
    edges: float
    accuracy: Mapping[str, float]


@dataclass(frozen=True)
class Card:
    """A dataset's entry in the registry.

    Args:
        name: Name to load it by.
        title: Name for people.
        class_names: One name a class.
        recipe: How the paper explains it.
        make: Makes the graphs from its files (none for generated sets) and options, and says where they are from.
        options: Names of the options that ``make`` takes, with their defaults.
        source: Published files; None for generated sets.
        paper: The paper's figures, where it has any.
        task: ``"graph"`` or ``"node"``.
        extra: Extra that brings the libraries it needs besides PyG.
        size: Number of graphs of a set that the paper does not have.
    """

    name: str
    title: str
    class_names: tuple[str, ...]
    recipe: Recipe
    make: Callable[..., tuple[Columns, Split, str]]
    options: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    paper: PaperFigures | None = None
    task: str = "graph"
    extra: str | None = None
    size: int = 1


def names() -> list[str]:
    """Names of the datasets."""
    return list(CARDS)


def card(name: str) -> Card:
    """The registry's entry of a dataset."""
    try:
        return CARDS[name]
    except KeyError:
        raise ValueError(f"name: there is no dataset {name!r}; there are {', '.join(CARDS)}") from None


def load(name: str, root: str | Path | None = None, *, download: bool = True, **options: Any) -> GraphDataset:
    """A dataset by name.

    Args:
        name: One of :func:`names`.
        root: Folder that holds a folder of published files for each dataset; by default ``MAGE_DATA`` and then the
            cache (``MAGE_CACHE``, or ``~/.cache/mage``).
        download: Whether files that are not there may be downloaded from their official addresses.
        **options: ``seed`` (generated sets), ``count`` (generated sets: number of graphs), ``workers`` and ``limit``
            (MNIST75SP and text: processes that make the graphs; make only the first so many), ``encoder`` (text:
            ``"minilm"`` or a Hugging Face name).

    Raises:
        MissingDataError: If published files are neither here nor to be downloaded; it says which file to put where.
        DamagedFileError: If a file is not the published one.
    """
    entry = card(name)
    unknown = set(options) - set(entry.options)
    if unknown:
        allowed = ", ".join(entry.options) or "none"
        raise ValueError(f"{', '.join(sorted(unknown))}: not an option of {name}; its options are {allowed}")
    if root is not None and not Path(root).is_dir():
        raise ValueError(f"root: the folder {root} does not exist")
    columns, split, origin = entry.make(entry, root, download, **{**entry.options, **options})
    return GraphDataset(
        entry.name,
        entry.title,
        columns,
        len(entry.class_names),
        split,
        entry.recipe,
        task=entry.task,
        origin=origin,
        class_names=entry.class_names,
    )


def _origin(files: dict[str, Path]) -> str:
    where = next(iter(files.values())).parent if files else ""
    return f"published files in {where}"


def _generated(build: Callable[..., Columns], **fixed: Any) -> Callable[..., tuple[Columns, Split, str]]:
    """A set that is drawn from a seed."""

    def make(_entry: Card, _root: Any, _download: bool, *, seed: int, count: int) -> tuple[Columns, Split, str]:
        columns = build(count, generator=np.random.default_rng(seed), **fixed)
        return columns, paper_split(len(columns)), f"generated with seed {seed}"

    return make


def _from_files(build: Callable[[dict[str, Path]], Columns]) -> Callable[..., tuple[Columns, Split, str]]:
    """A set that is read from published files."""

    def make(entry: Card, root: Any, download: bool) -> tuple[Columns, Split, str]:
        files = locate(_source(entry), root, download=download)
        columns = build(files)
        return columns, paper_split(len(columns)), _origin(files)

    return make


def _source(entry: Card) -> Source:
    if entry.source is None:
        raise TypeError(f"{entry.name} has no published files")
    return entry.source


def _two_motifs(entry: Card, root: Any, download: bool, *, seed: int | None) -> tuple[Columns, Split, str]:
    """The published file if it can be had and no seed is asked for; otherwise the construction."""
    if seed is None:
        try:
            files = locate(_source(entry), root, download=download)
        except MissingDataError:
            seed = 0
        else:
            columns = ba_2motifs.published(files)
            return columns, paper_split(len(columns)), _origin(files)
    columns = synthetic.two_motifs(1000, np.random.default_rng(seed))
    return columns, paper_split(len(columns)), f"generated with seed {seed}; not the published file"


def _mnist(entry: Card, root: Any, download: bool, *, workers: int, limit: int | None) -> tuple[Columns, Split, str]:
    files = locate(_source(entry), root, download=download)
    columns = mnist.superpixels(files, workers, limit)
    return columns, paper_split(len(columns)), _origin(files)


def _text(read: Callable[[dict[str, Path]], tuple[text.Sentences, Split]]) -> Callable[..., tuple[Columns, Split, str]]:
    def make(
        entry: Card, root: Any, download: bool, *, encoder: str, workers: int, limit: int | None
    ) -> tuple[Columns, Split, str]:
        files = locate(_source(entry), root, download=download)
        sentences, split = read(files)
        columns = text.sentence_columns(entry.name, sentences, encoder, workers, limit)
        split = Split(*(part[part < len(columns)] for part in split))
        return columns, split, f"{_origin(files)}, words by {encoder}"

    return make


def _node_level(_entry: Card, _root: Any, _download: bool, *, seed: int) -> tuple[Columns, Split, str]:
    columns = node_level.shapes(seed)
    return columns, paper_split(int(columns.node_start[-1])), f"generated by PyG with seed {seed}"


_SENTENCES = Recipe("zero", "logit", num_motifs=4, max_nodes=0.3, least_nodes=3, connected=False, limit=200)
_TEXT_OPTIONS = {"encoder": "minilm", "workers": 1, "limit": None}


def _figures(graphs: int, nodes: float, edges: float, gcn: float, gin: float, gat: float) -> PaperFigures:
    return PaperFigures(graphs, nodes, edges, {"gcn": gcn, "gin": gin, "gat": gat})


CARDS: dict[str, Card] = {
    entry.name: entry
    for entry in (
        Card(
            "ba_2motifs",
            "BA-2Motifs",
            ("five-cycle", "house"),
            Recipe("split", "probability", num_motifs=1, max_nodes=5),
            _two_motifs,
            {"seed": None},
            ba_2motifs.SOURCE,
            _figures(1000, 25.00, 25.48, 97.00, 100.00, 41.00),
        ),
        Card(
            "ba_house_grid",
            "BA-HouseGrid",
            ("house", "grid"),
            Recipe("split", "probability"),
            _generated(synthetic.house_grid),
            {"seed": 0, "count": 10_000},
            paper=_figures(10_000, 26.97, 28.95, 100.00, 99.90, 52.30),
        ),
        Card(
            "spmotif",
            "SPMotif",
            ("cycle", "house", "crane"),
            Recipe("split", "logit", below=100),
            _generated(spmotif.spurious_motif, bias=0.7),
            {"seed": 0, "count": 18_000},
            paper=_figures(18_000, 45.98, 66.72, 86.00, 96.17, 50.11),
        ),
        Card(
            "ba_house_and_grid",
            "BA-HouseAndGrid",
            ("not both", "house and grid"),
            Recipe("split", "logit", num_motifs=None, label=1),
            _generated(synthetic.house_and_or_grid, label_of_one=0),
            {"seed": 0, "count": 10_000},
            paper=_figures(10_000, 29.42, 41.01, 99.30, 99.90, 51.10),
        ),
        Card(
            "ba_house_or_grid",
            "BA-HouseOrGrid",
            ("neither", "house or grid"),
            Recipe("split", "logit", num_motifs=None, label=1),
            _generated(synthetic.house_and_or_grid, label_of_one=1),
            {"seed": 0, "count": 10_000},
            paper=_figures(10_000, 24.73, 34.31, 100.00, 100.00, 51.10),
        ),
        Card(
            "mutagenic",
            "Mutagenic",
            ("mutagen", "non-mutagen"),
            Recipe("split", "logit", num_motifs=None, label=0),
            _from_files(molecules.mutagenic),
            source=molecules.MUTAGENIC_SOURCE,
            paper=_figures(2951, 30.13, 30.45, 89.86, 91.55, 92.57),
        ),
        Card(
            "benzene",
            "Benzene",
            ("no benzene ring", "benzene ring"),
            Recipe("split", "logit", num_motifs=None, label=1),
            _from_files(molecules.attribution_task),
            source=molecules.attribution_source("benzene", "benzene"),
            paper=_figures(12_000, 20.58, 21.83, 85.42, 91.92, 85.92),
        ),
        Card(
            "mnist75sp",
            "MNIST75SP",
            tuple(str(digit) for digit in range(10)),
            Recipe("zero", "logit", limit=200),
            _mnist,
            {"workers": 1, "limit": None},
            mnist.SOURCE,
            _figures(70_000, 70.57, 295.25, 82.44, 89.43, 94.64),
            extra="mnist",
        ),
        Card(
            "graph_sst2",
            "GraphSST2",
            ("negative", "positive"),
            _SENTENCES,
            _text(text.sst2_sentences),
            _TEXT_OPTIONS,
            text.SST2_SOURCE,
            _figures(70_042, 10.20, 9.20, 89.13, 87.86, 89.24),
            extra="text",
        ),
        Card(
            "twitter",
            "Twitter",
            ("negative", "neutral", "positive"),
            _SENTENCES,
            _text(text.twitter_sentences),
            _TEXT_OPTIONS,
            text.TWITTER_SOURCE,
            _figures(6940, 21.10, 20.10, 69.22, 63.87, 67.34),
            extra="text",
        ),
        Card(
            "fluoride_carbonyl",
            "Fluoride-Carbonyl",
            # The published files under this name mark unbranched alkanes, those under the next one fluorides.
            ("not both", "unbranched alkane and carbonyl"),
            Recipe("split", "logit", num_motifs=None, label=1),
            _from_files(molecules.attribution_task),
            source=molecules.attribution_source("fluoride_carbonyl", "logic8"),
            size=8671,
        ),
        Card(
            "alkane_carbonyl",
            "Alkane-Carbonyl",
            ("not both", "fluoride and carbonyl"),
            Recipe("split", "logit", num_motifs=None, label=1),
            _from_files(molecules.attribution_task),
            source=molecules.attribution_source("alkane_carbonyl", "logic7"),
            size=4326,
        ),
        Card(
            "ba_shapes",
            "BA-Shapes",
            ("base", "middle", "bottom", "top"),
            Recipe("remove", "logit", num_motifs=1),
            _node_level,
            {"seed": 0},
            task="node",
        ),
    )
}


def where(name: str, root: str | Path | None = None) -> str:
    """Where a dataset is on this machine, in words."""
    entry = card(name)
    if entry.source is None:
        return "generated"
    found = find(entry.source, root)
    if found is None:
        return "not here" + ("; generated instead" if name == "ba_2motifs" else "; downloaded when loaded")
    return str(next(iter(found.values())).parent)
