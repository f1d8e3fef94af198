"""Graphs in arrays: chosen, joined, and made when they are needed."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mage.datasets import Columns, LazyColumns, concatenate, load

COUNT = 40


@pytest.fixture(scope="module")
def columns():
    return load("ba_house_and_grid", count=COUNT).columns


class Spy:
    """Gives graphs of known columns, and remembers which."""

    def __init__(self, columns):
        self.columns = columns
        self.seen = []

    def __call__(self, positions):
        self.seen += positions.tolist()
        return self.columns.take(positions)


def lazy(columns):
    spy = Spy(columns)
    return LazyColumns(columns.labels, columns.num_node_features, spy, "test"), spy


def assert_equal(first, second):
    assert (first.node_start == second.node_start).all()
    assert (first.edge_start == second.edge_start).all()
    assert torch.equal(first.edge_index, second.edge_index)
    for of_first, of_second in (
        (first.nodes, second.nodes),
        (first.edges, second.edges),
        (first.graphs, second.graphs),
    ):
        assert of_first.keys() == of_second.keys()
        assert all(torch.equal(of_first[name], of_second[name]) for name in of_first)


def test_parts_joined_again_are_the_whole(columns):
    assert_equal(concatenate([columns.take(np.arange(7)), columns.take(np.arange(7, COUNT))]), columns)


@given(st.lists(st.lists(st.integers(0, COUNT - 1), max_size=8), min_size=1, max_size=12))
def test_lazy_graphs_are_the_same_and_made_once(requests):
    columns = load("ba_house_and_grid", count=COUNT).columns
    lazy_columns, spy = lazy(columns)
    for positions in requests:
        assert_equal(lazy_columns.take(positions), columns.take(positions))
    distinct = {position for positions in requests for position in positions}
    assert sorted(spy.seen) == sorted(distinct)


def test_many_small_requests_leave_few_parts(columns):
    lazy_columns, spy = lazy(columns)
    for position in range(COUNT):
        lazy_columns.take([position])
    assert len(lazy_columns._parts) <= np.log2(COUNT) + 1
    assert len(spy.seen) == COUNT


def test_lazy_graphs_know_labels_and_width_without_being_made(columns):
    lazy_columns, spy = lazy(columns)
    assert len(lazy_columns) == COUNT
    assert lazy_columns.labels.tolist() == columns.labels.tolist()
    assert lazy_columns.num_node_features == columns.num_node_features
    assert spy.seen == []
    assert [part.tolist() for part in lazy_columns.sizes([3, 1])] == [part.tolist() for part in columns.sizes([3, 1])]
    assert sorted(spy.seen) == [1, 3]


def test_lazy_graphs_can_be_sent_to_other_processes(columns):
    lazy_columns, _ = lazy(columns)
    lazy_columns.take([5])
    assert_equal(pickle.loads(pickle.dumps(lazy_columns)).take([5, 6]), columns.take([5, 6]))  # noqa: S301 (made here)


def test_fingerprints_tell_graphs_apart(columns):
    assert columns.fingerprint() == load("ba_house_and_grid", count=COUNT).columns.fingerprint()
    assert columns.fingerprint() != load("ba_house_and_grid", count=COUNT, seed=1).columns.fingerprint()
    assert isinstance(columns, Columns)
