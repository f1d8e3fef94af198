import dataclasses
import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage import find_motifs
from mage.motifs import MotifRequest
from mage.motifs.request import MotifFields


def test_find_motifs_has_the_fields_and_the_defaults_of_the_request():
    parameters = inspect.signature(find_motifs).parameters
    names = {*parameters, *MotifFields.__annotations__} - {
        *("interactions", "edges", "request", "fields", "least_nodes", "effects")
    }
    assert names == {field.name for field in dataclasses.fields(MotifRequest)}
    matrix, edges = np.diag(np.arange(12.0) - 4), [(v, v + 1) for v in range(11)]
    assert find_motifs(matrix, edges) == find_motifs(matrix, edges, request=MotifRequest())
    assert all(parameters[name].default is None for name in parameters if name in names)


@given(st.integers(1, 99), st.integers(1, 400))
def test_a_share_is_meant_as_it_is_written(percent, num_nodes):
    count = MotifRequest(max_nodes=percent / 100).max_nodes_of(num_nodes)
    assert count == max(1, percent * num_nodes // 100)


@pytest.mark.parametrize(
    ("max_nodes", "num_nodes", "least", "count"),
    [
        (0.29, 100, 1, 29),
        (0.3, 10, 1, 3),
        (0.05, 10, 1, 1),
        (0.05, 10, 2, 2),
        (0.1, 1, 2, 1),
        (1, 10, 2, 1),
        (12, 5, 1, 5),
    ],
)
def test_max_nodes_of_a_graph(max_nodes, num_nodes, least, count):
    assert MotifRequest(max_nodes=max_nodes).max_nodes_of(num_nodes, least) == count


def test_numbers_of_numpy_become_plain_ones():
    request = MotifRequest(np.int64(3), np.float64(0.5), np.float32(0.5), np.True_, include=np.array([1, 2]))
    assert request == MotifRequest(3, 0.5, 0.5, True, include=(1, 2))
    assert type(request.num_motifs) is int
    assert hash(request) == hash(MotifRequest(3, 0.5, 0.5, True, include=(1, 2)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"max_nodes": 1.5},
            r"max_nodes must be a whole number ≥ 1, a share of the nodes in \(0, 1\) or 'auto', got 1.5",
        ),
        ({"max_nodes": 1.0}, "max_nodes"),
        ({"num_motifs": 2.0}, "num_motifs"),
        ({"tau": True}, "tau"),
        ({"tau": "for"}, "tau"),
        ({"noise_floor": -0.1}, "noise_floor"),
        ({"objective": "best"}, "objective must be one of auto, paper"),
        ({"include": "12"}, "include must be a list"),
        ({"node_limit": 1.5}, "node_limit"),
    ],
)
def test_what_no_search_can_use_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MotifRequest(**options)


def test_orders_that_are_not_searched_are_refused():
    MotifRequest().check_order(3)
    with pytest.raises(ValueError, match="order 4"):
        MotifRequest().check_order(4)


def test_arguments_change_the_request():
    matrix, edges = np.ones((6, 6)), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    request = MotifRequest(num_motifs=1, max_nodes=2)
    assert find_motifs(matrix, edges, request=request) == find_motifs(matrix, edges, 1, 2)
    assert find_motifs(matrix, edges, max_nodes=3, tau=0.5, request=request) == find_motifs(matrix, edges, 1, 3, 0.5)
    with pytest.raises(TypeError, match="unknown option 'max_node'; did you mean 'max_nodes'"):
        find_motifs(matrix, edges, max_node=3)
