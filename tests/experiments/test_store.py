import multiprocessing
import os
import signal

import pytest

from mage.experiments import Store
from mage.experiments.store import key_of


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def records(*graphs):
    return [{"position": i, "graph": graph, "dataset": "d", "f1": 0.5} for i, graph in enumerate(graphs)]


def test_records_come_back_in_order(store):
    store.write("b" * 32, records(7, 3))
    store.write("a" * 32, records(9))
    found = store.read(["b" * 32, "a" * 32, "c" * 32])
    assert [record["graph"] for record in found] == [7, 3, 9]
    assert found[0]["ami"] is None
    assert store.query("SELECT count(*) AS n, avg(f1) AS f1 FROM records") == [{"n": 3, "f1": 0.5}]


def test_a_part_written_twice_is_there_once(store):
    for _ in range(2):
        store.write("a" * 32, records(1, 2))
    assert len(store.query("SELECT * FROM records")) == 2
    assert [path.name for path in store.parts.iterdir()] == [f"{'a' * 32}.parquet"]


def test_unknown_fields_are_refused_and_leave_nothing(store):
    with pytest.raises(ValueError, match="unknown fields surprise"):
        store.write("a" * 32, [{"surprise": 1}])
    assert list(store.parts.iterdir()) == []


def test_an_empty_store_is_no_error(store):
    assert store.read(["a" * 32]) == []


@pytest.mark.parametrize("name", ["it's mine", "results[1]", "what?*"])
def test_folders_with_odd_names_work(tmp_path, name):
    store = Store(tmp_path / name)
    store.write("a" * 32, records(1))
    assert len(store.read(["a" * 32])) == 1
    assert len(store.query("SELECT * FROM records")) == 1


def test_keys_tell_all_apart():
    first = key_of({"a": 1, "b": [1, 2]})
    assert first == key_of({"b": [1, 2], "a": 1})
    assert len({first, key_of({"a": 1, "b": [2, 1]}), key_of({"a": 2, "b": [1, 2]})}) == 3


def test_one_run_at_a_time_holds_a_part(store):
    handle = store.claim("a" * 32)
    assert handle is not None
    assert store.claim("a" * 32) is None
    store.release("a" * 32, handle)
    again = store.claim("a" * 32)
    assert again is not None
    store.write("a" * 32, records(1))
    store.release("a" * 32, again)
    assert list(store.locks.iterdir()) == []


def _hold(folder, ready):
    store = Store(folder)
    store.claim("a" * 32)
    ready.set()
    signal.pause()


def test_the_lock_of_a_killed_run_is_free(store):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(store.folder, ready))
    holder.start()
    while not ready.wait(1):
        assert holder.is_alive()
    assert store.claim("a" * 32) is None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    assert store.claim("a" * 32) is not None
