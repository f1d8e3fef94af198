"""Results on disk: one Parquet part per finished batch of graphs, named by all that determines it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mage._core.files import atomic_path
from mage._core.optional import require

SCHEMA_VERSION = 1
"""Part of every key; raised when records change their meaning."""

Record = dict[str, Any]


def key_of(determined_by: Mapping[str, Any]) -> str:
    """A name for what some plain values determine."""
    text = json.dumps({"schema": SCHEMA_VERSION, **determined_by}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


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

        names = sorted({name for record in records for name in record} - set(COLUMNS))
        if names:
            raise ValueError(f"records: unknown fields {', '.join(names)}")
        columns = {name: [record.get(name) for record in records] for name in COLUMNS}
        schema = pyarrow.schema([(name, _arrow_type(kind)) for name, kind in COLUMNS.items()])
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
        found = self.query(
            f"SELECT * EXCLUDE (part), part FROM read_parquet({_list(self.path(key) for key in present)})"  # noqa: S608
        )
        rank = {key: position for position, key in enumerate(present)}
        return sorted(found, key=lambda record: (rank[record["part"]], record["position"]))

    def query(self, sql: str) -> list[Record]:
        """Rows of an SQL query; ``records`` is the table of all finished records."""
        import duckdb

        with duckdb.connect() as connection:
            if any(self.parts.glob("*.parquet")):
                pattern = _quoted(self.parts) + "/*.parquet"
                connection.execute(f"CREATE VIEW records AS SELECT * FROM read_parquet('{pattern}')")  # noqa: S608
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


# What is known of an explained graph. Metrics that a run does not compute are empty.
COLUMNS: dict[str, str] = {
    "part": "string",
    "position": "int",
    "dataset": "string",
    "model": "string",
    "method": "string",
    "seed": "int",
    "graph": "int",
    "num_nodes": "int",
    "target": "int",
    "error": "string",
    "nodes": "string",
    "optimal": "bool",
    "f1": "float",
    "ami": "float",
    "auc": "float",
    "fid": "float",
    "fid_plus": "float",
    "fid_minus": "float",
    "fid_alpha": "float",
    "fid_alpha_error": "float",
    "fid_alpha_07": "float",
    "fid_alpha_07_error": "float",
    "sparsity": "float",
    "queries": "float",
    "seconds": "float",
}


def _arrow_type(kind: str) -> Any:
    import pyarrow

    return {"string": pyarrow.string(), "int": pyarrow.int64(), "bool": pyarrow.bool_(), "float": pyarrow.float64()}[
        kind
    ]


def _list(paths: Iterator[Path]) -> str:
    return "[" + ", ".join(f"'{_quoted(path)}'" for path in paths) + "]"


def _quoted(path: Path) -> str:
    """A path inside an SQL string, none of whose characters stands for others."""
    return re.sub(r"([\[*?])", r"[\1]", path.as_posix()).replace("'", "''")
