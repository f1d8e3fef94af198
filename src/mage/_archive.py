"""Results on disk: a zip of plain arrays and one JSON text. Never pickle."""

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mage._files import atomic_path
from mage._typing import AnyArray

# All that a damaged zip, array or JSON text can raise while it is read.
DAMAGE = (
    ValueError,
    KeyError,
    IndexError,
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


def write_archive(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a header and arrays to one file, whole or not at all; the same content gives the same bytes."""
    text = np.frombuffer(json.dumps(header, default=_plain).encode(), dtype=np.uint8)
    with atomic_path(path) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, header=text, **arrays)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"extra: {type(value).__name__} cannot be written as JSON")


def read_archive(path: str | Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays of a file that :func:`write_archive` wrote; raises one of ``DAMAGE`` for any other."""
    with np.load(path, allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes().decode())
        if not isinstance(header, dict):
            raise TypeError("the header is not a mapping")
        return header, {name: archive[name] for name in archive.files if name != "header"}
