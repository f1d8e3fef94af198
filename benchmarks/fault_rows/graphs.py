"""Graphs on which a model fails, hangs or dies."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from fault_rows import Trials, fault
from fault_rows.small_work import (
    Fragile,
    corpus_results,
    run_small_corpus,
    run_small_plan,
    small_corpus,
    small_plan,
)
from mage.experiments import Engine, LocalEngine, SerialEngine, Store

_GOES_ON = "it is recorded with its reason, the others are explained, --retry-failed tries it again"


class _TwoPartError(Exception):
    """An exception that pickle cannot make again."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{reason} ({code})")


def _fail() -> None:
    raise _TwoPartError(7, "this graph is too much")


def _hang() -> None:
    time.sleep(3600)


def _hang_in_compiled_code() -> None:
    ctypes.PyDLL(None).sleep(3600)  # no thread of the process gets a turn


def _die() -> None:
    os.abort()


def _check_corpus(misdeed: Callable[[], None], reason: str, engine: Engine, trials: Trials) -> Iterator[str]:
    """One corpus after the other; each bad graph is a try."""
    turn, tried = 0, 0
    while tried < trials.count:
        place = trials.folder / str(turn)
        place.mkdir()
        corpus = small_corpus(Fragile(misdeed, place / "mended"))
        bad = {number for number, data in corpus[1].items() if data.num_nodes == 29}
        entries = {entry.number: entry for entry in run_small_corpus(place / "run", engine, corpus)}
        for number in bad:
            yield "" if _is_failed(entries.get(number), reason) else f"graph {number}: {entries.get(number)}"
        tried += len(bad)
        wrong = [number for number, entry in entries.items() if number not in bad and entry.failure is not None]
        again = run_small_corpus(place / "run", engine, corpus)
        computed = [entry.number for entry in again if not entry.before]
        (place / "mended").touch()
        last = run_small_corpus(place / "run", SerialEngine(), corpus, retry_failed=True)
        failed = [entry.number for entry in last if entry.failure is not None]
        if wrong or computed or failed or len(corpus_results(place / "run")) != len(corpus[1]):
            yield f"blamed {wrong}, computed again {computed}, not mended {failed}"
        turn += 1


def _is_failed(entry: Any, reason: str) -> bool:
    return entry is not None and entry.failure is not None and reason in entry.failure.message


@fault("a graph raises an exception", _GOES_ON, tries=40, short=4)
def failing_graphs(trials: Trials) -> Iterator[str]:
    yield from _check_corpus(_fail, "this graph is too much (7)", SerialEngine(), trials)


@fault("a graph hangs, --timeout 30", _GOES_ON, tries=12, short=4)
def hanging_graphs(trials: Trials) -> Iterator[str]:
    # Long enough for any other graph: a new worker compiles nothing, but loads what was compiled before.
    run_small_corpus(trials.folder / "first", LocalEngine(2))
    yield from _check_corpus(_hang, "not finished after 30 seconds", LocalEngine(2, timeout=30.0), trials)


@fault("a graph hangs in compiled code, --timeout 30", _GOES_ON, tries=4, short=4)
def graphs_hanging_in_compiled_code(trials: Trials) -> Iterator[str]:
    engine = LocalEngine(2, timeout=30.0)
    yield from _check_corpus(_hang_in_compiled_code, "not finished after 30 seconds", engine, trials)


@fault("a graph kills its worker each time (os.abort)", _GOES_ON + "; no other graph is blamed", tries=20, short=4)
def deadly_graphs(trials: Trials) -> Iterator[str]:
    yield from _check_corpus(_die, "killed by SIGABRT", LocalEngine(2), trials)


@fault("a graph of a benchmark raises an exception", _GOES_ON, tries=40, short=4)
def failing_graphs_of_a_benchmark(trials: Trials) -> Iterator[str]:
    turn, tried = 0, 0
    while tried < trials.count:
        marker, place = trials.folder / f"mended{turn}", trials.folder / str(turn)
        plan = small_plan(Fragile(_fail, marker))
        run_small_plan(place, plan=plan)
        records = plan.records(Store(place))
        bad = [record for record in records if record["num_nodes"] == 29]
        for record in bad:
            yield "" if "too much (7)" in (record["error"] or "") else f"graph {record['graph']}: {record['error']}"
        tried += len(bad)
        marker.touch()
        run_small_plan(place, plan=plan, retry_failed=True)
        failed = plan.failures(Store(place))
        if failed or not len(records) == len(plan.records(Store(place))) == len(plan.batches):
            yield f"{len(records)} of {len(plan.batches)} records, {len(failed)} not mended"
        turn += 1
