import warnings

import pytest

from mage.experiments import Store

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
    kept = Store(tmp_path / "kept")
    kept.write(C, records("first", 5))
    kept.pack([store])
    assert kept.keys() == [A, B, C]
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
