"""Runs that are killed, or told to stop, at random moments."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from machines import family, is_running

from fault_rows import Trials, fault
from fault_rows.small_work import (
    corpus_results,
    difference,
    leftovers,
    plan_results,
    run_small_corpus,
    run_small_list,
    run_small_plan,
    small_plan,
)

_STAYS = "what is finished stays, the next run completes the rest, nothing differs, nothing is left behind"


def _killed_again_and_again(
    run: Callable[[Path], Any],
    results: Callable[[Path], dict[str, str]],
    trials: Trials,
) -> Iterator[str]:
    """Kill a run at a random moment of its life, look at what is there, start it again; complete it in the end."""
    folder = trials.folder
    context = multiprocessing.get_context("fork")  # everything is imported: the moments are moments of work
    started = time.perf_counter()
    run(folder / "undisturbed")
    duration = time.perf_counter() - started
    expected, place = results(folder / "undisturbed"), 0
    names: set[str] = set()
    for _ in range(trials.count):
        process = context.Process(target=run, args=(folder / str(place),))
        process.start()
        process.join(trials.generator.random() * duration)
        finished = process.exitcode is not None
        process.kill()
        process.join()
        stored = results(folder / str(place)) if (folder / str(place)).exists() else {}
        loss = difference(expected, stored, names)
        names = set(stored)
        if finished:
            # This one was done before its time: it must be complete, and the next begins anew.
            loss = loss or difference(expected, stored, expected) or str(leftovers(folder / str(place)) or "")
            place, names = place + 1, set()
        yield loss
    run(folder / str(place))
    if loss := difference(expected, results(folder / str(place)), expected) or str(
        leftovers(folder / str(place)) or ""
    ):
        yield f"after all kills: {loss}"


@fault("SIGKILL of a benchmark at a random moment", _STAYS, tries=40, short=4)
def kills_of_a_benchmark(trials: Trials) -> Iterator[str]:
    plan = small_plan()
    run = lambda place: run_small_plan(place, plan=plan)  # noqa: E731 (a process is forked with it)
    yield from _killed_again_and_again(run, lambda place: plan_results(plan, place), trials)


@fault("SIGKILL of explain --all at a random moment", _STAYS, tries=40, short=4)
def kills_of_a_corpus(trials: Trials) -> Iterator[str]:
    yield from _killed_again_and_again(run_small_corpus, corpus_results, trials)


@fault("SIGKILL of explain_many at a random moment", _STAYS, tries=20, short=4)
def kills_of_a_list(trials: Trials) -> Iterator[str]:
    yield from _killed_again_and_again(run_small_list, corpus_results, trials)


_SCRIPT = """
import sys
from pathlib import Path
from fault_rows.small_work import run_small_plan, small_plan
from mage.experiments import LocalEngine

if __name__ == "__main__":
    say = lambda batch: print(batch.key, flush=True)
    run_small_plan(Path(sys.argv[1]), LocalEngine(2), small_plan(graphs=200), on_part=say)
"""


@fault(
    "SIGKILL, SIGTERM, SIGHUP or SIGINT of a benchmark with two workers",
    "its workers end although nobody waits for it, its locks are free, its temporary files are gone",
    tries=12,
    short=2,
)
def ends_of_a_run_with_workers(trials: Trials) -> Iterator[str]:
    numbers = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    temporary = Path(tempfile.gettempdir())
    for turn in range(trials.count):
        before = set(temporary.glob("mage*"))
        place = trials.folder / str(turn)
        command = [sys.executable, "-W", "ignore", "-c", _SCRIPT, str(place)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)  # noqa: S603
        for _ in range(1 + int(trials.generator.integers(4))):
            assert run.stdout is not None
            run.stdout.readline()
        workers = family(run.pid) - {run.pid}
        run.send_signal(numbers[turn % len(numbers)])
        # Not waited for: to the system, the killed run is still there while its workers should go.
        for _ in range(600):
            if not any(map(is_running, {run.pid, *workers})):
                break
            time.sleep(0.1)
        left = [process for process in workers if is_running(process)]
        run.wait()
        locks = [path.name for path in (place / "locks").iterdir() if not _is_free(path)]
        files = [path.name for path in set(temporary.glob("mage*")) - before]
        yield "" if not (left or locks or files) else f"{len(left)} workers, {len(locks)} locks, {files}"


def _is_free(lock: Path) -> bool:
    from mage.experiments.locks import Locks

    handle = Locks(lock.parent).claim(lock.name)
    if handle is not None:
        os.close(handle)
    return handle is not None
