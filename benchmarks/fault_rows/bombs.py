"""Files for ``mage.load`` that are made to harm: too large, endless, contradictory, or hostile in their text."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fault_rows import Trials, fault
from fault_rows.limited import CAP, attempt
from mage._core.archive import read_archive, write_archive
from mage.cli.demo import demo_explanation

Write = Callable[[Path, Path, int], None]
"""Writes a file; where good ones may be kept; how many numbers are far too many."""

_HUGE = 300_000_000  # numbers, 8 bytes each
_HUGE_IN_SHORT = 40_000_000
_PIECE = bytes(1 << 20)
_MANY = "999999999"  # stands for a number that is far too large


def _parts(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a good file."""
    path = folder / "good.mage"
    if not path.exists():
        demo_explanation(0).save(path)
    return read_archive(path)


def _npy(shape: tuple[int, ...], dtype: str = "<f8", version: bytes = b"\x01\x00") -> bytes:
    """What an array says of itself, whatever it holds."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text


def _bytes_of(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), version=(1, 0))
    return buffer.getvalue()


def _header(header: dict[str, Any], arrays: Any) -> bytes:
    text = json.dumps({**header, "arrays": sorted(arrays)})
    return _bytes_of(np.frombuffer(text.encode(), dtype=np.uint8))


def _zip(path: Path, members: dict[str, bytes], endless: dict[str, tuple[bytes, int]] | None = None) -> None:
    """A zip of members, and of some that begin with bytes and go on with zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
        for name, (start, zeros) in (endless or {}).items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                stream.write(start)
                for _ in range(zeros // len(_PIECE)):
                    stream.write(_PIECE)
                stream.write(bytes(zeros % len(_PIECE)))


def _swapped(name: str, start: bytes, zeros: int | None) -> Write:
    """A good file with one array in another's place: of zeros, as many as wanted, or far too many."""

    def write(path: Path, folder: Path, huge: int = 0) -> None:
        header, arrays = _parts(folder)
        members = {"header": _header(header, arrays)}
        members |= {key: _bytes_of(array) for key, array in arrays.items() if key != name}
        described = start.replace(_MANY.encode(), f"{huge}".encode().ljust(len(_MANY)))
        _zip(path, members, {name: (described, 8 * huge if zeros is None else zeros)})

    return write


def _changed(change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Write:
    """A good file with a change to its header or arrays."""

    def write(path: Path, folder: Path, _huge: int = 0) -> None:
        header, arrays = _parts(folder)
        arrays = {name: array.copy() for name, array in arrays.items()}
        change(header, arrays)
        members = {"header": _header(header, arrays), **{name: _bytes_of(array) for name, array in arrays.items()}}
        _zip(path, members)

    return write


def _set(name: str, value: Any) -> Write:
    *outer, last = name.split(".")

    def change(header: dict[str, Any], _arrays: Any) -> None:
        for key in outer:
            header = header[key]
        header[last] = value

    return _changed(change)


def _fill(name: str, value: float) -> Write:
    return _changed(lambda _header, arrays: arrays[name].ravel().__setitem__(0, value))


def _many_members(path: Path, folder: Path, _huge: int) -> None:
    header, arrays = _parts(folder)
    empty = _bytes_of(np.zeros(0))
    _zip(path, {"header": _header(header, arrays), **{f"a{number}": empty for number in range(40_000)}})


def _same_data_many_times(path: Path, folder: Path, _huge: int) -> None:
    """Members that all point to the same bytes."""
    _swapped("prediction", _npy((10_000_000,)), 80_000_000)(path, folder)
    content = bytearray(path.read_bytes())
    start = content.rfind(b"PK\x01\x02")
    entry, end = bytes(content[start:-22]), bytes(content[-22:])
    copies = b"".join(entry.replace(b"prediction", b"predictio%c" % number) for number in range(33, 127))
    fields = list(struct.unpack("<4s4H2LH", end))
    fields[3] = fields[4] = fields[3] + 94
    fields[5] += len(copies)
    path.write_bytes(bytes(content[:-22]) + copies + struct.pack("<4s4H2LH", *fields))


def _wrong_size(size: int) -> Write:
    """The list of members says another size than the member has."""

    def write(path: Path, folder: Path, _huge: int = 0) -> None:
        _swapped("prediction", _npy((1_000_000,)), 8_000_000)(path, folder)
        content = bytearray(path.read_bytes())
        place = content.rfind(b"PK\x01\x02")
        content[place + 24 : place + 28] = struct.pack("<L", size)
        path.write_bytes(content)

    return write


def _text(text: bytes) -> Write:
    return lambda path, _folder, _huge: _zip(path, {"header": _bytes_of(np.frombuffer(text, dtype=np.uint8))})


def _fifo(path: Path, _folder: Path, _huge: int) -> None:
    os.mkfifo(path)


def _link(target: str) -> Write:
    return lambda path, _folder, _huge: path.symlink_to(target)


def _packed(method: int) -> Write:
    def write(path: Path, folder: Path, _huge: int = 0) -> None:
        header, arrays = _parts(folder)
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("header.npy", _header(header, arrays))
            for name, array in arrays.items():
                archive.writestr(f"{name}.npy", _bytes_of(array))

    return write


def _pickled(path: Path, folder: Path, _huge: int) -> None:
    header, arrays = _parts(folder)
    arrays["prediction"] = np.array([{"a": 1}, print], dtype=object)
    with path.open("wb") as file:
        np.savez_compressed(file, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)


def _long_comment(path: Path, folder: Path, _huge: int) -> None:
    header, arrays = _parts(folder)
    write_archive(path, header, arrays)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"x" * 60_000


REFUSED: dict[str, Write] = {
    "values that are far too many": _swapped("interactions.values", _npy((int(_MANY),)), None),
    "errors that are far too many": _swapped("interactions.std_error", _npy((int(_MANY),)), None),
    "edges that are far too many": _swapped("edge_index", _npy((1, int(_MANY)), "<i8"), None),
    "a prediction that is far too long": _swapped("prediction", _npy((int(_MANY),)), None),
    "far too many numbers, said to be two": _swapped("prediction", _npy((2,)), None),
    "two numbers, said to be 10⁹": _swapped("prediction", _npy((10**9,)), 16),
    "two numbers, said to be 10³⁰": _swapped("prediction", _npy((10**15, 10**15)), 16),
    "10¹⁵ numbers without bytes": _swapped("prediction", _npy((10**15,), "|V0"), 0),
    "a side below zero": _swapped("prediction", _npy((-4, -4)), 128),
    "a header of 200 MB": lambda path, _folder, _huge: _zip(
        path, {}, {"header": (_npy((2 * 10**8,), "|u1"), 2 * 10**8)}
    ),
    "a header of 15 MB of lists": _text(b'{"a":[' + b"[]," * 5_000_000 + b"[]]}"),
    "a header 100,000 lists deep": _text(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "a number of 100,000 digits": _text(b'{"a":' + b"9" * 100_000 + b"}"),
    "40,000 members": _many_members,
    "94 members of 80 MB that are one": _same_data_many_times,
    "a member said to be smaller": _wrong_size(1000),
    "a member said to be larger": _wrong_size(2**31),
    "a comment behind the members": _long_comment,
    "members packed by bzip2": _packed(zipfile.ZIP_BZIP2),
    "members packed by LZMA": _packed(zipfile.ZIP_LZMA),
    "a pickled array": _pickled,
    "a pipe": _fifo,
    "a link to /dev/zero": _link("/dev/zero"),
    "a link to a folder": _link("."),
    "a link to itself": _link("bomb.mage"),
    "10⁹ players": _set("interactions.num_players", 10**9),
    "an order of 10⁹": _set("interactions.order", 10**9),
    "10⁹ nodes": _set("num_nodes", 10**9),
    "NaN among the values": _fill("interactions.values", float("nan")),
    "infinity among the values": _fill("interactions.values", float("inf")),
    "a prediction that is NaN": _fill("prediction", float("nan")),
    "an infinite objective": _set("motifs.objective", float("inf")),
    "seconds that are NaN": _set("seconds", float("nan")),
    "half a character in a name": _changed(lambda header, _arrays: header["names"].__setitem__(0, "\ud800")),
    "half a character in a note": _set("notes", ["\udfff"]),
}
"""Files that must be refused, by what is wrong with them, and what writes them."""

NEUTRALISED: dict[str, Write] = {
    "escape bytes in a name": _changed(lambda header, _arrays: header["names"].__setitem__(10, "\x1b[2J\x1b]0;x\x07")),
    "bytes that turn the text around": _changed(lambda header, _arrays: header["names"].__setitem__(10, "\u202ex")),
    "markup of rich in a name": _changed(lambda header, _arrays: header["names"].__setitem__(10, "\\[/red][bold]")),
    "markup of rich in a note": _set("notes", ["[/] [link=file:///etc] [bold \\[", "[@click=x]y[/]"]),
    "markup of pages in a note": _set("notes", ["</script><script>alert(1)</script>"]),
}
"""Files that are read, but whose text must not act on a terminal or a page."""


@fault(
    "a file for mage.load that is made to harm",
    f"it is refused by a ValueError, or shown as plain text, and memory stays below {CAP / 1e9:.1f} GB",
    tries=len(REFUSED) + len(NEUTRALISED),
    short=len(REFUSED) + len(NEUTRALISED),
)
def harmful_files(trials: Trials) -> Iterator[str]:
    for turn, (name, write) in enumerate({**REFUSED, **NEUTRALISED}.items()):
        folder = trials.folder / str(turn)
        folder.mkdir()
        write(folder / "bomb.mage", trials.folder, _HUGE_IN_SHORT if trials.short else _HUGE)
        loss, _ = attempt("fault_rows.bombs_read:look", str(folder / "bomb.mage"), name in REFUSED)
        yield f"{name}: {loss}" if loss else ""
