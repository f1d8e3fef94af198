"""Interactions on disk: a zip of plain arrays and one JSON text."""

import json
import zipfile
import zlib
from pathlib import Path

import numpy as np

from mage._files import atomic_path
from mage.graph import PlayerGraph
from mage.indices._families import FAMILIES
from mage.indices.interactions import Interactions

_FORMAT = "mage.interactions/1"
_KINDS = {"index": str, "exact": bool, "method": str, "num_queries": int, "num_permutations": int, "names": tuple}
# All that a damaged zip, array or JSON text can raise while it is read.
_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
    NotImplementedError,
    OverflowError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
)
_PLAIN = ("index", "order", "exact", "method", "num_queries", "num_permutations", "baseline", "names")


def save(interactions: Interactions, path: str | Path) -> None:
    """Write atomically."""
    header = {"format": _FORMAT, "num_players": interactions.num_players}
    header.update({name: getattr(interactions, name) for name in _PLAIN})
    with atomic_path(path) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            edges=interactions.graph.edges,
            values=interactions.values,
            std_error=interactions.std_error,
        )


def load(path: str | Path) -> Interactions:
    """Read, refusing anything that :func:`save` did not write."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes().decode())
            if header.get("format") != _FORMAT:
                raise ValueError(f"format {header.get('format')!r} is not {_FORMAT!r}")
            fields = {name: header[name] for name in _PLAIN}
            fields["names"] = tuple(fields["names"])
            values, players, order = archive["values"], int(header["num_players"]), int(header["order"])
            # Checked before anything is built from numbers that a damaged file may have made huge.
            if not 1 <= players <= len(values) or not 1 <= order <= players + len(values):
                raise ValueError(f"{len(values)} values do not fit {players} players and order {order}")
            if (
                not all(isinstance(fields[name], kind) for name, kind in _KINDS.items())
                or fields["index"] not in FAMILIES
            ):
                raise ValueError("the header is damaged")
            graph = PlayerGraph(players, archive["edges"])
            return Interactions(graph=graph, values=values, std_error=archive["std_error"], **fields)
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise ValueError(f"{path} does not hold saved interactions: {error}") from error
