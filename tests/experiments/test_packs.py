import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from mage.experiments import Store
from mage.experiments.records import write_records

A, B, C = ("a" * 32, "b" * 32, "c" * 32)


def records(dataset, *graphs):
    return [{"position": i, "graph": graph, "dataset": dataset, "f1": 0.25} for i, graph in enumerate(graphs)]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    store.write(A, records("first", 1, 2))
    store.write(B, records("second", 3))
    return store


def test_a_pack_for_each_dataset_holds_the_same_parts(store):
    before = store.read([B, A])
    store.pack()
    assert sorted(path.name for path in store.packs.folder.iterdir()) == ["first.parquet", "second.parquet"]
    assert list(store.parts.iterdir()) == []
    again = Store(store.folder)
    assert again.read([B, A]) == before
    assert again.keys() == [A, B]
    assert again.has(A)
    assert not again.has(C)
    assert again.query("SELECT count(*) AS n FROM records") == [{"n": 3}]


def test_packs_grow(store):
    store.pack()
    store.write(C, records("first", 9))
    store.pack()
    assert sorted(path.name for path in store.packs.folder.iterdir()) == ["first.parquet", "second.parquet"]
    assert [record["graph"] for record in store.read([A, B, C])] == [1, 2, 3, 9]


def test_a_loose_part_comes_before_a_packed_one(store):
    store.pack()
    store.write(A, records("first", 7))
    assert [record["graph"] for record in store.read([A])] == [7]
    store.pack()
    assert [record["graph"] for record in Store(store.folder).read([A])] == [7]


def test_parts_of_another_store_are_copied(store, tmp_path):
    other_store = Store(tmp_path / "kept")
    other_store.write(C, records("first", 5))
    other_store.pack([store])
    assert other_store.keys() == [A, B, C]
    assert store.keys() == [A, B]


def test_a_damaged_pack_is_set_aside(store):
    store.pack()
    path = store.packs.folder / "first.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)
    again = Store(store.folder)
    with pytest.warns(UserWarning, match="is damaged and is set aside"):
        assert again.keys() == [B]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not again.has(A)
        assert [record["graph"] for record in again.read([A, B])] == [3]


def test_names_of_datasets_are_no_paths(store):
    store.write(C, records("../my_module:graphs", 4))
    store.pack()
    assert "-my_module-graphs.parquet" in {path.name for path in store.packs.folder.iterdir()}


def test_runs_that_pack_at_once_lose_nothing(tmp_path):
    names = [f"{number:032d}" for number in range(24)]
    for name in names:
        Store(tmp_path).write(name, records("x", 1))

    def pack_some(turn):
        runs = Store(tmp_path)
        runs.packs.add({name: runs.read([name]) for name in names[turn::4]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(pack_some, range(4)))
    assert Store(tmp_path).packs.keys() == set(names)


def test_a_part_that_is_computed_again_while_it_is_packed_stays(store):
    key = "a" * 32
    handle = store.claim(key)
    Store(store.folder).pack()
    assert store.path(key).is_file()  # whoever holds the lock may be about to replace it
    store.write(key, records("x", 7), locked=True)
    store.release(key, handle)
    assert [record["graph"] for record in store.read([key])] == [7]


def test_adding_to_a_damaged_pack_sets_it_aside(store):
    store.pack()
    for path in store.packs.folder.iterdir():
        path.write_bytes(path.read_bytes()[:-20])
    fresh = Store(store.folder)
    fresh.write("f" * 32, records("x", 9))
    with pytest.warns(UserWarning, match="damaged"):
        fresh.pack()
    assert fresh.keys() == ["f" * 32]


def test_records_of_no_part_are_damage(store):
    store.packs.folder.mkdir()
    write_records(store.packs.folder / "x.parquet", records("x", 1))
    keys = store._loose_keys()
    with pytest.warns(UserWarning, match="of no part"):
        assert store.keys() == keys
