"""Mutagenic: molecules that are mutagens or not, with their NO2 and NH2 groups."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mage._core.ragged import pointers
from mage.datasets.columns import Columns
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, PaperFigures, published
from mage.datasets.ground_truth import motif_numbers
from mage.datasets.published_files import PublishedFile, PublishedFiles, read_text
from mage.datasets.training_plans import NetworkPlans, TrainingPlan

ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
"""Columns of the features."""
_MUTAGEN = 0

_ADDRESS = "https://github.com/flyingdoog/PGExplainer/raw/51edc7b3000e980635f68618af027ae24297f6e5/dataset"
_TABLES = {
    "A": "ae85e22b4b898ebd819d2ed3adc8f06a7bf1cda746b333086472d19b36711145",
    "edge_gt": "d520a35eb480a94a36ff257d9a653d9bcd1fb8adae7698bfe72cc2c101cbce01",
    "edge_labels": "bf8e783386ac22e6033bbce56d765c0a4336649bd590a6f1e467b27b549f2114",
    "graph_indicator": "88b2d83ff10fad75b3280654061e965976f74e75620058c371ed23567236b4bc",
    "graph_labels": "b604c7dcbfdf89193901e32abdcbf9b5b92137414ce22231f00ed65d48ec48f9",
    "node_labels": "b429ec418c831d02dc3088b2fe08d11214627850d2bbdacfa9797c0510e70ae7",
}
SOURCE = PublishedFiles(
    "mutagenicity",
    tuple(PublishedFile(f"Mutagenicity_{name}.txt", f"sha256:{digest}") for name, digest in _TABLES.items()),
    archive=PublishedFile(
        "Mutagenicity.zip",
        "sha256:20c0134bad28fa23a1dd928c6cf5afa6b6f1db10758d8622cfac7245207a95ca",
        f"{_ADDRESS}/Mutagenicity.zip",
    ),
    home="https://github.com/flyingdoog/PGExplainer",
    licence="none stated",
)


def build(root: DataRoot) -> Content:
    """The published molecules."""
    files = root.files(SOURCE)
    return published(molecule_columns(files), files)


def molecule_columns(files: dict[str, Path]) -> Columns:
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
    usable = (labels != _MUTAGEN) | has_truth
    first = np.searchsorted(owner, np.arange(len(labels) + 1))
    keep_edge, keep_node = usable[edge_owner], usable[owner]
    node_start = pointers(np.diff(first)[usable])
    edge_start = pointers(np.bincount(edge_owner, minlength=len(labels))[usable])
    edge_index = (ends - first[edge_owner])[:, keep_edge]
    inside = (truth & (labels[edge_owner] == _MUTAGEN))[keep_edge]
    node_motif, edge_motif = motif_numbers(node_start, edge_start, edge_index, inside)
    kinds = atoms[keep_node]
    x = np.eye(len(ATOMS), dtype=np.float32)[kinds]
    names = np.array(ATOMS)[kinds].tolist()
    return Columns.of_arrays(
        node_start,
        edge_start,
        edge_index,
        {"x": x, "node_motif": node_motif},
        {"edge_motif": edge_motif, "bond": bond[keep_edge]},
        {"y": labels[usable]},
        {"names": [tuple(names[first:last]) for first, last in pairwise(node_start)]},
    )


INFO = DatasetInfo(
    name="mutagenic",
    title="Mutagenic",
    class_names=("mutagen", "non-mutagen"),
    truth="NO2 and NH2 groups of mutagens",
    settings=ExplanationSettings("split", "logit", num_motifs=None, label=_MUTAGEN),
    build=build,
    source=SOURCE,
    paper=PaperFigures(graphs=2951, nodes=30.13, edges=30.45, gcn=89.86, gin=91.55, gat=92.57),
    networks=NetworkPlans(
        TrainingPlan(epochs=80, learning_rate=2e-3), arguments={"gin": {"readout": "max"}, "gat": {"readout": "max"}}
    ),
)
