"""Results on disk: one Parquet part per finished batch of graphs, named by all that determines it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mage._core.archive import DAMAGE
from mage._core.files import atomic_path
from mage._core.optional import require
from mage.experiments.locks import Locks, set_aside
from mage.metrics import METRICS

SCHEMA_VERSION = 1
"""Part of every key; raised when records change their meaning."""

Record = dict[str, Any]

_DIGEST = b"mage.digest"
_MAX_RECORDS, _MAX_FIELDS = 1_000_000, 1000  # of a part; a small file can hold any number of equal ones


def key_of(determined_by: Mapping[str, Any]) -> str:
    """A name for what some plain values determine."""
    text = json.dumps({"schema": SCHEMA_VERSION, **determined_by}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_FIELDS: dict[str, str] = {
    "part": "string",
    "position": "int",
    "dataset": "string",
    "model": "string",
    "method": "string",
    "parameters": "string",
    "version": "string",
    "seed": "int",
    "graph": "int",
    "num_nodes": "int",
    "image": "string",
    "probability": "float",
    "num_players": "int",
    "permutations": "int",
    "groups": "int",
    "image_queries": "float",
    "target": "int",
    "error": "string",
    "failure": "string",
    "nodes": "string",
    "optimal": "bool",
}


def record_fields(names: Iterable[str] = ()) -> dict[str, str]:
    """What may be known of a result on a graph or on an image, with its type; what is not known is empty.

    Args:
        names: Names of fields; those with a colon are metrics of users, ``module:name``.
    """
    measured = [field for metric in METRICS.values() for field in (metric.name, *metric.fields)]
    return _FIELDS | dict.fromkeys([*measured, *sorted(name for name in names if ":" in name)], "float")


class Store:
    """A folder of finished parts that several runs may share.

    A part appears whole or not at all, under a name that says what it holds, so nothing is doubled. While a run
    computes a part it holds a lock on it, which the system takes away when the run dies, however it dies.

    Args:
        folder: Where parts are kept; made if it is not there.
    """

    def __init__(self, folder: str | Path) -> None:
        require("pyarrow", "benchmark")
        require("duckdb", "benchmark")
        self.folder = Path(folder)
        self.parts = self.folder / "parts"
        self.parts.mkdir(parents=True, exist_ok=True)
        self.locks = Locks(self.folder / "locks")
        self._sound: dict[str, tuple[int, int]] = {}

    def path(self, key: str) -> Path:
        """Where a part is, or would be."""
        return self.parts / f"{key}.parquet"

    def has(self, key: str) -> bool:
        """Whether a part is finished. One that is damaged is set aside with a warning, and is not."""
        path = self.path(key)
        try:
            status = path.stat()
            # A part that was looked at and has not changed since is not read again.
            state = (status.st_mtime_ns, status.st_size)
            if self._sound.get(key) != state:
                read_part(path)
                self._sound[key] = state
        except FileNotFoundError:
            return False
        except ValueError:
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
        from pyarrow import parquet

        table = _table([{**record, "part": key} for record in records])
        with atomic_path(self.path(key), locked) as unfinished:
            parquet.write_table(table.replace_schema_metadata({_DIGEST: _digest(table)}), unfinished)

    def claim(self, key: str) -> int | None:
        """A lock on a part, to be released when it is finished, or None if another run holds it."""
        return self.locks.claim(key)

    def release(self, key: str, handle: int) -> None:
        """Give a lock back."""
        self.locks.release(key, handle, finished=self.path(key).is_file())

    def tidy(self) -> None:
        """Remove locks of finished parts, which killed runs leave behind."""
        self.locks.tidy(lambda key: self.path(key).is_file())

    def keys(self) -> list[str]:
        """Names of the finished parts."""
        return [key for key in sorted(path.stem for path in self.parts.glob("*.parquet")) if self.has(key)]

    def read(self, keys: Sequence[str]) -> list[Record]:
        """The records of some parts, in the order of the parts and within them; parts that are not there have none."""
        return [record for key in keys if self.has(key) for record in read_part(self.path(key))]

    def query(self, sql: str) -> list[Record]:
        """Rows of an SQL query; ``records`` is the table of all finished records."""
        import duckdb

        with duckdb.connect() as connection:
            # Only what was checked gets there: a reader of its own could stumble over bytes that others do not look at.
            if records := self.read(self.keys()):
                connection.register("records", _table(records))
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def read_part(path: Path) -> list[Record]:
    """The records of a part, in their order.

    Raises:
        FileNotFoundError: There is no such part.
        ValueError: It is not whole, or not what was written.
    """
    parquet = require("pyarrow.parquet", "benchmark")
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is not a regular file")
        file = parquet.ParquetFile(path)
        if file.metadata.num_rows > _MAX_RECORDS or file.metadata.num_columns > _MAX_FIELDS:
            raise ValueError(f"it has {file.metadata.num_rows:,} records of {file.metadata.num_columns:,} fields")
        table = file.read()
        if (table.schema.metadata or {}).get(_DIGEST) != _digest(table):
            raise ValueError("its records are not what was written")
        records: list[Record] = table.to_pylist()
        if any(record["part"] != path.stem for record in records):
            raise ValueError("its records are of another part")
        _table(records)  # a field that is not known, or of another type, would stop every query
    except (FileNotFoundError, PermissionError):
        raise
    except DAMAGE as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(reason.replace(str(path), path.name)) from error
    # An older part may lack metrics that are registered now.
    return [dict.fromkeys(record_fields()) | record for record in records]


def _digest(table: Any) -> bytes:
    """What tells the records of a table from others."""
    return hashlib.sha256(json.dumps(table.to_pylist()).encode()).hexdigest().encode()


def _table(records: Sequence[Record]) -> Any:
    """Records as an Arrow table with all fields."""
    import pyarrow

    names = {name for record in records for name in record}
    fields = record_fields(names)
    if unknown := sorted(names - set(fields)):
        raise ValueError(f"records: unknown fields {', '.join(unknown)}")
    types = {"string": pyarrow.string(), "int": pyarrow.int64(), "bool": pyarrow.bool_(), "float": pyarrow.float64()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in fields.items()])
    return pyarrow.table({name: [record.get(name) for record in records] for name in fields}, schema=schema)


def item_of(record: Record) -> int | str:
    """The graph or the image that a record is about."""
    image: str | None = record.get("image")
    return int(record["graph"]) if image is None else image
