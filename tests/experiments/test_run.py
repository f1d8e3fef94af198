import signal
import subprocess
import sys
import threading

import pytest

from mage.experiments import (
    LocalEngine,
    SerialEngine,
    Store,
    make_plan,
    run_plan,
)
from tests.helpers.experiments import SmallInputs, comparable, small_experiment


def test_all_graphs_and_methods_are_there(undisturbed):
    assert len(undisturbed) == 12
    assert {dict(record)["method"] for record in undisturbed} == {"mage", "mage-st"}


def test_a_second_run_computes_nothing(tmp_path, inputs, monkeypatch):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), inputs, limit=6, batch_size=2)
    batches = []
    run_plan(plan, store, SerialEngine(), on_part=batches.append)
    assert len(batches) == 6
    run_plan(plan, store, SerialEngine(), on_part=batches.append)
    assert len(batches) == 6
    # A longer run shares the batches of the shorter one.
    longer = make_plan(small_experiment(), inputs, limit=8, batch_size=2)
    assert len(longer.missing(store)) == 2


def test_processes_give_the_same_records(tmp_path, inputs, undisturbed):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), inputs, limit=6, batch_size=2)
    run_plan(plan, store, LocalEngine(2))
    assert comparable(plan.records(store)) == undisturbed


def test_batches_do_not_change_the_records(tmp_path, inputs, undisturbed):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), inputs, limit=6, batch_size=4)
    run_plan(plan, store, SerialEngine())

    def without_place(records):
        return sorted([pair for pair in record if pair[0] not in {"part", "position"}] for record in records)

    assert without_place(comparable(plan.records(store))) == without_place(undisturbed)


def test_an_interrupted_run_takes_up_where_it_stopped(tmp_path, inputs, undisturbed):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), inputs, limit=6, batch_size=2)
    keys = []

    def stop_after_two(batch):
        keys.append(batch.key)
        if len(keys) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, store, SerialEngine(), on_part=stop_after_two)
    assert len(plan.missing(store)) == 4
    run_plan(plan, store, SerialEngine(), on_part=lambda batch: keys.append(batch.key))
    assert len(keys) == len(set(keys)) == 6
    assert comparable(plan.records(store)) == undisturbed


SCRIPT = """
import os, signal, sys
from mage.experiments import LocalEngine, Store, make_plan, run_plan
from tests.helpers.experiments import SmallInputs, small_experiment

if __name__ == "__main__":
    plan = make_plan(small_experiment(), SmallInputs(), limit=6, batch_size=1)
    left = int(sys.argv[3])
    with open(sys.argv[2], "a") as log:

        def kept(batch):
            global left
            print(batch.key, file=log, flush=True)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        run_plan(plan, Store(sys.argv[1]), LocalEngine(1), on_part=kept)
"""


def start(store, log, killed_after=-1):
    """A run in a process of its own, which may kill itself after so many batches."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(store), str(log), str(killed_after)]
    return subprocess.Popen(command)


def parts_of(store):
    return list((store / "parts").glob("*.parquet")) if store.is_dir() else []


@pytest.mark.long
def test_sigkill_in_the_middle_loses_nothing(tmp_path, inputs, undisturbed):
    folder, log = tmp_path / "store", tmp_path / "log"
    assert start(folder, log, killed_after=3).wait() == -signal.SIGKILL
    finished = len(parts_of(folder))
    assert 3 <= finished < 12
    assert start(folder, log).wait() == 0
    keys = log.read_text().split()
    assert len(keys) == len(set(keys))
    assert len(parts_of(folder)) == 12
    plan = make_plan(small_experiment(), inputs, limit=6, batch_size=1)

    def without_place(records):
        return sorted([pair for pair in record if pair[0] not in {"part", "position"}] for record in records)

    assert without_place(comparable(plan.records(Store(folder)))) == without_place(undisturbed)


def test_two_runs_at_once_share_the_work(tmp_path, undisturbed):
    folder = tmp_path / "store"
    # Each run has a network of its own, as it would have in a process of its own.
    plans = [make_plan(small_experiment(), SmallInputs(), limit=6, batch_size=2) for _ in range(2)]
    keys = []

    def one_run(plan):
        run_plan(plan, Store(folder), SerialEngine(), on_part=lambda batch: keys.append(batch.key))

    threads = [threading.Thread(target=one_run, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == len(set(keys)) == 6
    assert comparable(plans[0].records(Store(folder))) == undisturbed
