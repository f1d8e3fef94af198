"""Interactions on disk: the plain fields of the dataclass as JSON, and arrays beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import numpy as np

from mage._core.archive import DAMAGE, MAX_BYTES, read_archive, write_archive
from mage._core.typing import AnyArray
from mage.graph import PlayerGraph
from mage.indices.estimators import ESTIMATORS
from mage.indices.families import FAMILIES
from mage.indices.result import Interactions

FORMAT = "mage.interactions/1"
# Larger orders have no more sets, but a damaged one would be counted up to.
_LARGEST_ORDER = 1000
_ARRAYS = {"edges", "values", "std_error"}
_APART = {"graph", "values", "std_error", "error_parts"}
_PLAIN = {name: hint for name, hint in get_type_hints(Interactions).items() if name not in _APART}
_HEADER = {"format": str, "num_players": int, **_PLAIN}


def to_plain(interactions: Interactions) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A header for JSON and the arrays that go with it."""
    header = {"format": FORMAT, "num_players": interactions.num_players}
    header.update({name: getattr(interactions, name) for name in _PLAIN})
    arrays = {"edges": interactions.graph.edges, "values": interactions.values, "std_error": interactions.std_error}
    if interactions.error_parts is not None:
        # Single precision is plenty for errors, and halves the file.
        arrays["error_parts"] = interactions.error_parts.astype(np.float32)
    return header, arrays


def check_shapes(header: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError where declared shapes are not those of the players and the order, before they are read."""
    players, order, names = (header.get(name) for name in ("num_players", "order", "names"))
    if type(players) is not int or type(order) is not int or type(names) is not list or len(names) != players:
        raise ValueError("the header is damaged: num_players, order or names")
    if not 1 <= players <= math.prod(shapes.get("values", ())) or not 1 <= order <= max(players, _LARGEST_ORDER):
        raise ValueError(f"values {list(shapes.get('values', ()))} do not fit {players} players and order {order}")
    counts = [math.comb(players, size) for size in range(1, order + 1)]
    for name, shape in shapes.items():
        columns = [sum(counts)] if name in ("values", "std_error") else [shape[-1] if shape else 0]
        if name == "error_parts":
            columns = [sum(counts[first:]) for first in range(order)]
        if not shape or shape[-1] not in columns:
            raise ValueError(f"{name} {list(shape)} does not fit {players} players and order {order}")


def from_plain(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Interactions:
    """What :func:`to_plain` took apart, checked before anything is built from numbers that may be damaged."""
    if header.get("format") != FORMAT:
        raise ValueError(f"format {header.get('format')!r} is not {FORMAT!r}")
    wrong = [name for name, hint in _HEADER.items() if name not in header or not _fits(header[name], hint)]
    if wrong or len(header) > len(_HEADER):
        raise ValueError(f"the header is damaged: {', '.join(wrong) or 'unknown fields'}")
    if not _ARRAYS <= arrays.keys() <= _ARRAYS | {"error_parts"}:
        raise ValueError(f"arrays {sorted(arrays)} are not {sorted(_ARRAYS)}")
    for name in arrays.keys() - {"edges"}:
        if arrays[name].dtype.kind not in "fiu":
            raise ValueError(f"{name} must hold numbers, got {arrays[name].dtype}")
    if arrays["edges"].shape[1:] != (2,):
        raise ValueError(f"edges must have shape [e, 2], got {list(arrays['edges'].shape)}")
    values, players, order = arrays["values"], header["num_players"], header["order"]
    if not (1 <= players <= values.size and 1 <= order <= max(players, _LARGEST_ORDER)):
        raise ValueError(f"{values.size} values do not fit {players} players and order {order}")
    if not np.isfinite(values).all() or not math.isfinite(header["baseline"]):
        raise ValueError("values and baseline must be finite")
    # Scores of explainers that are no index carry the explainer's name.
    if header["index"] not in FAMILIES and header["method"] in ESTIMATORS:
        raise ValueError(f"there is no index {header['index']!r}")
    plain = {name: header[name] for name in _PLAIN} | {"names": tuple(header["names"])}
    graph, parts = PlayerGraph(players, arrays["edges"]), arrays.get("error_parts")
    return Interactions(graph=graph, values=values, std_error=arrays["std_error"], error_parts=parts, **plain)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is what a hint says; JSON knows true from 1, isinstance does not."""
    if get_origin(hint) is tuple:
        return type(value) in (list, tuple) and all(type(name) is str for name in value)
    return type(value) in ((int, float) if hint is float else (hint,))


def save(interactions: Interactions, path: str | Path) -> None:
    """Write atomically."""
    write_archive(path, *to_plain(interactions))


def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Interactions:
    """Read, refusing anything that :func:`save` did not write."""
    try:
        return from_plain(*read_archive(path, lambda file: check_shapes(*file), max_bytes))
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{path} does not hold saved interactions: {error}") from error
