"""BA-2Motifs: the published file where it can be had, its construction otherwise."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from mage.datasets import barabasi_albert
from mage.datasets.columns import Columns
from mage.datasets.dataset_info import (
    Content,
    DataRoot,
    DatasetInfo,
    ExplanationSettings,
    PaperFigures,
    generated,
    published,
)
from mage.datasets.ground_truth import motif_numbers
from mage.datasets.locations import MissingDataError
from mage.datasets.pickles import DamagedFileError, read_pickle
from mage.datasets.published_files import PublishedFile, PublishedFiles, read_bytes
from mage.datasets.shapes import FIVE_CYCLE
from mage.datasets.training_plans import TrainingPlan

_ADDRESS = "https://github.com/flyingdoog/PGExplainer/raw/51edc7b3000e980635f68618af027ae24297f6e5/dataset"
_ARRAYS = "ba_2motifs.npz"
_PICKLE = "BA-2motif.pkl"
_COUNT = 1000

# PyG's own BA2MotifDataset reads the same pickle with an unpickler that runs what it finds; hence our own reader.
SOURCE = PublishedFiles(
    "ba_2motifs",
    (PublishedFile(_PICKLE, "git:c33c39abb1d54c9589fd6c9bffbd62b8c3b1727a", f"{_ADDRESS}/{_PICKLE}"),),
    alternatives=(
        (PublishedFile(_ARRAYS, "sha256:ad3b30cb1dd857c75c74b0759b4bf2a43b3c6b58bc3812e338dafc0e94907e86"),),
    ),
    home="https://github.com/flyingdoog/PGExplainer",
    licence="none stated",
)


def build(root: DataRoot, *, seed: int | None = None) -> Content:
    """The published graphs if they can be had and no seed is given; otherwise graphs of the same construction."""
    if seed is None:
        try:
            files = root.files(SOURCE)
        except MissingDataError:
            seed = 0
        else:
            return published(published_columns(files), files)
    return generated(constructed_columns(seed), seed, "; not the published file")


def constructed_columns(seed: int) -> Columns:
    """Graphs by the construction: class 0 has a five-cycle, class 1 a house, as in the published file."""
    generator = np.random.default_rng(seed)
    columns = barabasi_albert.house_or_other(_COUNT, FIVE_CYCLE, generator, features=10, value=0.1)
    return replace(columns, graphs={"y": 1 - columns.graphs["y"]})


def published_columns(files: dict[str, Path]) -> Columns:
    """The published graphs; 40 of them have a self-loop, which belongs to no motif."""
    if _ARRAYS in files:
        with np.load(io.BytesIO(read_bytes(files[_ARRAYS])), allow_pickle=False) as archive:
            adjacency, x, y = archive["adj"], archive["x"], archive["y"]
    else:
        try:
            adjacency, x, y = (np.asarray(part) for part in read_pickle(files[_PICKLE]))
        except (TypeError, ValueError) as error:
            raise DamagedFileError(f"{files[_PICKLE]} does not hold adjacency, features and labels: {error}") from error
    return columns_of_matrices(adjacency, x, y)


def columns_of_matrices(adjacency: np.ndarray, x: np.ndarray, y: np.ndarray) -> Columns:
    """Columns of graphs given as dense matrices; the motif is what lies at node 20 and above."""
    if adjacency.ndim != 3 or x.shape[:2] != adjacency.shape[:2] or len(y) != len(x):
        raise DamagedFileError(f"BA-2Motifs: arrays of shapes {adjacency.shape}, {x.shape} and {y.shape} do not match")
    num_graphs, num_nodes = adjacency.shape[:2]
    owner, source, target = np.nonzero(adjacency)
    edge_index = np.stack([source, target])
    node_start = np.arange(num_graphs + 1) * num_nodes
    edge_start = np.searchsorted(owner, np.arange(num_graphs + 1))
    inside = (edge_index >= barabasi_albert.BASE_SIZE).all(axis=0) & (source != target)
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, inside)
    # Published labels are one-hot in the pickle.
    labels = y.argmax(axis=1) if y.ndim == 2 else y
    return Columns.of_arrays(
        node_start,
        edge_start,
        edge_index,
        {"x": x.reshape(-1, x.shape[2]).astype(np.float32), "node_motif": node_motif},
        {"edge_motif": edge_motif},
        {"y": labels.astype(np.int64)},
    )


INFO = DatasetInfo(
    name="ba_2motifs",
    title="BA-2Motifs",
    class_names=("five-cycle", "house"),
    truth="the five-cycle or the house",
    settings=ExplanationSettings("split", "probability", num_motifs=1, max_nodes=5),
    build=build,
    options=("seed",),
    source=SOURCE,
    paper=PaperFigures(graphs=_COUNT, nodes=25.00, edges=25.48, gcn=97.00, gin=100.00, gat=41.00),
    networks=barabasi_albert.networks(TrainingPlan(epochs=300, batch_size=32, learning_rate=1e-2)),
    when_missing="generated instead",
)
