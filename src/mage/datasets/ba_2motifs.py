"""BA-2Motifs: the published file where it can be had, its construction otherwise."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import torch

from mage.datasets._sources import Source, SourceFile, read_bytes
from mage.datasets._truth import motif_numbers
from mage.datasets._unpickle import DamagedFileError, read_pickle
from mage.datasets.dataset import Columns
from mage.datasets.synthetic import BASE_SIZE

_ADDRESS = "https://github.com/flyingdoog/PGExplainer/raw/51edc7b3000e980635f68618af027ae24297f6e5/dataset"
_ARRAYS = "ba_2motifs.npz"
_PICKLE = "BA-2motif.pkl"

# PyG's own BA2MotifDataset reads the same pickle with an unpickler that runs what it finds; hence our own reader.
SOURCE = Source(
    "ba_2motifs",
    (SourceFile(_PICKLE, "git:c33c39abb1d54c9589fd6c9bffbd62b8c3b1727a", f"{_ADDRESS}/{_PICKLE}"),),
    alternatives=((SourceFile(_ARRAYS, "sha256:ad3b30cb1dd857c75c74b0759b4bf2a43b3c6b58bc3812e338dafc0e94907e86"),),),
    home="https://github.com/flyingdoog/PGExplainer",
    licence="none stated",
)


def published(files: dict[str, Path]) -> Columns:
    """The published graphs; 40 of them have a self-loop, which belongs to no motif."""
    if _ARRAYS in files:
        with np.load(io.BytesIO(read_bytes(files[_ARRAYS])), allow_pickle=False) as archive:
            adjacency, x, y = archive["adj"], archive["x"], archive["y"]
    else:
        try:
            adjacency, x, y = (np.asarray(part) for part in read_pickle(files[_PICKLE]))
        except (TypeError, ValueError) as error:
            raise DamagedFileError(f"{files[_PICKLE]} does not hold adjacency, features and labels: {error}") from error
    return from_dense(adjacency, x, y)


def from_dense(adjacency: np.ndarray, x: np.ndarray, y: np.ndarray) -> Columns:
    """Columns of graphs given as dense matrices; the motif is what lies at node 20 and above."""
    if adjacency.ndim != 3 or x.shape[:2] != adjacency.shape[:2] or len(y) != len(x):
        raise DamagedFileError(f"BA-2Motifs: arrays of shapes {adjacency.shape}, {x.shape} and {y.shape} do not match")
    num_graphs, num_nodes = adjacency.shape[:2]
    owner, source, target = np.nonzero(adjacency)
    edge_index = np.stack([source, target])
    node_start = np.arange(num_graphs + 1) * num_nodes
    edge_start = np.searchsorted(owner, np.arange(num_graphs + 1))
    inside = (edge_index >= BASE_SIZE).all(axis=0) & (source != target)
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, inside)
    # Published labels are one-hot in the pickle.
    labels = y.argmax(axis=1) if y.ndim == 2 else y
    return Columns(
        node_start,
        edge_start,
        torch.from_numpy(edge_index),
        {
            "x": torch.from_numpy(x.reshape(-1, x.shape[2]).astype(np.float32)),
            "node_motif": torch.from_numpy(node_motif),
        },
        {"edge_motif": torch.from_numpy(edge_motif)},
        {"y": torch.from_numpy(labels.astype(np.int64))},
    )
