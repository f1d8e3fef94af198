"""Graphs that are costly to make, kept on disk as plain arrays."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mage._core.archive import DAMAGE
from mage._core.files import atomic_path
from mage._core.typing import AnyArray
from mage.datasets._sources import cache_folder

_LOGGER = logging.getLogger(__name__)


def cached(name: str, determined_by: Mapping[str, Any], make: Callable[[], dict[str, AnyArray]]) -> dict[str, AnyArray]:
    """Arrays made before from the same things, or made now and kept.

    Args:
        name: Name of the dataset.
        determined_by: All that the arrays depend on, as plain values.
        make: Makes the arrays; strings are kept too.
    """
    text = json.dumps(determined_by, sort_keys=True)
    path = cache_path(name, text)
    if path.is_file():
        try:
            with np.load(path, allow_pickle=False) as archive:
                if archive["determined_by"].item() == text:
                    return {key: archive[key] for key in archive.files if key != "determined_by"}
        except DAMAGE as error:
            _LOGGER.warning("%s is damaged (%s) and is made again", path, error)
    arrays = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not compressed: embeddings hardly shrink, and reading them back must be quick.
        with atomic_path(path) as unfinished, unfinished.open("wb") as file:
            np.savez(file, allow_pickle=False, determined_by=np.array(text), **arrays)
    except OSError as error:
        _LOGGER.warning(
            "the graphs of %s cannot be kept (%s); set MAGE_CACHE to a folder that can be written", name, error
        )
    return arrays


def cache_path(name: str, text: str) -> Path:
    """Where the arrays of a dataset that ``text`` describes are kept."""
    return cache_folder() / "graphs" / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.npz"
