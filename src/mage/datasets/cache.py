"""What is costly to make, kept on disk: whole arrays, or the rows of a table one by one."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mage._core.archive import DAMAGE
from mage._core.files import atomic_path
from mage._core.typing import AnyArray, Integers, Masks
from mage.datasets.locations import cache_folder

_LOGGER = logging.getLogger(__name__)


def cached(name: str, determined_by: Mapping[str, Any], make: Callable[[], dict[str, AnyArray]]) -> dict[str, AnyArray]:
    """Arrays made before from the same things, or made now and kept.

    Args:
        name: Name of the dataset.
        determined_by: All that the arrays depend on, as plain values.
        make: Makes the arrays; strings are kept too.
    """
    text = _text(determined_by)
    path = _cache_path(name, text, "npz")
    if path.is_file():
        try:
            with np.load(path, allow_pickle=False) as archive:
                if archive["determined_by"].item() == text:
                    return {key: archive[key] for key in archive.files if key != "determined_by"}
        except DAMAGE as error:
            _LOGGER.warning("%s is damaged (%s) and is computed again", path, error)
    arrays = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not compressed: embeddings hardly shrink, and reading them back must be quick.
        with atomic_path(path) as unfinished, unfinished.open("wb") as file:
            np.savez(file, allow_pickle=False, determined_by=np.array(text), **arrays)
    except OSError as error:
        _warn(name, error)
    return arrays


class CachedRows:
    """Rows of bytes that are kept on disk as they are made; a row with a zero in it is not there yet.

    Rows that were not written take no space on most file systems. Processes that write the same row write the same
    bytes. A process that dies while it writes leaves zeros.

    Args:
        name: Name of the dataset.
        determined_by: All that the rows depend on, as plain values.
        shape: Number of rows, and bytes of each.
    """

    def __init__(self, name: str, determined_by: Mapping[str, Any], shape: tuple[int, int]) -> None:
        self.name = name
        self.shape = shape
        self.path = _cache_path(name, _text({**determined_by, "shape": shape}), "rows")
        self._writable = True

    def read(self, rows: Integers) -> tuple[NDArray[np.uint8], Masks]:
        """The content of some rows, and which of them are there."""
        content = np.zeros((len(rows), self.shape[1]), dtype=np.uint8)
        if self._is_whole():
            content = np.array(self._mapped("r")[rows])
        return content, np.asarray(content.all(axis=1))

    def write(self, rows: Integers, content: NDArray[np.uint8]) -> None:
        """Keep some rows; a folder that cannot be written is warned about."""
        if not self._writable:
            return
        try:
            if not self._is_whole():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # To append and not to write: what another process has put there meanwhile must stay.
                with self.path.open("ab") as file:
                    file.truncate(self.shape[0] * self.shape[1])
            mapped = self._mapped("r+")
            mapped[rows] = content
            mapped.flush()
        except OSError as error:
            self._writable = False
            _warn(self.name, error)

    def _is_whole(self) -> bool:
        return self.path.is_file() and self.path.stat().st_size == self.shape[0] * self.shape[1]

    def _mapped(self, mode: Any) -> Any:
        return np.memmap(self.path, dtype=np.uint8, mode=mode, shape=self.shape)


def _text(determined_by: Mapping[str, Any]) -> str:
    return json.dumps(determined_by, sort_keys=True)


def _cache_path(name: str, text: str, ending: str) -> Path:
    """Where what ``text`` describes is kept."""
    return cache_folder() / "graphs" / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}"


def _warn(name: str, error: OSError) -> None:
    advice = "set MAGE_CACHE to a folder that can be written"
    _LOGGER.warning("the graphs of %s cannot be kept (%s); %s", name, error, advice)
