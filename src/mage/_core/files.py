"""Files that are written whole or not at all."""

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MAX_NAME = 200
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{8}\.part", re.DOTALL)


def as_path(name: str, path: object) -> Path:
    """A user's path; numbers, bytes and lists are refused.

    Args:
        name: The argument, for the message.
        path: What it is.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a path, as text or pathlib.Path; got {path!r}")
    try:
        if b"\0" in os.fsencode(Path(path)):
            raise ValueError("a zero byte")
    except ValueError as error:
        raise ValueError(f"{name}: no file can be called {ascii(str(path))[:80]} ({error})") from None
    return Path(path)


@contextmanager
def atomic_path(path: str | Path, locked: bool = False) -> Iterator[Path]:
    """A temporary path beside ``path`` that replaces it when the block ends well and vanishes otherwise.

    What was written is on the disk before it gets its name, so that a file is whole also after a power failure.

    Args:
        path: The file to be.
        locked: Nobody else writes this file now. Then the temporary name is always the same, and what a killed process
            left behind is written over.
    """
    target = as_path("path", path)
    if not target.name or target.is_dir():
        raise ValueError(f"path must name a file, got {str(path)!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: the folder {target.parent} does not exist; create it first")
    unfinished, handle = target, -1
    try:
        unfinished, handle = _unfinished_file(target, locked)
        yield unfinished
        _flush(unfinished)
        unfinished.replace(target)
        _flush(target.parent)
    except OSError as error:
        # The error names no file where the disk is full, and the temporary file where the folder is read-only.
        named = error.filename is not None and not os.path.basename(error.filename).startswith(_start(target))
        if error.errno is None or named:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        if unfinished != target:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
        if handle >= 0:
            os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Remove unfinished files that :func:`atomic_path` could not, since its process was killed."""
    if fcntl is None:
        return
    for path in [path for path in folder.iterdir() if _UNFINISHED.fullmatch(path.name)]:
        with contextlib.suppress(OSError):  # another process is writing it, or it is gone
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)


def _unfinished_file(target: Path, locked: bool) -> tuple[Path, int]:
    """A new file beside another, and the handle on its lock, or -1 where it needs none.

    It is made by hand, not by tempfile, to get the permissions of any new file, which the umask decides.
    """
    if locked or fcntl is None:
        path = target.with_name(f"{_start(target)}{'' if locked else secrets.token_hex(4) + '.'}part")
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | (os.O_TRUNC if locked else os.O_EXCL), 0o666))
        return path, -1
    while True:
        path = target.with_name(f"{_start(target)}{secrets.token_hex(4)}.part")
        handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o666)
        with contextlib.suppress(OSError):  # where the file system has no locks, nothing is removed either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # it was removed as a left-over before it was locked


def _start(target: Path) -> str:
    """How the names of unfinished files begin; they must not be too long: file systems allow 255 bytes."""
    content = os.fsencode(target.name)
    return f".{target.name if len(content) <= _MAX_NAME else hashlib.sha256(content).hexdigest()}."


def _flush(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
