"""``mage benchmark --all-tables``: every cell of the tables, what is finished, and the rest computed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mage.cli._app import announce, print_json
from mage.cli._console import SafeConsole
from mage.cli._options import report_failures

if TYPE_CHECKING:
    from mage.experiments import AllTables, CellStatus, Engine, Store


def default_store(all_tables: bool) -> Path:
    """The folder of results if none is named: for all tables the tracked ones, in a checkout of the project."""
    tracked = Path("results")
    return tracked if all_tables and (tracked / "packs").is_dir() else Path("mage-results")


def authors_folder(checkpoints: Path | None) -> Path:
    """The folder of the authors' checkpoints: the one that is named, or ``authors_checkpoints`` in ``MAGE_DATA``."""
    if checkpoints is not None:
        return checkpoints
    root = os.environ.get("MAGE_DATA")
    folder = Path(root or ".") / "authors_checkpoints"
    if root is None or not folder.is_dir():
        raise ValueError(
            "--checkpoints: the tables are about the networks of the paper's authors; name their folder, "
            "or put it into MAGE_DATA as authors_checkpoints"
        )
    return folder


def say_tables_status(console: SafeConsole, tables: AllTables, store: Store, as_json: bool) -> None:
    """How much of each cell is finished, and of all."""
    statuses = tables.status(store.read(store.keys()))
    finished = sum(status.is_finished for status in statuses)
    percent = 100 * finished / len(statuses)
    if as_json:
        print_json({"finished": finished, "cells": len(statuses), "percent": percent, "missing": _missing(statuses)})
    for status in statuses:
        if not status.is_finished:
            console.print(_line(status), highlight=False, markup=False)
    summary = f"{finished} of {len(statuses)} cells are finished, {percent:.0f} %"
    console.print(summary, highlight=False, markup=False)


def run_tables(
    console: SafeConsole,
    tables: AllTables,
    store: Store,
    engine: Engine,
    folders: tuple[Path | None, Path | None],
    retry_failed: bool,
) -> None:
    """Compute what is missing in all tables."""
    from mage.experiments import Inputs

    root, checkpoints = folders
    inputs = Inputs(root, authors_folder(checkpoints), zoo_where_missing=True)

    def announce_cell(cell: Any, _gaps: Any) -> None:
        announce(f"{' '.join(cell.name[:3])}, {cell.graphs} graphs")

    gaps = tables.run(store, inputs, engine, announce_cell, retry_failed)
    for name, reason in gaps.items():
        console.print(f"{' '.join(name)}: {reason}", highlight=False, markup=False)
    statuses = tables.status(store.read(store.keys()))
    report_failures([_line(status) for status in statuses if status.failed])


def _missing(statuses: list[CellStatus]) -> list[dict[str, Any]]:
    keys = ("dataset", "model", "method")
    return [
        {
            **dict(zip(keys, status.cell.name, strict=False)),
            "finished": status.finished,
            "all": status.cell.wanted,
            "failed": status.failed,
        }
        for status in statuses
        if not status.is_finished
    ]


def _line(status: CellStatus) -> str:
    failures = f", {status.failed} failed: {status.reason}" if status.failed else ""
    return f"{' '.join(status.cell.name[:3])}: {status.finished} of {status.cell.wanted}{failures}"
