"""Interactions on disk."""

from pathlib import Path
from typing import Any

import numpy as np

from mage._archive import DAMAGE, read_archive, write_archive
from mage._typing import AnyArray
from mage.graph import PlayerGraph
from mage.indices._families import FAMILIES
from mage.indices.interactions import Interactions

FORMAT = "mage.interactions/1"
_KINDS = {
    "index": str,
    "exact": bool,
    "method": str,
    "num_queries": int,
    "num_permutations": int,
    "names": tuple,
    "stopped": str,
}
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
    fields["names"] = tuple(fields["names"])
    values, players, order = arrays["values"], int(header["num_players"]), int(header["order"])
    if not 1 <= players <= len(values) or not 1 <= order <= players + len(values):
        raise ValueError(f"{len(values)} values do not fit {players} players and order {order}")
    # Scores of explainers that are no index carry the explainer's name.
    known = fields["index"] in FAMILIES or fields["method"] not in {"exact", "exact-local", "permutation", "surrogate"}
    if not all(isinstance(fields[name], kind) for name, kind in _KINDS.items()) or not known:
        raise ValueError("the header is damaged")
    graph = PlayerGraph(players, arrays["edges"])
    return Interactions(
        graph=graph, values=values, std_error=arrays["std_error"], error_parts=arrays.get("error_parts"), **fields
    )


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
