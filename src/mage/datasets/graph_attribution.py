"""Tasks of google-research/graph-attribution: ZINC molecules, a rule on their fragments, the atoms that fulfil it.

Reference: Sanchez-Lengeling et al., "Evaluating attribution for graph neural networks", NeurIPS 2020.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mage._core.ragged import pointers
from mage.datasets.columns import Columns
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, published
from mage.datasets.ground_truth import motif_numbers
from mage.datasets.pickles import DamagedFileError, read_object_array
from mage.datasets.published_files import PublishedFiles, files_at, read_bytes, read_text
from mage.datasets.training_plans import USUAL_TRAINING, NetworkPlans, TrainingPlan

_ADDRESS = "https://github.com/google-research/graph-attribution/raw/03e7495379df26a21395b25c6a14d92dc27fc3b0/data"
_FILES = ("x_true.npz", "y_true.npz", "true_raw_attribution_datadicts.npz")


def task_files(folder: str, task: str, *digests: str) -> PublishedFiles:
    """The files of a task, of which the last one has the SMILES."""
    names = (*_FILES, f"{task}_smiles.csv")
    return PublishedFiles(
        folder,
        files_at(f"{_ADDRESS}/{task}", dict(zip(names, digests, strict=True))),
        home="https://github.com/google-research/graph-attribution",
        licence="Apache-2.0",
    )


def task_info(
    name: str,
    title: str,
    classes: tuple[str, str],
    *,
    source: PublishedFiles,
    truth: str,
    training: TrainingPlan = USUAL_TRAINING,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    **others: Any,
) -> DatasetInfo:
    """The entry of a task.

    Args:
        name: Name to load it by.
        title: Name to display.
        classes: What molecules of the two classes have.
        source: See :func:`task_files`.
        truth: What the ground-truth motifs are, in words.
        training: How networks are trained.
        changes: See :class:`NetworkPlans`.
        **others: Other fields.
    """
    return DatasetInfo(
        name,
        title,
        classes,
        truth,
        ExplanationSettings("split", "logit", num_motifs=None, label=1),
        partial(_build_task, source),
        source=source,
        networks=NetworkPlans(training, changes or {}, arguments={"gin": {"width": 32}}),
        **others,
    )


def _build_task(source: PublishedFiles, root: DataRoot) -> Content:
    files = root.files(source)
    return published(task_columns(files), files)


def task_columns(files: dict[str, Path]) -> Columns:
    """The molecules of a task, with ``smiles``.

    Each column of the published attribution is one way to justify the label: for Benzene, one non-empty set of rings.
    An edge belongs to the ground truth if one column holds both of its ends, so bonds that join two rings do. Motifs
    are the connected components, so fused or joined rings make one motif and an atom that stands alone makes its own.
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
    return Columns.of_arrays(
        node_start,
        edge_start,
        edge_index,
        {"x": x, "node_motif": node_motif},
        {"edge_motif": edge_motif, "edge_attr": edge_attr},
        {"y": labels},
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
    positive = columns > 0
    return np.asarray((positive[senders] & positive[receivers]).any(axis=1))
