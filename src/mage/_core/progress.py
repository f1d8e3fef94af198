"""A progress bar for long work, shown on terminals only."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Ticker(Protocol):
    """What the work calls when it has done some more."""

    def __call__(self, amount: float, /) -> None:
        """Report that ``amount`` more has been done."""


@contextmanager
def progress_bar(description: str, total: float, enabled: bool | None = None) -> Iterator[Ticker]:
    """Show how far the work has come.

    Args:
        description: What is being done.
        total: Amount that makes the work complete.
        enabled: True or False to force; None shows the bar on a terminal only.
    """
    if enabled is False or (enabled is None and not sys.stderr.isatty()):
        # Without rich, which takes a while to import and draws from Python's random numbers when it is.
        yield lambda _amount, /: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, force_terminal=enabled or None)
    # The spinner and the elapsed time move while a long step goes on.
    columns: tuple[ProgressColumn, ...] = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(None))
    columns += (TaskProgressColumn(), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(description, total=total)

        def advance(amount: float, /) -> None:
            bar.advance(task, amount)

        yield advance
