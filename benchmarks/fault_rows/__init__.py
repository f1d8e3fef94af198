"""Rows of ``benchmarks/faults.py``: faults that are injected, and what is promised about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Trials:
    """What a row has to work with.

    Args:
        count: How often the fault is tried.
        generator: Random moments and places.
        folder: An empty folder.
        short: Whether this is the short form.
    """

    count: int
    generator: np.random.Generator
    folder: Path
    short: bool = False


Inject = Callable[[Trials], Iterator[str]]
"""Tries a fault; gives one text for each try, empty where nothing is lost."""


@dataclass(frozen=True)
class Row:
    """A fault.

    Args:
        name: What is done.
        promise: What holds nevertheless.
        tries: How often it is tried.
        short: How often in the short form.
        inject: Does it.
    """

    name: str
    promise: str
    tries: int
    short: int
    inject: Inject


ROWS: list[Row] = []
"""All rows, in the order in which their modules are imported."""


def fault(name: str, promise: str, tries: int, short: int) -> Callable[[Inject], Inject]:
    """A decorator that makes a function a row; see :class:`Row`."""

    def add(inject: Inject) -> Inject:
        ROWS.append(Row(name, promise, tries, short, inject))
        return inject

    return add
