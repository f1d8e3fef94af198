"""Packs: files that hold many finished parts, so that a store is small enough to be kept beside the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mage._core.files import remove_leftovers
from mage.experiments.locks import Locks, set_aside
from mage.experiments.records import Record, read_records, write_records

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class Packs:
    """A folder with one Parquet file of records for each dataset.

    Args:
        folder: The folder; it is made when the first pack is written.
        locks: Locks of the store.
    """

    def __init__(self, folder: Path, locks: Locks) -> None:
        self.folder = folder
        self.locks = locks
        self._files: dict[Path, tuple[tuple[int, int], dict[str, list[Record]]]] = {}

    def __contains__(self, key: str) -> bool:
        return any(key in parts for parts in self._parts())

    def keys(self) -> set[str]:
        """Names of the parts in all packs."""
        return {key for parts in self._parts() for key in parts}

    def read(self, key: str) -> list[Record]:
        """The records of a part; a part that is not there has none."""
        return next((parts[key] for parts in self._parts() if key in parts), [])

    def add(self, parts: Mapping[str, Sequence[Record]]) -> None:
        """Put parts into the packs of their datasets; parts of the same name are replaced."""
        by_dataset: dict[str, dict[str, Sequence[Record]]] = {}
        for key, records in parts.items():
            if records:
                by_dataset.setdefault(str(records[0].get("dataset") or "others"), {})[key] = records
        list(self._parts())  # packs that are damaged are set aside before anything is added to them
        for dataset, fresh in by_dataset.items():
            path = self.folder / f"{_NO_NAME.sub('-', dataset)}.parquet"
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.folder)
            # Two runs that add to the same pack at once would each write what they have read, and their own.
            with self.locks.held(path.name):
                before = self._content(path) if path.is_file() else {}
                whole = before | {key: list(records) for key, records in fresh.items()}
                write_records(path, [record for key in sorted(whole) for record in whole[key]])

    def _parts(self) -> Iterator[dict[str, list[Record]]]:
        for path in sorted(self.folder.glob("*.parquet")):
            try:
                yield self._content(path)
            except FileNotFoundError:
                continue
            except ValueError:
                set_aside(path, self.folder.parent / "damaged" / path.name, self.locks, path.name, read_records)

    def _content(self, path: Path) -> dict[str, list[Record]]:
        status = path.stat()
        # A pack that was read and has not changed since is not read again.
        state = (status.st_mtime_ns, status.st_size)
        if path not in self._files or self._files[path][0] != state:
            parts: dict[str, list[Record]] = {}
            for record in read_records(path):
                parts.setdefault(record["part"], []).append(record)
            self._files[path] = (state, parts)
        return self._files[path][1]
