import dataclasses

import numpy as np
import pytest

import mage
from mage._core.conversion import from_plain, to_plain
from mage.indices import IndexRequest, compute_interactions
from mage.testing import random_game


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"index": "shaply"}, "index must be one of"),
        ({"index": "myerson", "order": 2}, "order"),
        ({"order": 0}, "order must be a whole number"),
        ({"order": 1.5}, "order must be a whole number"),
        ({"method": "exactly"}, "method must be one of auto, exact"),
        ({"budget": 0}, "budget must be a whole number ≥ 1"),
        ({"permutations": -1}, "permutations must be a whole number ≥ 1"),
        ({"seed": -1}, "seed must be a whole number ≥ 0"),
        ({"seed": None}, "seed must be a whole number ≥ 0"),
        ({"antithetic": 2}, "antithetic must be True or False"),
        ({"radius": 2}, "radius needs method='exact-local'"),
        ({"radius": -1, "method": "exact-local"}, "radius must be a whole number ≥ 0"),
        ({"regressor": "forest"}, "regressor must be one of"),
        ({"regressor": "ridge", "method": "permutation"}, "regressor needs method='surrogate'"),
        ({"permutations": 5, "method": "exact"}, "permutations needs method='permutation'"),
        ({"samples": 0, "method": "multilinear"}, "samples must be a whole number ≥ 1"),
        ({"samples": 5, "method": "permutation"}, "samples needs method='multilinear'"),
        ({"orderings": [[0, 1]], "permutations": 1}, "orderings already say"),
        ({"orderings": [[0, 0]]}, "each row must name every player once"),
        ({"orderings": [0, 1]}, "orderings must have shape"),
        ({"orderings": np.zeros((0, 3))}, "orderings must have shape"),
        ({"tolerance": 0}, "tolerance must be a positive number"),
        ({"tolerance": True}, "tolerance must be a positive number"),
        ({"until": "bored"}, "until must be a function or one of motifs stable"),
        ({"until": 3}, "until must be a function"),
    ],
)
def test_wrong_values_are_refused_when_the_request_is_made(wrong, message):
    with pytest.raises(ValueError, match=message):
        IndexRequest(**wrong)
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(IndexRequest(), **wrong)


def test_requests_are_values():
    orderings = np.array([[1, 0, 2], [2, 1, 0]])
    request = IndexRequest(index="Myerson_Taylor", orderings=orderings, method="permutation")
    orderings[0] = [0, 1, 2]
    assert request.index == "myerson-taylor"
    assert request.orderings == ((1, 0, 2), (2, 1, 0))
    assert request == IndexRequest(orderings=[[1, 0, 2], [2, 1, 0]], method="permutation")
    assert request != IndexRequest()
    assert len({request, dataclasses.replace(request)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.seed = 1


def test_plain_values_and_back():
    request = IndexRequest("shapley", 1, "surrogate", 500, seed=3, regressor="ridge", until="motifs stable")
    assert from_plain(IndexRequest, *to_plain(request)) == request
    with_orderings = IndexRequest(orderings=[[0, 1]])
    assert from_plain(IndexRequest, *to_plain(with_orderings)) == with_orderings


@pytest.mark.parametrize(("index", "order"), [("shapley", 1), ("myerson", 1), ("myerson-taylor", 2)])
def test_the_default_order_is_the_one_of_the_index(index, order):
    assert IndexRequest(index).checked_order == order
    assert IndexRequest(index).order is None


def test_the_entrance_only_builds_a_request():
    request = IndexRequest(order=2, method="permutation", permutations=8, seed=4)
    by_request = compute_interactions(random_game(6, seed=1), request)
    np.testing.assert_array_equal(mage.interactions(random_game(6, seed=1), request=request).values, by_request.values)
    by_arguments = mage.interactions(random_game(6, seed=1), order=2, method="permutation", permutations=8, seed=4)
    np.testing.assert_array_equal(by_arguments.values, by_request.values)
    with pytest.raises(ValueError, match="request already holds order"):
        mage.interactions(random_game(6), order=1, request=request)
    with pytest.raises(TypeError, match="request must be a mage"):
        mage.interactions(random_game(6), request="exact")
    with pytest.raises(TypeError, match=r"game must be a mage\.Game"):
        compute_interactions("game", request)


def test_orderings_of_another_number_of_players_are_refused():
    with pytest.raises(ValueError, match="orderings"):
        compute_interactions(random_game(6), IndexRequest(orderings=[[0, 1, 2]]))
