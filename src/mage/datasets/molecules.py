"""Molecules with the groups of atoms that make their class: Mutagenic, Benzene and two logic tasks."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mage._core.ragged import pointers
from mage.datasets._sources import Source, SourceFile, read_bytes, read_text
from mage.datasets._truth import motif_numbers
from mage.datasets._unpickle import DamagedFileError, read_object_array
from mage.datasets.dataset import Columns

ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
"""Columns of Mutagenic's features."""
_MUTAGEN = 0

_PGEXPLAINER = "https://github.com/flyingdoog/PGExplainer/raw/51edc7b3000e980635f68618af027ae24297f6e5/dataset"
_TABLES = {
    "A": "ae85e22b4b898ebd819d2ed3adc8f06a7bf1cda746b333086472d19b36711145",
    "edge_gt": "d520a35eb480a94a36ff257d9a653d9bcd1fb8adae7698bfe72cc2c101cbce01",
    "edge_labels": "bf8e783386ac22e6033bbce56d765c0a4336649bd590a6f1e467b27b549f2114",
    "graph_indicator": "88b2d83ff10fad75b3280654061e965976f74e75620058c371ed23567236b4bc",
    "graph_labels": "b604c7dcbfdf89193901e32abdcbf9b5b92137414ce22231f00ed65d48ec48f9",
    "node_labels": "b429ec418c831d02dc3088b2fe08d11214627850d2bbdacfa9797c0510e70ae7",
}
MUTAGENIC_SOURCE = Source(
    "mutagenicity",
    tuple(SourceFile(f"Mutagenicity_{name}.txt", f"sha256:{digest}") for name, digest in _TABLES.items()),
    archive=SourceFile(
        "Mutagenicity.zip",
        "sha256:20c0134bad28fa23a1dd928c6cf5afa6b6f1db10758d8622cfac7245207a95ca",
        f"{_PGEXPLAINER}/Mutagenicity.zip",
    ),
    home="https://github.com/flyingdoog/PGExplainer",
    licence="none stated",
)


def mutagenic(files: dict[str, Path]) -> Columns:
    """Mutagenicity without the mutagens that have neither NO2 nor NH2; class 0 is the mutagen.

    Non-mutagens have no ground truth. ``bond`` is 0, 1 or 2 for a single, double or triple bond.
    """

    def table(name: str) -> NDArray[np.int64]:
        text = read_text(files[f"Mutagenicity_{name}.txt"]).replace(",", " ")
        return np.array(text.split(), dtype=np.int64)

    ends, truth, bond = table("A").reshape(-1, 2).T - 1, table("edge_gt") > 0, table("edge_labels")
    owner, labels, atoms = table("graph_indicator") - 1, table("graph_labels"), table("node_labels")
    edge_owner = owner[ends[0]]
    has_truth = np.bincount(edge_owner, truth, minlength=len(labels)) > 0
    kept = (labels != _MUTAGEN) | has_truth
    first = np.searchsorted(owner, np.arange(len(labels) + 1))
    keep_edge, keep_node = kept[edge_owner], kept[owner]
    node_start = pointers(np.diff(first)[kept])
    edge_start = pointers(np.bincount(edge_owner, minlength=len(labels))[kept])
    edge_index = (ends - first[edge_owner])[:, keep_edge]
    inside = (truth & (labels[edge_owner] == _MUTAGEN))[keep_edge]
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, inside)
    kinds = atoms[keep_node]
    x = np.eye(len(ATOMS), dtype=np.float32)[kinds]
    names = np.array(ATOMS)[kinds]
    return Columns(
        node_start,
        edge_start,
        torch.from_numpy(edge_index),
        {"x": torch.from_numpy(x), "node_motif": torch.from_numpy(node_motif)},
        {"edge_motif": torch.from_numpy(edge_motif), "bond": torch.from_numpy(bond[keep_edge])},
        {"y": torch.from_numpy(labels[kept])},
        {"names": _split(names, node_start)},
    )


_ATTRIBUTION = "https://github.com/google-research/graph-attribution/raw/03e7495379df26a21395b25c6a14d92dc27fc3b0/data"
_ATTRIBUTION_DIGESTS = {
    "benzene": (
        "147786cae02df5b1b928b4c78148eb8c180793ba5a58b98b3e57da33ccd06f2f",
        "50d99b8c80ac19410029175787fd993d0634e7dc7b94fbc93739cd1110963d2e",
        "92db47ac62eecf9bcbb015ec1c5bfe6a7d32d5bdedd9a81ac4d42225acb68a9c",
        "aa52389639d0989dc5bb726c364fbc38ed520468d6606d67679d24b7e6720a28",
    ),
    "logic8": (
        "c48fdb8d0789e82a9c6c9c5a7b69bd139bcdaf946063bb1df13ad15d734a5a16",
        "3e6a1b7e86dad945522fd9cf838d2366f785e16c73e8f37e608ef9d3d467d655",
        "749d6f00695f799aeb1a0e7194a5caa0a68d8c0e99b5f05ff9161ced03bf84b2",
        "7c4d1863a2f6a026ef3dafc4c7f54519cdd75aa15ea1f298b08e64fa3b75d11d",
    ),
    "logic7": (
        "9b48ce0ad9aa147a8fafd4031563bb1e0323335cf5a7cd4b5d6228f2775fce9c",
        "20577c22a6975f20c033a2cf213df9108c10756e7971e83cdd6009f05f2896d5",
        "842a6985ee45f8a85a5e7294199cfa7fc866365357ff1bae371a7a23467b00b2",
        "7915107a397240cec3daf027d713db2bed107d19d9d941b6d36a4a334a5dfae8",
    ),
}


def attribution_source(folder: str, task: str) -> Source:
    """The files of a task of google-research/graph-attribution."""
    names = ("x_true.npz", "y_true.npz", "true_raw_attribution_datadicts.npz", f"{task}_smiles.csv")
    files = zip(names, _ATTRIBUTION_DIGESTS[task], strict=True)
    return Source(
        folder,
        tuple(SourceFile(name, f"sha256:{digest}", f"{_ATTRIBUTION}/{task}/{name}") for name, digest in files),
        home="https://github.com/google-research/graph-attribution",
        licence="Apache-2.0",
    )


def attribution_task(files: dict[str, Path]) -> Columns:
    """A task of graph-attribution: ZINC molecules, a logical rule on their fragments, and the atoms that fulfil it.

    Each column of the published attribution is one way to justify the label: for Benzene, one non-empty set of rings.
    An edge belongs to the ground truth if one column holds both of its ends, so bonds that join two rings do. Motifs
    are the connected components, so fused or joined rings make one motif and an atom that stands alone makes its own.

    Reference: Sanchez-Lengeling et al., "Evaluating attribution for graph neural networks", NeurIPS 2020.
    """
    smiles_file = next(path for name, path in files.items() if name.endswith("smiles.csv"))
    molecules = _records(files["x_true.npz"], ("nodes", "senders", "receivers", "edges"))
    reasons = _records(files["true_raw_attribution_datadicts.npz"], ("nodes",))
    with np.load(io.BytesIO(read_bytes(files["y_true.npz"])), allow_pickle=False) as archive:
        labels = archive["y"].reshape(-1).astype(np.int64)
    smiles = tuple(row["smiles"] for row in csv.DictReader(io.StringIO(read_text(smiles_file))))
    if not len(molecules) == len(reasons) == len(labels) == len(smiles):
        raise DamagedFileError(f"{files['x_true.npz'].parent}: its files do not have the same number of molecules")
    node_start = pointers(np.array([len(molecule["nodes"]) for molecule in molecules]))
    edge_start = pointers(np.array([len(molecule["senders"]) for molecule in molecules]))
    edge_index = np.stack(
        [np.concatenate([molecule[end] for molecule in molecules]) for end in ("senders", "receivers")]
    )
    inside = np.concatenate(
        [
            _within_one_column(reason["nodes"], molecule["senders"], molecule["receivers"])
            for molecule, reason in zip(molecules, reasons, strict=True)
        ]
    )
    atoms_inside = np.concatenate([(reason["nodes"] > 0).any(axis=1) for reason in reasons])
    # A molecule without the property carries an empty column.
    inside &= np.repeat(labels == 1, np.diff(edge_start))
    atoms_inside &= np.repeat(labels == 1, np.diff(node_start))
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, inside, atoms_inside)
    x = np.concatenate([molecule["nodes"] for molecule in molecules]).astype(np.float32)
    edge_attr = np.concatenate([molecule["edges"] for molecule in molecules]).astype(np.float32)
    return Columns(
        node_start,
        edge_start,
        torch.from_numpy(edge_index),
        {"x": torch.from_numpy(x), "node_motif": torch.from_numpy(node_motif)},
        {"edge_motif": torch.from_numpy(edge_motif), "edge_attr": torch.from_numpy(edge_attr)},
        {"y": torch.from_numpy(labels)},
        {"smiles": smiles},
    )


def _records(path: Path, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    records = np.asarray(read_object_array(path), dtype=object).ravel().tolist()
    if not all(isinstance(record, dict) and set(keys) <= set(record) for record in records):
        raise DamagedFileError(f"{path} does not hold molecules with {', '.join(keys)}")
    return records


def _within_one_column(
    columns: NDArray[np.float32], senders: NDArray[np.int64], receivers: NDArray[np.int64]
) -> NDArray[np.bool_]:
    chosen = columns > 0
    return np.asarray((chosen[senders] & chosen[receivers]).any(axis=1))


def _split(values: NDArray[np.str_], start: NDArray[np.int64]) -> list[tuple[str, ...]]:
    words = values.tolist()
    return [tuple(words[a:b]) for a, b in pairwise(start)]
