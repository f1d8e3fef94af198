"""Files that are written whole or not at all."""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MAX_NAME = 200


def as_path(name: str, path: object) -> Path:
    """A path that somebody gave; numbers, bytes and lists are refused.

    Args:
        name: The argument, for the message.
        path: What it is.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a path, as text or pathlib.Path; got {path!r}")
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
    unfinished = target.with_name(f".{_short(target.name)}.{'' if locked else secrets.token_hex(4) + '.'}part")
    try:
        # Made by hand, not by tempfile: the file gets the permissions of any new file, which the umask decides.
        os.close(os.open(unfinished, os.O_CREAT | os.O_WRONLY | (os.O_TRUNC if locked else os.O_EXCL), 0o666))
        yield unfinished
        _flush(unfinished)
        unfinished.replace(target)
        _flush(target.parent)
    except OSError as error:
        # A full disk says no name at all, a folder that may not be written one that nobody has given.
        if error.errno is None or error.filename not in (None, str(unfinished)):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _short(name: str) -> str:
    """A name to which something can be added: file systems allow 255 bytes."""
    content = os.fsencode(name)
    return name if len(content) <= _MAX_NAME else hashlib.sha256(content).hexdigest()


def _flush(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
