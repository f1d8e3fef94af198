"""What ``method="auto"`` takes: counts decide, and nothing is asked of the model for it."""

import sys

import networkx as nx
import pytest

import mage
from mage.indices import IndexRequest
from mage.indices.choice import choose
from mage.indices.problem import Problem


def chosen(game, **fields):
    return choose(Problem.of(game, IndexRequest(**fields)))


@pytest.fixture
def small():
    return mage.Game(lambda masks: masks.sum(axis=1), 20, nx.barabasi_albert_graph(20, 1, seed=0))


@pytest.fixture
def large():
    return mage.Game(lambda masks: masks.sum(axis=1), 60, nx.barabasi_albert_graph(60, 1, seed=0))


def test_exact_where_it_is_within_reach(small, large):
    count = small.graph.count_connected()
    assert chosen(small) == ("exact", f"{count:,} connected coalitions, limit 100,000")
    assert chosen(small, budget=count).method == "exact"
    assert chosen(small, budget=count - 1).method == "surrogate"
    assert chosen(large) == ("surrogate", "more than 100,000 connected coalitions, limit 100,000")
    # Ignoring the graph, the same game has 2²⁰ coalitions.
    assert chosen(small, index="shapley").method == "surrogate"
    assert small.num_queries == large.num_queries == 0


def test_the_first_sampler_that_can(large, monkeypatch):
    choice = chosen(large, budget=120)
    assert choice.method == "permutation"
    assert "not surrogate: budget: 120 is too small; a surrogate of order 2 needs at least 161 here" in choice.reason
    choice = chosen(large, index="myerson-k-sii", budget=120)
    assert choice.method == "multilinear"
    assert "not permutation: method: the myerson-k-sii index of order 2 is no average" in choice.reason
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    choice = chosen(large)
    assert choice.method == "permutation"
    assert "pip install 'mage-explain[surrogate]'" in choice.reason
    assert chosen(large, regressor="ridge").method == "surrogate"


def test_what_is_given_decides(small):
    assert chosen(small, method="multilinear") == ("multilinear", "named in the request")
    assert chosen(small, permutations=10) == ("permutation", "permutations is given")
    assert chosen(small, samples=10) == ("multilinear", "samples is given")
    assert chosen(small, orderings=[list(range(20))]) == ("permutation", "orderings is given")


def test_the_reason_is_kept(small, tmp_path):
    estimate = mage.interactions(small, order=1)
    assert estimate.reason == chosen(small).reason
    estimate.save(tmp_path / "estimate.mage")
    assert mage.Interactions.load(tmp_path / "estimate.mage").reason == estimate.reason
    assert (estimate + mage.interactions(small, order=1)).reason == estimate.reason
    assert (estimate + mage.interactions(small, order=1, method="exact")).reason == ""
