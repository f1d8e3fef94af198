"""Whether the parts of an explanation fit each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import (
    checked_array,
    checked_instance,
    checked_list,
    checked_numbers,
    checked_real,
    checked_text,
    checked_texts,
    checked_whole,
)
from mage._core.typing import Floats
from mage._torch.conventions import KNOWN_TASKS, RETURN_TYPES
from mage.explanation.records import Consequences, MotifFeatures, Origin, PlayersCap, Stage
from mage.explanation.subject import Subject
from mage.indices import Interactions
from mage.motifs import MotifSet

if TYPE_CHECKING:
    from mage.explanation.explanation import Explanation

LEVELS = ("graph", "node", "edge", "image")
_TEXTS = ("task", "output", "masking", "level", "return_type", "method", "player_kind")
_KINDS: dict[str, type] = {
    "motifs": MotifSet,
    "interactions": Interactions,
    "subject": Subject,
    "diagnostics": Mapping,
    "players_cap": PlayersCap,
    "consequences": Consequences,
    "origin": Origin,
}
_OPTIONAL = ("players_cap", "consequences", "origin")


def check(explanation: Explanation) -> None:
    """Raise ValueError where parts of an explanation contradict each other; the message names the part."""
    _check_kinds(explanation)
    _check_prediction(explanation)
    _check_edges(explanation)
    _check_nodes(explanation)
    explanation.subject.check(explanation.num_nodes, explanation.edge_index.shape[1])
    if explanation.request is not None and not is_dataclass(explanation.request):
        raise TypeError(f"request must be a dataclass of plain values, got {type(explanation.request).__name__}")


def _check_kinds(explanation: Explanation) -> None:
    """Each part is of its kind; lists of any kind become tuples."""

    def set_to(name: str, value: Any) -> None:
        object.__setattr__(explanation, name, value)

    for name, kind in _KINDS.items():
        if getattr(explanation, name) is not None or name not in _OPTIONAL:
            checked_instance(name, getattr(explanation, name), kind, f"a {kind.__name__}")
    for name in _TEXTS:
        checked_text(name, getattr(explanation, name))
    for name in ("names", "node_notes", "class_names", "notes"):
        set_to(name, checked_texts(name, checked_list(name, getattr(explanation, name), "a list of texts")))
    for name, item in (("stages", Stage), ("motif_features", MotifFeatures)):
        items = checked_list(name, getattr(explanation, name), f"a list of {item.__name__}")
        set_to(name, tuple(checked_instance(name, each, item, f"a list of {item.__name__}") for each in items))
    for name in ("prediction", "method_edge_scores", "edge_std_error"):
        if getattr(explanation, name) is not None or name == "prediction":
            set_to(name, checked_numbers(name, getattr(explanation, name)))
    set_to("edge_index", checked_array("edge_index", explanation.edge_index, "whole numbers [2, e]"))
    checked_whole("num_nodes", explanation.num_nodes, least=0)
    checked_whole("num_queries", explanation.num_queries, least=0)
    checked_real("seconds", explanation.seconds)
    players = checked_list("players", explanation.players, "a list of nodes for each player")
    set_to("players", tuple(tuple(checked_list("players", nodes, "lists of nodes")) for nodes in players))
    set_to("target_nodes", tuple(checked_list("target_nodes", explanation.target_nodes, "a list of nodes")))
    for name in ("target", "part_of"):
        if getattr(explanation, name) is not None:
            set_to(name, checked_whole(name, getattr(explanation, name), least=0))
    for name, value in explanation.diagnostics.items():
        checked_text("diagnostics", name)
        checked_real("diagnostics", value)


def check_finite(explanation: Explanation) -> None:
    """Raise ValueError where a number that is shown is NaN or infinite; bounds and errors may be."""
    motifs, consequences = explanation.motifs, explanation.consequences
    outputs = [] if consequences is None else consequences.outputs
    if np.isnan(explanation.prediction).any():
        raise ValueError("prediction must not be NaN")
    for name, numbers in (
        ("scores of motifs", [motifs.objective, *(motif.score for motif in motifs)]),
        ("consequences", [output.value for output in outputs]),
        ("seconds", [explanation.seconds]),
    ):
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} must be finite, got {numbers}")


def _check_prediction(explanation: Explanation) -> None:
    """The prediction with the task, target and classes that go with it."""
    prediction, target, task = explanation.prediction, explanation.target, explanation.task
    if prediction.ndim != 1 or not prediction.size or prediction.dtype.kind not in "fiu":
        raise ValueError(f"prediction must hold numbers [C], got {prediction.dtype} {list(prediction.shape)}")
    for name, allowed in (("task", KNOWN_TASKS), ("level", LEVELS), ("return_type", RETURN_TYPES)):
        if getattr(explanation, name) not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {getattr(explanation, name)!r}")
    if (task == "multiclass") != (len(prediction) > 1):
        raise ValueError(f"task {task!r} does not fit a prediction of {len(prediction)} numbers")
    if (task == "regression") != (target is None):
        raise ValueError(f"task {task!r} does not fit the target {target!r}")
    classes = 0 if target is None else max(len(prediction), 2)
    if target is not None and not 0 <= target < classes:
        raise ValueError(f"target must be a class 0 … {classes - 1}, got {target!r}")
    if len(explanation.class_names) not in (0, classes):
        raise ValueError(f"class_names must list {classes} names, one per class, got {len(explanation.class_names)}")


def _check_edges(explanation: Explanation) -> None:
    edges, num_nodes = explanation.edge_index, explanation.num_nodes
    if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind not in "iu":
        raise ValueError(f"edge_index must hold whole numbers [2, e], got {edges.dtype} {list(edges.shape)}")
    if edges.size and not (edges.min() >= 0 and edges.max() < num_nodes):
        raise ValueError(f"edge_index: nodes are 0 … {num_nodes - 1}, got {edges.min()} … {edges.max()}")
    for name in ("method_edge_scores", "edge_std_error"):
        scores: Floats | None = getattr(explanation, name)
        if scores is not None and scores.shape != (edges.shape[1],):
            raise ValueError(f"{name} must have a number for each of {edges.shape[1]} edges, got {list(scores.shape)}")


def _check_nodes(explanation: Explanation) -> None:
    """Players, names and motifs are those of the graph."""
    count, interactions, motifs = explanation.num_nodes, explanation.interactions, explanation.motifs
    if len(explanation.players) != interactions.num_players:
        raise ValueError(f"players must list the nodes of {interactions.num_players} players")
    _check_each("players", explanation.players, count)
    if len(explanation.names) != count:
        raise ValueError(f"names must list {count} names, one per node, got {len(explanation.names)}")
    if len(explanation.node_notes) not in (0, count):
        raise ValueError(f"node_notes must list {count} texts, one per node, got {len(explanation.node_notes)}")
    if motifs.num_nodes != count:
        raise ValueError(f"motifs are of {motifs.num_nodes} nodes, the graph has {count}")
    _check_each("motifs", [motif.nodes for motif in motifs.both_sides], count)
    for motif in motifs.both_sides:
        if len(motif.names) not in (0, len(motif)):
            raise ValueError(f"names of a motif must list {len(motif)} names, got {len(motif.names)}")
    for name in ("include", "exclude"):
        _check_range(f"motifs.{name}", getattr(motifs, name), interactions.num_players)
    listed = len(motifs.both_sides)
    if explanation.consequences is not None and len(explanation.consequences.each) != listed:
        raise ValueError(f"consequences are of {len(explanation.consequences.each)} motifs, there are {listed}")
    _check_range("target_nodes", explanation.target_nodes, count)
    if explanation.origin is not None:
        _check_each("origin.truth", explanation.origin.truth, count)


def _check_each(name: str, groups: Iterable[tuple[int, ...]], count: int) -> None:
    listed = list(groups)
    if any(not nodes for nodes in listed):
        raise ValueError(f"{name} must be lists of at least one node")
    _check_range(name, [node for nodes in listed for node in nodes], count)


def _check_range(name: str, numbers: Any, count: int) -> None:
    if not len(numbers):
        return
    array = checked_array(name, numbers, "whole numbers")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold whole numbers 0 … {count - 1}, got {array.dtype}")
    if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= count:
        raise ValueError(f"{name} must hold whole numbers 0 … {count - 1}, got {array.min()} … {array.max()}")
