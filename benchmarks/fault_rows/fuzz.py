"""Random inputs for what reads files and arguments of others. Hypothesis makes them."""

from __future__ import annotations

from collections.abc import Iterator

from fault_rows import Trials, fault
from fault_rows.limited import CAP, attempt

_AT_ONCE = 250
_PROMISE = f"an answer or an error that names what is wrong; nothing uncaught; memory stays below {CAP / 1e9:.1f} GB"


def _tried(trials: Trials, function: str) -> Iterator[str]:
    """So many inputs at a time, in a process of its own; each input is a try."""
    for turn, start in enumerate(range(0, trials.count, _AT_ONCE)):
        count = min(_AT_ONCE, trials.count - start)
        folder = trials.folder / str(turn)
        folder.mkdir()
        loss, _ = attempt(f"fault_rows.fuzz_inputs:{function}", str(folder), count, turn)
        yield from [""] * (count - bool(loss))
        if loss:
            yield loss


@fault("fuzz: random and damaged files for mage.load", _PROMISE, tries=6000, short=100)
def fuzz_load(trials: Trials) -> Iterator[str]:
    yield from _tried(trials, "load")


@fault("fuzz: random and damaged parts of a store", _PROMISE, tries=2250, short=50)
def fuzz_store(trials: Trials) -> Iterator[str]:
    yield from _tried(trials, "store")


@fault("fuzz: random arguments and files for the command line", _PROMISE, tries=2250, short=50)
def fuzz_command_line(trials: Trials) -> Iterator[str]:
    yield from _tried(trials, "command_line")
