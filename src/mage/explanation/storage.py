"""Explanations on disk: one zip of plain arrays and JSON, derived from the fields of the dataclasses. Never pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mage._core.archive import DAMAGE, MAX_BYTES, DeclaredContent, archive_bytes, read_archive, write_archive
from mage._core.checks import checked_whole
from mage._core.conversion import add_codec, from_plain, to_plain
from mage._core.typing import AnyArray
from mage.explanation.consistency import check_finite
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


def load_explanation(path: str | Path, max_bytes: int = MAX_BYTES) -> Explanation:
    """Read what :func:`save` wrote; raises ValueError for anything else."""
    try:
        return _built(*read_archive(path, _check_shapes, max_bytes))
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{path} does not hold a saved explanation: {error}") from error


def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Explanation | Interactions:
    """Read a saved :class:`Explanation` or :class:`mage.Interactions`; anything else raises ValueError.

    Files from unknown sources are safe: no code in them is run, and their size is checked before unpacking.

    Args:
        path: The file.
        max_bytes: Bytes that its arrays may take together. A small file can declare a very large array.
    """
    max_bytes = checked_whole("max_bytes", max_bytes)
    kind = ""

    def check(file: DeclaredContent) -> None:
        nonlocal kind
        form = file.header.get("format")
        kind = {FORMAT: "explanation", interactions_storage.FORMAT: "interactions"}.get(str(form), "")
        if kind == "interactions":
            interactions_storage.check_shapes(*file)
        else:
            _check_shapes(file)

    try:
        header, arrays = read_archive(path, check, max_bytes)
        return interactions_storage.from_plain(header, arrays) if kind == "interactions" else _built(header, arrays)
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        article = "a saved" if kind == "explanation" else "saved"
        refusal = f"does not hold {article} {kind}" if kind else "was not written by mage"
        raise ValueError(f"{path} {refusal}: {error}") from error


def _built(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Explanation:
    from mage.explanation.explanation import Explanation

    fields = {name: value for name, value in header.items() if name != "format"}
    explanation: Explanation = from_plain(Explanation, fields, arrays)
    check_finite(explanation)
    return explanation


def _check_shapes(file: DeclaredContent) -> None:
    """Raise ValueError where a file is not an explanation, or its arrays do not fit its header."""
    if file.header.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    start = "interactions."
    of_index = {name.removeprefix(start): shape for name, shape in file.shapes.items() if name.startswith(start)}
    interactions_storage.check_shapes(file.header["interactions"], of_index)
