"""Results on disk: a zip of plain arrays and one JSON text. Never pickle."""

import io
import json
import lzma
import math
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from mage._core.files import as_path, atomic_path
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

MAX_BYTES = 1 << 28
"""What the arrays of a file may take in memory by default: 4,000 players have 8 million pairs, 128 MB with errors."""

_MAX_HEADER = 1 << 24  # as JSON; as objects it may take thirty times as much
_MAX_LIST = 1 << 16  # bytes that list the members, about 80 each
_PIECE = 1 << 20
_END = struct.Struct("<4s4H2LH")  # the record at the end of a zip
_LOCATOR_BYTES = 20  # what stands before it in archives that are larger than ours


def archive_bytes(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> bytes:
    """A header and arrays as the content of one file; the same content gives the same bytes."""
    # Without the list, an array that is lost could not be told from one that never was.
    document = json.dumps({**header, "arrays": sorted(arrays)}, default=_plain)
    text = np.frombuffer(document.encode(), dtype=np.uint8)
    _parsed(text.tobytes())  # what could not be read must not be written
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, header=text, **arrays)
    return buffer.getvalue()


def write_archive(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a header and arrays to one file, whole or not at all; the same content gives the same bytes."""
    with atomic_path(path) as unfinished:
        unfinished.write_bytes(archive_bytes(header, arrays))


def check_archive(path: str | Path) -> None:
    """Raise one of ``DAMAGE`` where an archive is cut off or where its bytes have changed; reads it once, in pieces."""
    with _opened(path) as file, zipfile.ZipFile(file) as archive:
        if (name := archive.testzip()) is not None:
            raise ValueError(f"{name} has changed since it was written")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"extra: {type(value).__name__} cannot be written as JSON")


class DeclaredContent(NamedTuple):
    """The header of an archive and the declared shapes of its arrays, which are not read yet.

    Attributes:
        header: The header.
        shapes: Shapes of the arrays by name, as they are declared.
    """

    header: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]


def read_archive(
    path: str | Path, check: Callable[[DeclaredContent], None] | None = None, max_bytes: int = MAX_BYTES
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays of a file that :func:`write_archive` wrote; raises one of ``DAMAGE`` for any other.

    Sizes are checked before anything is unpacked: a small file may declare any size.

    Args:
        path: The file; it is read once.
        check: Raises ValueError where the declared shapes do not fit the header.
        max_bytes: Bytes that the arrays may take together.
    """
    with _opened(path) as file, zipfile.ZipFile(file) as archive:
        members = _members(archive)
        if "header" not in members:
            raise ValueError("it has no header")
        _, header_array = _described(archive, members.pop("header"), _MAX_HEADER)
        header = _parsed(bytes(header_array()))
        needed = sum(member.file_size for member in members.values())
        if needed > max_bytes:
            raise ValueError(
                f"it would take {needed:,} bytes of memory, more than max_bytes={max_bytes:,}; if you trust the file, "
                "pass a larger max_bytes"
            )
        if (listed := header.pop("arrays", None)) != sorted(members):
            raise ValueError(f"it holds the arrays {sorted(members)} where {listed!s:.200} were written")
        declared = {name: _described(archive, member, max_bytes) for name, member in members.items()}
        if check is not None:
            check(DeclaredContent(header, {name: shape for name, (shape, _) in declared.items()}))
        return header, {name: read() for name, (_, read) in declared.items()}


def _opened(path: str | Path) -> IO[bytes]:
    """A regular file that ends as ours do, so that its list of members is as short as it says."""
    # Anything else, such as a pipe, may never answer, not even when it is opened.
    file_path = as_path("path", path)  # a number would be an open file of the process
    if not stat.S_ISREG(file_path.stat().st_mode):
        raise ValueError("it is not a regular file")
    file = file_path.open("rb")
    try:
        # numpy takes any other file for a pickle, and says how to load it unsafely.
        if file.read(4) != b"PK\x03\x04":
            raise ValueError("it is not a zip archive")
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _END.size - _LOCATOR_BYTES))
        tail = file.read()
        mark, *disks, _, list_size, list_start, comment = _END.unpack(tail[-_END.size :])
        whole = mark == b"PK\x05\x06" and list_start + list_size + _END.size == size and not any([*disks[:2], comment])
        if not whole or list_size > _MAX_LIST or tail.startswith(b"PK\x06\x07"):
            raise ValueError("it is cut off, or its list of members is not one of ours")
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The arrays of a zip by name."""
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not member.flag_bits & 1
        if name == member.filename or name in members or not plain:
            raise ValueError(f"it holds {member.filename!r:.60}, which is no array of ours")
        members[name] = member
    return members


def _described(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int
) -> tuple[tuple[int, ...], Callable[[], AnyArray]]:
    """The shape of an array, and a function that reads its numbers; only the array's header is read here."""
    with archive.open(member) as stream:
        shape, fortran, dtype, start = _array_header(stream)
    size = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or dtype.names or not dtype.itemsize or any(side < 0 for side in shape):
        raise ValueError(f"{member.filename} holds no plain numbers")
    if start + size != member.file_size or size > max_bytes:
        raise ValueError(f"{member.filename} is {member.file_size:,} bytes, where {start + size:,} were declared")

    def read() -> AnyArray:
        # Unpacked piece by piece into its place; the checksum is compared at the end.
        content = np.empty(size, dtype=np.uint8)
        with archive.open(member) as stream:
            stream.read(start)
            for place in range(0, size, _PIECE):
                piece = stream.read(min(_PIECE, size - place))
                content[place : place + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            if stream.read(1):
                raise ValueError(f"{member.filename} is longer than it says")
        return content.view(dtype).reshape(shape, order="F" if fortran else "C")

    return shape, read


def _array_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order and type of an array of numpy's, and where its numbers start."""
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"version {version} of an array is not one of ours")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    return shape, fortran, dtype, stream.tell()


def _parsed(content: bytes) -> dict[str, Any]:
    """The header, all of whose texts can be written anywhere."""
    header = json.loads(content.decode())
    if not isinstance(header, dict):
        raise TypeError("the header is not a mapping")
    # JSON can spell halves of characters, which no file and no page can hold.
    json.dumps(header, ensure_ascii=False).encode()
    return header
