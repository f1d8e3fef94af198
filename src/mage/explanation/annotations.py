"""Annotations that a graph carries: features of its nodes in words, its true class, its ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mage.explanation.records import Origin

_MOST_NODES = 5000
"""Nodes up to which features are kept; pages draw at most a few hundred."""
_MOST_SHOWN = 5


def feature_texts(data: Any) -> tuple[str, ...]:
    """The features ``data.x`` of each node in words: those that are not 0, by ``data.feature_names`` or by number.

    Empty for graphs without features, and for graphs of more than 5,000 nodes.
    """
    features = getattr(data, "x", None)
    if features is None or not hasattr(features, "shape") or getattr(features, "is_sparse", False):
        return ()
    values = np.asarray(features.detach().cpu() if hasattr(features, "detach") else features)
    if values.dtype.kind not in "fiub" or not 1 <= values.ndim <= 2 or len(values) > _MOST_NODES:
        return ()
    values = values.reshape(len(values), -1)
    columns = getattr(data, "feature_names", None)
    names = [f"feature {column}" for column in range(values.shape[1])]
    if isinstance(columns, Sequence) and not isinstance(columns, str) and len(columns) == len(names):
        names = [str(name) for name in columns]
    return tuple(_in_words(row, names) for row in values)


def _in_words(row: Any, names: Sequence[str]) -> str:
    present = np.flatnonzero(row)
    if not len(present):
        return "all features are 0" if len(row) > 1 else f"{names[0]}: 0"
    largest = present[np.argsort(-np.abs(row[present]), kind="stable")[:_MOST_SHOWN]]
    texts = [names[at] if row[at] == 1 and len(row) > 1 else f"{names[at]}: {row[at]:.3g}" for at in sorted(largest)]
    more = len(present) - len(largest)
    return ", ".join(texts) + (f" and {more} more" if more else "")


def known_origin(data: Any, node: Any = None) -> Origin | None:
    """The true class ``data.y`` and the ground truth ``data.node_motif`` of a graph or a node; None without either."""
    if node is not None and not isinstance(node, int | np.integer):
        return None
    node = None if node is None else int(node)
    label = _label(getattr(data, "y", None), node, int(data.num_nodes))
    truth = _truth(getattr(data, "node_motif", None), node, int(data.num_nodes))
    return None if label is None and not truth else Origin(label=label, truth=truth)


def _label(classes: Any, node: int | None, num_nodes: int) -> int | None:
    if classes is None or isinstance(classes, str):
        return None
    values = np.asarray(classes.detach().cpu() if hasattr(classes, "detach") else classes)
    if values.dtype.kind not in "iub":
        return None
    flat = values.ravel()
    if node is not None:
        return int(flat[node]) if len(flat) == num_nodes else None
    return int(flat[0]) if len(flat) == 1 else None


def _truth(numbers: Any, node: int | None, num_nodes: int) -> tuple[tuple[int, ...], ...]:
    if numbers is None:
        return ()
    motif = np.asarray(numbers.detach().cpu() if hasattr(numbers, "detach") else numbers)
    if motif.dtype.kind not in "iu" or motif.shape != (num_nodes,):
        return ()
    groups = [tuple(np.flatnonzero(motif == i).tolist()) for i in np.unique(motif[motif >= 0]).tolist()]
    return tuple(group for group in groups if node is None or node in group)
