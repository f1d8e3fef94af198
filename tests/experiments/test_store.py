import multiprocessing
import os
import signal
import warnings

import numpy as np
import pytest

from mage.experiments import SerialEngine, Store, make_plan, run_plan
from mage.experiments.store import key_of
from tests.helpers.experiments import small_experiment
from tests.helpers.locks import hold


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def records(*graphs):
    return [{"position": i, "graph": graph, "dataset": "d", "f1": 0.5} for i, graph in enumerate(graphs)]


def test_records_come_back_in_order(store):
    store.write("b" * 32, records(7, 3))
    store.write("a" * 32, records(9))
    stored = store.read(["b" * 32, "a" * 32, "c" * 32])
    assert [record["graph"] for record in stored] == [7, 3, 9]
    assert stored[0]["ami"] is None
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
    assert list(store.locks.folder.iterdir()) == []


def test_locks_of_finished_parts_are_removed(tmp_path, inputs):
    """A run that is killed after it wrote a part, and before it gave the lock back, leaves a file behind."""
    plan, store = make_plan(small_experiment(), inputs, limit=2, batch_size=1), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    claimed, finished = plan.batches[0].key, plan.batches[1].key
    for key in (claimed, finished, "f" * 32):
        (store.locks.folder / key).touch()
    lock = store.claim(claimed)
    run_plan(plan, store, SerialEngine())
    assert {path.name for path in store.locks.folder.iterdir()} == {claimed, "f" * 32}
    os.close(lock)


def test_the_lock_of_a_killed_run_is_free(store):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=hold, args=(store.folder, "a" * 32, ready))
    holder.start()
    while not ready.wait(1):
        assert holder.is_alive()
    assert store.claim("a" * 32) is None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    assert store.claim("a" * 32) is not None


# -- damage ---------------------------------------------------------------------------------------------------------


def damaged(store):
    return [path.name for path in (store.folder / "damaged").glob("*")]


def test_every_truncation_is_found_and_set_aside(store):
    store.write("a" * 32, records(7, 3))
    content = store.path("a" * 32).read_bytes()
    for size in [*range(0, len(content), len(content) // 60), len(content) - 1]:
        store.path("a" * 32).write_bytes(content[:size])
        with pytest.warns(UserWarning, match=f"{'a' * 32}.parquet is damaged and is set aside as .*/damaged/"):
            assert not store.has("a" * 32)
        assert damaged(store) == [f"{'a' * 32}.parquet"]
        assert not store.path("a" * 32).exists()
    store.write("a" * 32, records(7, 3))
    assert [record["graph"] for record in store.read(["a" * 32])] == [7, 3]


def test_changed_bytes_never_change_a_record(store):
    store.write("a" * 32, records(7, 3))
    expected = store.read(["a" * 32])
    content = store.path("a" * 32).read_bytes()
    generator = np.random.default_rng(0)
    num_detected = 0
    for place in range(0, len(content), len(content) // 100):
        changed = bytearray(content)
        changed[place] ^= 1 << int(generator.integers(8))
        store.path("a" * 32).write_bytes(bytes(changed))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            left = store.read(["a" * 32])
        assert left == ([] if caught else expected)
        if left:
            # DuckDB would refuse bytes that Arrow does not look at.
            assert store.query("SELECT count(*) AS n FROM records") == [{"n": 2}]
        num_detected += bool(caught)
    assert num_detected > 50


def test_a_damaged_part_blocks_no_other(store):
    for key in ("a" * 32, "b" * 32, "c" * 32):
        store.write(key, records(1))
    store.path("b" * 32).write_bytes(store.path("b" * 32).read_bytes()[:100])
    with pytest.warns(UserWarning, match="damaged"):
        assert store.query("SELECT count(*) AS n FROM records") == [{"n": 2}]
    assert store.keys() == ["a" * 32, "c" * 32]
    assert len(store.read(["a" * 32, "b" * 32, "c" * 32])) == 2


def test_a_part_under_another_name_is_damage(store):
    store.write("a" * 32, records(1))
    store.path("a" * 32).rename(store.path("b" * 32))
    with pytest.warns(UserWarning, match="its records are of another part"):
        assert not store.has("b" * 32)


def test_a_damaged_part_that_a_run_is_about_to_replace_is_left_to_it(store):
    store.path("a" * 32).write_bytes(b"PAR1")
    handle = store.claim("a" * 32)
    assert not Store(store.folder).has("a" * 32)
    assert damaged(store) == []
    store.write("a" * 32, records(1), locked=True)
    store.release("a" * 32, handle)
    assert store.has("a" * 32)


def test_what_a_killed_run_left_behind_is_written_over(store):
    (store.parts / f".{'a' * 32}.parquet.part").write_bytes(b"half")
    handle = store.claim("a" * 32)
    store.write("a" * 32, records(1), locked=True)
    store.release("a" * 32, handle)
    assert [path.name for path in store.parts.iterdir()] == [f"{'a' * 32}.parquet"]


def test_damage_that_changes_neither_time_nor_size_is_found(store):
    for key in ("a" * 32, "b" * 32):
        store.write(key, records(1))
        assert store.has(key)
    path = store.path("a" * 32)
    status, content = path.stat(), path.read_bytes()
    path.write_bytes(bytes(byte ^ 255 for byte in content))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.warns(UserWarning, match="damaged"):
        assert len(store.read(["a" * 32, "b" * 32])) == 1
    assert store.query("SELECT count(*) AS n FROM records") == [{"n": 1}]


def _no_file(kind, path):
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path.name)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with names")
@pytest.mark.parametrize("kind", ["folder", "pipe", "link to itself"])
def test_what_is_no_file_is_set_aside_again_and_again(store, kind):
    key, other = "a" * 32, "b" * 32
    store.write(other, records(3))
    for turn in range(3):  # damage of another kind may lie there from the last time
        if turn == 1:
            store.path(key).write_bytes(b"damaged")
        else:
            _no_file(kind, store.path(key))
        with pytest.warns(UserWarning, match="is damaged and is set aside"):
            assert not Store(store.folder).has(key)
        assert not os.path.lexists(store.path(key))
    assert store.query("SELECT count(*) AS n FROM records") == [{"n": 1}]
