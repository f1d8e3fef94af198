"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that replaces it when the block ends well and vanishes otherwise."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: the folder {target.parent} does not exist; create it first")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        # mkstemp makes private files; what the user asked for gets the permissions of any new file.
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
