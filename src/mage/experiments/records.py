"""Records of results: what may be known of one, and files that hold many."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mage._core.archive import DAMAGE
from mage._core.files import atomic_path
from mage._core.optional import require
from mage.metrics import METRICS

Record = dict[str, Any]

_DIGEST = b"mage.digest"
_MAX_RECORDS, _MAX_FIELDS = 1_000_000, 1000  # of a file; a small file can hold any number of equal ones

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


def write_records(path: Path, records: Sequence[Record], locked: bool = False) -> None:
    """Write a Parquet file of records, whole or not at all.

    Args:
        path: The file.
        records: What it holds.
        locked: Whether this run holds the lock on it.
    """
    from pyarrow import parquet

    table = records_table(records)
    with atomic_path(path, locked) as unfinished:
        signed = table.replace_schema_metadata({_DIGEST: _digest(table)})
        parquet.write_table(signed, unfinished, compression="zstd", compression_level=9)


def read_records(path: Path) -> list[Record]:
    """The records of a file, in their order.

    Raises:
        FileNotFoundError: There is no such file.
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
        if not all(isinstance(record.get("part"), str) for record in records):
            raise ValueError("some of its records are of no part")
        records_table(records)  # a field that is not known, or of another type, would stop every query
    except (FileNotFoundError, PermissionError):
        raise
    except DAMAGE as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(reason.replace(str(path), path.name)) from error
    # An older file may lack metrics that are registered now.
    return [dict.fromkeys(record_fields()) | record for record in records]


def _digest(table: Any) -> bytes:
    """What tells the records of a table from others."""
    return hashlib.sha256(json.dumps(table.to_pylist()).encode()).hexdigest().encode()


def records_table(records: Sequence[Record]) -> Any:
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
