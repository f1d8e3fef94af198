"""Explanations on disk: what a file must hold to be one."""

from __future__ import annotations

from typing import Any

from mage._core.typing import AnyArray
from mage.indices import storage as interactions_storage
from mage.motifs import Motif, MotifSet

FORMAT = "mage.explanation/1"
_LEVELS = ("graph", "node", "edge", "image")
_TASKS = ("multiclass", "binary", "regression")
_NUMBER = (int, float)
_KINDS: dict[str, tuple[type, ...]] = {
    "target": (int, type(None)),
    "task": (str,),
    "output": (str,),
    "masking": (str,),
    "level": (str,),
    "num_queries": (int,),
    "seconds": _NUMBER,
    "num_nodes": (int,),
    "extra": (dict,),
}
_MOTIF_KINDS: dict[str, tuple[type, ...]] = {
    "objective": _NUMBER,
    "bound": _NUMBER,
    "optimal": (bool,),
    "num_nodes": (int,),
    "num_motifs": (int,),
    "max_nodes": (int,),
    "tau": _NUMBER,
    "connected": (bool,),
    "solver": (str,),
    "work": (int,),
    "noise_floor": _NUMBER,
}


def from_plain(header: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    """The fields of an explanation from what its ``save`` wrote, checked one by one and against each other."""
    if header.get("format") != FORMAT:
        raise ValueError(f"format {header.get('format')!r} is not {FORMAT!r}")
    fields = {name: _of_kind(name, header[name], kinds) for name, kinds in _KINDS.items()}
    rest = {name: array for name, array in arrays.items() if name not in {"edge_index", "prediction"}}
    interactions = interactions_storage.from_plain(header["interactions"], rest)
    num_nodes, players = fields["num_nodes"], header["players"]
    if type(players) is not list or len(players) != interactions.num_players:
        raise ValueError(f"players must list the nodes of {interactions.num_players} players")
    fields |= {
        "players": tuple(_nodes("players", nodes, num_nodes) for nodes in players),
        "names": _names("names", header["names"], num_nodes),
        "motifs": _motif_set(header["motifs"], num_nodes, interactions.num_players),
        "interactions": interactions,
        "edge_index": arrays["edge_index"],
        "prediction": arrays["prediction"],
    }
    _check_edges(fields)
    _check_prediction(fields)
    return fields


def _motif_set(header: dict[str, Any], num_nodes: int, num_players: int) -> MotifSet:
    # Files of the first release know neither a noise floor nor nodes to include.
    given: dict[str, Any] = {"noise_floor": 0.0, "include": [], "exclude": []} | header
    fields = {name: _of_kind(f"motifs.{name}", given[name], kinds) for name, kinds in _MOTIF_KINDS.items()}
    if fields["num_nodes"] != num_nodes:
        raise ValueError(f"motifs are of {fields['num_nodes']} nodes, the graph has {num_nodes}")
    for name in ("include", "exclude"):
        fields[name] = _nodes(f"motifs.{name}", given[name], num_players, some=False)
    motifs = []
    for listed, score, names in given["motifs"]:
        nodes = _nodes("motifs", listed, num_nodes)
        motifs.append(
            Motif(
                nodes,
                _of_kind("the score of a motif", score, _NUMBER),
                _names("names of a motif", names, len(nodes) if names else 0),
            )
        )
    return MotifSet(motifs=tuple(motifs), **fields)


def _check_edges(fields: dict[str, Any]) -> None:
    edges, num_nodes = fields["edge_index"], fields["num_nodes"]
    if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind not in "iu":
        raise ValueError(f"edge_index must hold whole numbers [2, e], got {edges.dtype} {list(edges.shape)}")
    if edges.size and not (edges.min() >= 0 and edges.max() < num_nodes):
        raise ValueError(f"edge_index: nodes are 0 … {num_nodes - 1}, got {edges.min()} … {edges.max()}")
    scores = fields["extra"].get("edge_scores")
    if scores is not None:
        if type(scores) is not list or len(scores) != edges.shape[1]:
            raise ValueError(f"edge_scores must list {edges.shape[1]} numbers, one an edge")
        for score in scores:
            _of_kind("edge_scores", score, _NUMBER)


def _check_prediction(fields: dict[str, Any]) -> None:
    """The prediction with the task, target and level that go with it."""
    prediction, target = fields["prediction"], fields["target"]
    if prediction.ndim != 1 or not prediction.size or prediction.dtype.kind not in "fiu":
        raise ValueError(f"prediction must hold numbers [C], got {prediction.dtype} {list(prediction.shape)}")
    for name, allowed in (("task", _TASKS), ("level", _LEVELS)):
        if fields[name] not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {fields[name]!r}")
    if (fields["task"] == "multiclass") != (len(prediction) > 1):
        raise ValueError(f"task {fields['task']!r} does not fit a prediction of {len(prediction)} numbers")
    if (fields["task"] == "regression") != (target is None):
        raise ValueError(f"task {fields['task']!r} does not fit the target {target!r}")
    classes = max(len(prediction), 2)
    if target is not None and not 0 <= target < classes:
        raise ValueError(f"target must be a class 0 … {classes - 1}, got {target!r}")


def _of_kind(name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    # JSON knows true from 1, isinstance does not.
    if type(value) not in kinds:
        raise ValueError(f"{name} must be {' or '.join(kind.__name__ for kind in kinds)}, got {value!r:.60}")
    return value


def _nodes(name: str, listed: Any, count: int, some: bool = True) -> tuple[int, ...]:
    if type(listed) is not list or (some and not listed):
        raise ValueError(f"{name} must be lists of nodes, got {listed!r:.60}")
    for node in listed:
        if type(node) is not int or not 0 <= node < count:
            raise ValueError(f"{name} must hold whole numbers 0 … {count - 1}, got {node!r:.60}")
    return tuple(listed)


def _names(name: str, listed: Any, count: int) -> tuple[str, ...]:
    if type(listed) is not list or len(listed) != count or not all(type(each) is str for each in listed):
        raise ValueError(f"{name} must list {count} names, got {listed!r:.60}")
    return tuple(listed)
