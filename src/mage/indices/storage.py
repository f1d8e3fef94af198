"""Interactions on disk."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from mage._core.archive import DAMAGE, read_archive, write_archive
from mage._core.typing import AnyArray
from mage.graph import PlayerGraph
from mage.indices.families import FAMILIES
from mage.indices.result import Interactions

FORMAT = "mage.interactions/1"
# Larger orders have no more sets, but a damaged one would be counted up to.
_LARGEST_ORDER = 1000
_KINDS: dict[str, tuple[type, ...]] = {
    "index": (str,),
    "order": (int,),
    "exact": (bool,),
    "method": (str,),
    "num_queries": (int,),
    "num_permutations": (int,),
    "baseline": (int, float),
    "names": (list,),
    "stopped": (str,),
}
_ARRAYS = {"edges", "values", "std_error"}
_PLAIN = ("index", "order", "exact", "method", "num_queries", "num_permutations", "baseline", "names", "stopped")


def to_plain(interactions: Interactions) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A header for JSON and the arrays that go with it."""
    header = {"format": FORMAT, "num_players": interactions.num_players}
    header.update({name: getattr(interactions, name) for name in _PLAIN})
    arrays = {"edges": interactions.graph.edges, "values": interactions.values, "std_error": interactions.std_error}
    if interactions.error_parts is not None:
        # Single precision is plenty for errors, and halves the file.
        arrays["error_parts"] = interactions.error_parts.astype(np.float32)
    return header, arrays


def from_plain(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Interactions:
    """What :func:`to_plain` took apart, checked before anything is built from numbers that may be damaged."""
    if header.get("format") != FORMAT:
        raise ValueError(f"format {header.get('format')!r} is not {FORMAT!r}")
    # Files of the first release do not say what ended a run.
    fields = {name: header.get(name, "") if name == "stopped" else header[name] for name in _PLAIN}
    # JSON knows true from 1, isinstance does not.
    wrong = [name for name, kinds in _KINDS.items() if type(fields[name]) not in kinds]
    if wrong or type(header["num_players"]) is not int:
        raise ValueError(f"the header is damaged: {(wrong or ['num_players'])[0]}")
    fields["names"] = tuple(fields["names"])
    if not all(isinstance(name, str) for name in fields["names"]):
        raise ValueError("the header is damaged: names")
    if not _ARRAYS <= arrays.keys() <= _ARRAYS | {"error_parts"}:
        raise ValueError(f"arrays {sorted(arrays)} are not {sorted(_ARRAYS)}")
    for name in arrays.keys() - {"edges"}:
        if arrays[name].dtype.kind not in "fiu":
            raise ValueError(f"{name} must hold numbers, got {arrays[name].dtype}")
    values, players, order = arrays["values"], header["num_players"], header["order"]
    if (
        not (1 <= players <= values.size and 1 <= order <= max(players, _LARGEST_ORDER))
        or _count(players, order, values.size) != values.size
    ):
        raise ValueError(f"{values.size} values do not fit {players} players and order {order}")
    # Scores of explainers that are no index carry the explainer's name.
    if fields["index"] not in FAMILIES and fields["method"] in {"exact", "exact-local", "permutation", "surrogate"}:
        raise ValueError(f"there is no index {fields['index']!r}")
    graph = PlayerGraph(players, arrays["edges"])
    return Interactions(
        graph=graph, values=values, std_error=arrays["std_error"], error_parts=arrays.get("error_parts"), **fields
    )


def _count(players: int, order: int, most: int) -> int:
    """Sets of at most ``order`` players, counted up to ``most`` only: the numbers may be damaged."""
    total = 0
    for size in range(1, min(order, players) + 1):
        total += math.comb(players, size)
        if total > most:
            break
    return total


def save(interactions: Interactions, path: str | Path) -> None:
    """Write atomically."""
    write_archive(path, *to_plain(interactions))


def load(path: str | Path) -> Interactions:
    """Read, refusing anything that :func:`save` did not write."""
    try:
        return from_plain(*read_archive(path))
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{path} does not hold saved interactions: {error}") from error
