"""Explanations on disk: one zip of plain arrays and JSON, derived from the fields of the dataclasses. Never pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mage._core.archive import DAMAGE, archive_bytes, read_archive, write_archive
from mage._core.conversion import add_codec, from_plain, to_plain
from mage.indices import Interactions
from mage.indices import storage as interactions_storage

if TYPE_CHECKING:
    from mage.explanation.explanation import Explanation

FORMAT = "mage.explanation/1"

add_codec(Interactions, interactions_storage.to_plain, interactions_storage.from_plain)


def save(explanation: Explanation, path: str | Path) -> None:
    """Write an explanation to one file, whole or not at all; the same explanation gives the same bytes."""
    header, arrays = to_plain(explanation)
    write_archive(path, {"format": FORMAT, **header}, arrays)


def file_content(explanation: Explanation) -> bytes:
    """What :func:`save` writes."""
    header, arrays = to_plain(explanation)
    return archive_bytes({"format": FORMAT, **header}, arrays)


def load_explanation(path: str | Path) -> Explanation:
    """Read what :func:`save` wrote; raises ValueError for anything else."""
    from mage.explanation.explanation import Explanation

    try:
        header, arrays = read_archive(path)
        if header.pop("format", None) != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        explanation: Explanation = from_plain(Explanation, header, arrays)
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{path} does not hold a saved explanation: {error}") from error
    return explanation


def load(path: str | Path) -> Explanation | Interactions:
    """Read a saved :class:`Explanation` or :class:`mage.Interactions`."""
    try:
        header, _ = read_archive(path)
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{path} was not written by mage: {error}") from error
    return Interactions.load(path) if header.get("format") == interactions_storage.FORMAT else load_explanation(path)
