"""Results on disk: one Parquet part per finished batch of graphs, named by all that determines it; packs of parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mage._core.optional import require
from mage.experiments.locks import Locks, set_aside
from mage.experiments.packs import Packs
from mage.experiments.records import Record, read_records, records_table, write_records

SCHEMA_VERSION = 1
"""Part of every key; raised when records change their meaning."""

PARTS, PACKS = "parts", "packs"
"""Folders of a store."""


def key_of(determined_by: Mapping[str, Any]) -> str:
    """A name for what some plain values determine."""
    text = json.dumps({"schema": SCHEMA_VERSION, **determined_by}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Store:
    """A folder of finished parts that several runs may share.

    A part appears whole or not at all, under a name that says what it holds, so nothing is doubled. While a run
    computes a part it holds a lock on it, which the system takes away when the run dies, however it dies.

    A store that is kept for long has packs: files with the parts of a whole dataset, see :meth:`pack`. A loose part
    comes before one of the same name in a pack.

    Args:
        folder: Where parts are kept; made if it is not there.
    """

    def __init__(self, folder: str | Path) -> None:
        require("pyarrow", "benchmark")
        require("duckdb", "benchmark")
        self.folder = Path(folder)
        self.parts = self.folder / PARTS
        self.parts.mkdir(parents=True, exist_ok=True)
        self.locks = Locks(self.folder / "locks")
        self.packs = Packs(self.folder / PACKS, self.locks)
        self._sound: dict[str, tuple[int, int]] = {}

    def path(self, key: str) -> Path:
        """Where a part is, or would be."""
        return self.parts / f"{key}.parquet"

    def has(self, key: str) -> bool:
        """Whether a part is finished. One that is damaged is set aside with a warning, and is not."""
        return self._is_loose(key) or key in self.packs

    def _is_loose(self, key: str) -> bool:
        path = self.path(key)
        try:
            status = path.stat()
            # A part that was checked and has not changed since is not read again.
            state = (status.st_mtime_ns, status.st_size)
            if self._sound.get(key) != state:
                read_part(path)
                self._sound[key] = state
        except FileNotFoundError:
            return False
        except PermissionError:
            raise
        except (ValueError, OSError):  # a link to itself has no state
            set_aside(path, self.folder / "damaged" / path.name, self.locks, key, read_part)
            return False
        return True

    def write(self, key: str, records: Sequence[Record], locked: bool = False) -> None:
        """Keep a finished part.

        Args:
            key: Its name.
            records: What it holds.
            locked: Whether this run holds the lock on it.
        """
        write_records(self.path(key), [{**record, "part": key} for record in records], locked)

    def pack(self, others: Sequence[Store] = ()) -> None:
        """Move all loose parts into packs, one file for each dataset.

        Args:
            others: Stores whose parts are copied into the packs too; they are left as they are.
        """
        for other in others:
            names = other.keys()
            self.packs.add({name: other.read([name]) for name in names})
        loose = [key for key in self._loose_keys() if self._is_loose(key)]
        parts = {key: self._part(key) for key in loose}
        self.packs.add(parts)
        for key, records in parts.items():
            # A run may be about to compute a part again, or may have done so meanwhile: then it stays loose.
            if (handle := self.claim(key)) is not None:
                if self._part(key) == records:
                    self.path(key).unlink(missing_ok=True)
                self.release(key, handle)

    def claim(self, key: str) -> int | None:
        """A lock on a part, to be released when it is finished, or None if another run holds it."""
        return self.locks.claim(key)

    def release(self, key: str, handle: int) -> None:
        """Give a lock back."""
        self.locks.release(key, handle, finished=self._is_there(key))

    def tidy(self) -> None:
        """Remove locks of finished parts, which killed runs leave behind."""
        self.locks.tidy(self._is_there)

    def keys(self) -> list[str]:
        """Names of the finished parts."""
        return sorted({key for key in self._loose_keys() if self._is_loose(key)} | self.packs.keys())

    def _loose_keys(self) -> list[str]:
        return sorted(path.stem for path in self.parts.glob("*.parquet"))

    def _is_there(self, key: str) -> bool:
        return self.path(key).is_file() or key in self.packs

    def read(self, keys: Sequence[str]) -> list[Record]:
        """The records of some parts, in the order of the parts and within them; parts that are not there have none."""
        return [record for key in keys for record in self._part(key)]

    def _part(self, key: str) -> list[Record]:
        if self._is_loose(key):
            try:
                return read_part(self.path(key))
            except FileNotFoundError:
                pass  # another run has packed it meanwhile
            except ValueError:
                # Damage that changed neither the time nor the size of the file.
                del self._sound[key]
                self._is_loose(key)
        return self.packs.read(key)

    def query(self, sql: str) -> list[Record]:
        """Rows of an SQL query; ``records`` is the table of all finished records."""
        import duckdb

        with duckdb.connect() as connection:
            # Only what was checked gets there: a reader of its own could stumble over bytes that others do not look at.
            if records := self.read(self.keys()):
                connection.register("records", records_table(records))
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def read_part(path: Path) -> list[Record]:
    """The records of a loose part, in their order.

    Raises:
        FileNotFoundError: There is no such part.
        ValueError: It is not whole, or not what was written.
    """
    records = read_records(path)
    if any(record["part"] != path.stem for record in records):
        raise ValueError("its records are of another part")
    return records
