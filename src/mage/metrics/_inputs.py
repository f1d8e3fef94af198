"""Explanations and ground truth in their many forms, as node sets and as labels of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mage._core.checks import checked_array, checked_list, checked_whole, shortened
from mage._core.typing import Floats, Integers, Masks
from mage.games import Game

_MOST_NODES = 100_000_000


def as_array(values: Any, argument: str = "values") -> NDArray[Any]:
    """A numpy array of an array, a list or a tensor."""
    try:
        return checked_array(argument, values)
    except ValueError:
        unequal = isinstance(values, list | tuple)
        what = "lists of different lengths" if unequal else shortened(values)
        raise ValueError(f"{argument} must be an array, got {what}") from None


def checked_num_nodes(num_nodes: Any) -> int | None:
    """The number of nodes of a graph if it is given, or an error that names it."""
    if num_nodes is None:
        return None
    if (count := checked_whole("num_nodes", num_nodes)) > _MOST_NODES:
        raise ValueError(f"num_nodes must be at most {_MOST_NODES:,}, got {count:,}")
    return count


def node_set(nodes: Any, num_nodes: int | None = None, argument: str = "nodes") -> frozenset[int]:
    """Nodes from an explanation, motifs, a boolean mask, or node numbers."""
    num_nodes = checked_num_nodes(num_nodes)
    if hasattr(nodes, "motifs"):
        nodes = getattr(nodes.motifs, "nodes", None) or [node for motif in nodes.motifs for node in motif.nodes]
    listed = isinstance(nodes, set | frozenset | range)
    array = as_array(checked_list(argument, nodes, "node numbers") if listed else nodes, argument)
    if array.ndim == 0:
        raise ValueError(f"{argument} must be node numbers or a boolean mask, got {nodes!r}")
    if array.dtype == bool:
        if array.ndim != 1 or (num_nodes is not None and len(array) != num_nodes):
            raise ValueError(f"{argument} must be a mask of {num_nodes} nodes, got one of shape {array.shape}")
        return frozenset(np.flatnonzero(array).tolist())
    if array.size == 0:
        return frozenset()
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{argument} must be node numbers or a boolean mask, got an array of {array.dtype}")
    if array.min() < 0 or (num_nodes is not None and array.max() >= num_nodes):
        raise ValueError(f"{argument} must be between 0 and {num_nodes}, got {array.min()} to {array.max()}")
    return frozenset(array.tolist())


def checked_game(game: Any) -> Game:
    """A game, or an error that says how to make one."""
    if not isinstance(game, Game):
        raise TypeError(
            f"game must be a mage.Game, such as mage.games.ModelGame(model, data), got {type(game).__name__}"
        )
    return game


def node_mask(nodes: Any, num_nodes: int, argument: str = "nodes") -> Masks:
    """Nodes as booleans."""
    mask = np.zeros(num_nodes, dtype=bool)
    mask[list(node_set(nodes, num_nodes, argument))] = True
    return mask


def motif_labels(motifs: Any, num_nodes: int | None, argument: str) -> Integers:
    """For each node the number of its motif, 0 outside: from labels, or from groups of nodes.

    Labels may number motifs from 0 with −1 outside, as ``node_motif`` of a dataset does, or from 1 with 0 outside.
    """
    num_nodes = checked_num_nodes(num_nodes)
    if hasattr(motifs, "motifs"):
        all_motifs = motifs.motifs
        num_nodes = num_nodes if num_nodes is not None else int(motifs.num_nodes)
        motifs = [motif.nodes for motif in all_motifs]
    if not _is_groups(motifs):
        labels = as_array(motifs, argument)
        if labels.ndim != 1 or (num_nodes is not None and len(labels) != num_nodes):
            raise ValueError(f"{argument} must be one label for each of {num_nodes} nodes, got shape {labels.shape}")
        if labels.dtype.kind not in "biuf" or not np.array_equal(labels, np.round(labels)):
            raise ValueError(f"{argument} must be whole numbers, one label for each node, got {shortened(motifs)}")
        labels = labels.astype(np.int64)
        return labels + 1 if (labels < 0).any() else labels
    if num_nodes is None:
        raise ValueError(f"num_nodes must be given where {argument} are groups of nodes")
    numbers = np.zeros(num_nodes, dtype=np.int64)
    for number, group in enumerate(motifs, start=1):
        members = list(node_set(group, num_nodes, argument))
        if numbers[members].any():
            raise ValueError(f"{argument} must not overlap; node {int(np.flatnonzero(numbers[members])[0])} is in two")
        numbers[members] = number
    return numbers


def paired_labels(motifs: Any, truth: Any, num_nodes: int | None) -> tuple[Integers, Integers]:
    """Labels of the nodes by an explanation and by the ground truth; either may say how many nodes there are."""
    sizes = (size for size in (checked_num_nodes(num_nodes), _size(truth), _size(motifs)) if size is not None)
    num_nodes = next(sizes, None)
    labels, true_labels = motif_labels(motifs, num_nodes, "motifs"), motif_labels(truth, num_nodes, "truth")
    if len(labels) != len(true_labels):
        raise ValueError(f"motifs and truth must have as many labels, got {len(labels)} and {len(true_labels)}")
    return labels, true_labels


def _size(motifs: Any) -> int | None:
    if hasattr(motifs, "motifs") and hasattr(motifs, "num_nodes"):
        return int(motifs.num_nodes)
    shape = getattr(motifs, "shape", None)
    return int(shape[0]) if shape else None


def _is_groups(motifs: Any) -> bool:
    """Whether this is a collection of collections of nodes."""
    if hasattr(motifs, "shape"):
        return False
    if not isinstance(motifs, Iterable) or hasattr(motifs, "node_types"):
        return False
    return all(isinstance(group, Iterable) for group in motifs)


def finite(values: Any, argument: str) -> Floats:
    """Finite numbers."""
    try:
        array = as_array(values, argument)
        array = array if np.iscomplexobj(array) else array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{argument} must be numbers, got {values!r}") from None
    if np.iscomplexobj(array):
        raise ValueError(f"{argument} must be real numbers, got complex ones")
    if not np.isfinite(array).all():
        raise ValueError(f"{argument} must be finite")
    return array
