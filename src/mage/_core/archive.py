"""Results on disk: a zip of plain arrays and one JSON text. Never pickle."""

import io
import json
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mage._core.files import atomic_path
from mage._core.typing import AnyArray

# All that a damaged zip, array or JSON text can raise while it is read.
DAMAGE = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
    RuntimeError,
    MemoryError,
    OverflowError,
    SyntaxError,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def archive_bytes(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> bytes:
    """A header and arrays as the content of one file; the same content gives the same bytes."""
    # Without the list, an array that is lost could not be told from one that never was.
    document = json.dumps({**header, "arrays": sorted(arrays)}, default=_plain)
    text = np.frombuffer(document.encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, header=text, **arrays)
    return buffer.getvalue()


def write_archive(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a header and arrays to one file, whole or not at all; the same content gives the same bytes."""
    with atomic_path(path) as unfinished:
        unfinished.write_bytes(archive_bytes(header, arrays))


def check_archive(path: str | Path) -> None:
    """Raise one of ``DAMAGE`` where an archive is cut off or where its bytes have changed; reads it once, in pieces."""
    with zipfile.ZipFile(path) as archive:
        if (name := archive.testzip()) is not None:
            raise ValueError(f"{name} has changed since it was written")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"extra: {type(value).__name__} cannot be written as JSON")


def read_archive(path: str | Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays of a file that :func:`write_archive` wrote; raises one of ``DAMAGE`` for any other."""
    with Path(path).open("rb") as file:
        # numpy takes any other file for a pickle, and says how to load it unsafely.
        if file.read(4) != b"PK\x03\x04":
            raise ValueError("it is not a zip archive")
        file.seek(0)
        with np.load(file, allow_pickle=False) as archive:
            if "header" not in archive.files:
                raise ValueError("it has no header")
            header = json.loads(archive["header"].tobytes().decode())
            if not isinstance(header, dict):
                raise TypeError("the header is not a mapping")
            arrays = {name: archive[name] for name in archive.files if name != "header"}
    if (listed := header.pop("arrays")) != sorted(arrays):
        raise ValueError(f"it holds the arrays {sorted(arrays)} where {listed} were written")
    return header, arrays
