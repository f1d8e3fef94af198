"""Locks by name that several runs share; the system takes them away from a run that dies, however it dies."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from mage._core.archive import DAMAGE

_POLL_SECONDS = 0.1


class Locks:
    """A folder of locks.

    Args:
        folder: Where the files are; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def claim(self, name: str) -> int | None:
        """A handle on a lock, or None if another run holds it."""
        handle = os.open(self.folder / name, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            return None
        return handle

    def release(self, name: str, handle: int, finished: bool) -> None:
        """Give a lock back.

        Args:
            name: Name of the lock.
            handle: What :meth:`claim` gave.
            finished: Whether the work is finished, so that the lock is not needed any more.
        """
        if finished:
            with contextlib.suppress(OSError):  # Windows keeps a file that another run has open
                (self.folder / name).unlink()
        os.close(handle)

    @contextlib.contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Wait for a lock and hold it during the block. Its file stays, since another run may wait for it."""
        while (handle := self.claim(name)) is None:
            time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            self.release(name, handle, finished=False)

    def tidy(self, is_finished: Callable[[str], bool]) -> None:
        """Remove locks of finished work, which runs leave behind that are killed before they give them back."""
        for name in sorted(path.name for path in self.folder.iterdir()):
            if is_finished(name) and (handle := self.claim(name)) is not None:
                self.release(name, handle, finished=True)


def set_aside(path: Path, place: Path, locks: Locks, name: str, check: Callable[[Path], object]) -> None:
    """Move a damaged file out of the way with a warning, unless a run holds its lock and is about to replace it.

    Args:
        path: The file.
        place: Where it goes.
        locks: Locks of the files.
        name: Name of its lock.
        check: Raises one of ``DAMAGE`` for a damaged file.
    """
    handle = locks.claim(name)
    if handle is None:
        return
    try:
        check(path)  # under the lock: another run may have replaced it meanwhile
    except (FileNotFoundError, PermissionError):
        pass
    except DAMAGE as error:
        place.parent.mkdir(exist_ok=True)
        if place.is_dir() or path.is_dir():
            place = _unused(place)  # a folder and a file do not replace each other
        path.replace(place)
        warnings.warn(f"{path.name} is damaged and is set aside as {place}: {error}", stacklevel=3)
    finally:
        locks.release(name, handle, finished=False)


def _unused(place: Path) -> Path:
    """A name like another one that is not taken."""
    names = (place.with_name(f"{place.stem}-{number}{place.suffix}") for number in itertools.count(1))
    return next(name for name in names if not os.path.lexists(name))


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
