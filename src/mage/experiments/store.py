"""Results on disk: one Parquet part per finished batch of graphs, named by all that determines it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mage._core.files import atomic_path
from mage._core.optional import require
from mage.metrics import METRICS

SCHEMA_VERSION = 1
"""Part of every key; raised when records change their meaning."""

Record = dict[str, Any]


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
        self.locks = self.folder / "locks"
        for path in (self.parts, self.locks):
            path.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Where a part is, or would be."""
        return self.parts / f"{key}.parquet"

    def has(self, key: str) -> bool:
        """Whether a part is finished."""
        return self.path(key).is_file()

    def write(self, key: str, records: Sequence[Record]) -> None:
        """Keep a finished part."""
        import pyarrow
        from pyarrow import parquet

        names = {name for record in records for name in record}
        fields = record_fields(names)
        if unknown := sorted(names - set(fields)):
            raise ValueError(f"records: unknown fields {', '.join(unknown)}")
        columns = {name: [record.get(name) for record in records] for name in fields}
        schema = pyarrow.schema([(name, _arrow_type(kind)) for name, kind in fields.items()])
        table = pyarrow.table({**columns, "part": [key] * len(records)}, schema=schema)
        with atomic_path(self.path(key)) as unfinished:
            parquet.write_table(table, unfinished)

    def claim(self, key: str) -> int | None:
        """A lock on a part, to be released when it is finished, or None if another run holds it."""
        import fcntl

        handle = os.open(self.locks / key, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        return handle

    def release(self, key: str, handle: int) -> None:
        """Give a lock back."""
        if self.has(key):
            # Nobody needs the file any more: whoever locks an old or a new one finds the part finished.
            (self.locks / key).unlink(missing_ok=True)
        os.close(handle)

    def read(self, keys: Sequence[str]) -> list[Record]:
        """The records of some parts, in the order of the parts and within them."""
        present = [key for key in keys if self.has(key)]
        if not present:
            return []
        found = self.query(f"SELECT * FROM {_records_of(_list(self.path(key) for key in present))}")  # noqa: S608
        rank = {key: position for position, key in enumerate(present)}
        return sorted(found, key=lambda record: (rank[record["part"]], record["position"]))

    def query(self, sql: str) -> list[Record]:
        """Rows of an SQL query; ``records`` is the table of all finished records."""
        import duckdb

        with duckdb.connect() as connection:
            if any(self.parts.glob("*.parquet")):
                every = _records_of(f"'{_quoted(self.parts)}/*.parquet'")
                connection.execute(f"CREATE VIEW records AS SELECT * FROM {every}")  # noqa: S608
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _arrow_type(kind: str) -> Any:
    import pyarrow

    return {"string": pyarrow.string(), "int": pyarrow.int64(), "bool": pyarrow.bool_(), "float": pyarrow.float64()}[
        kind
    ]


def _records_of(files: str) -> str:
    """The records of some files as an SQL table; older parts may lack metrics that newer ones have."""
    return f"read_parquet({files}, union_by_name = true)"


def _list(paths: Iterator[Path]) -> str:
    return "[" + ", ".join(f"'{_quoted(path)}'" for path in paths) + "]"


def _quoted(path: Path) -> str:
    """A path inside an SQL string, none of whose characters stands for others."""
    return re.sub(r"([\[*?])", r"[\1]", path.as_posix()).replace("'", "''")


def item_of(record: Record) -> int | str:
    """The graph or the image that a record is about."""
    image: str | None = record.get("image")
    return int(record["graph"]) if image is None else image
