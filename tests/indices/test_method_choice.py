"""What ``method="auto"`` takes: counts decide, and nothing is asked of the model for it."""

import sys
import time

import networkx as nx
import pytest
import torch

import mage
from mage.indices import IndexRequest
from mage.indices import method_choice as choice_module
from mage.indices.estimators import exact as exact_module
from mage.indices.estimators import sampling
from mage.indices.method_choice import choices
from mage.indices.problem import Problem
from tests.helpers import layers as layered


def chosen(game, **fields):
    return next(choices(Problem.of(game, IndexRequest(**fields))))


@pytest.fixture
def small():
    return mage.Game(lambda masks: masks.sum(axis=1), 20, nx.barabasi_albert_graph(20, 1, seed=0))


@pytest.fixture
def large():
    return mage.Game(lambda masks: masks.sum(axis=1), 60, nx.barabasi_albert_graph(60, 1, seed=0))


def test_exact_where_it_is_within_reach(small, large):
    count = small.graph.count_connected()
    assert chosen(small) == ("exact", f"{count:,} connected coalitions, limit 100,000", None)
    assert chosen(small, budget=count).method == "exact"
    assert chosen(small, budget=count - 1).method == "surrogate"
    assert chosen(large) == ("surrogate", "more than 10,000,000 connected coalitions, limit 100,000", None)
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
    assert chosen(small, method="multilinear") == ("multilinear", "named in the request", None)
    assert chosen(small, permutations=10) == ("permutation", "permutations is given", None)
    assert chosen(small, samples=10) == ("multilinear", "samples is given", None)
    assert chosen(small, orderings=[list(range(20))]) == ("permutation", "orderings is given", None)


def test_the_reason_is_kept(small, tmp_path):
    estimate = mage.interactions(small, order=1)
    assert estimate.reason == chosen(small).reason
    estimate.save(tmp_path / "estimate.mage")
    assert mage.Interactions.load(tmp_path / "estimate.mage").reason == estimate.reason
    assert (estimate + mage.interactions(small, order=1)).reason == estimate.reason
    assert (estimate + mage.interactions(small, order=1, method="exact")).reason == ""


def model_game(name="GCN", nodes=18, masking="split", readout="mean", **fields):
    from mage.games import ModelGame

    data = layered.graph(seed=1, nodes=nodes, density=0.0, kinds=1)
    edges = torch.tensor(list(nx.barabasi_albert_graph(nodes, 1, seed=1).edges())).T
    data.edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    data.edge_attr = torch.ones(data.edge_index.size(1), 2).double()
    return ModelGame(layered.network(name, readout), data, masking=masking, **{"output": "logit", **fields})


def test_states_bring_large_graphs_within_reach(monkeypatch):
    monkeypatch.setattr(choice_module, "MODEL_LIMIT", 1_000)
    monkeypatch.setattr(choice_module, "LEAST_EXACT_LIMIT", 1_000)
    game = model_game()
    count = game.graph.count_connected()
    assert count > 1_000
    exact = chosen(game)
    assert exact == ("exact", f"{count:,} connected coalitions, which are evaluated by states", None)
    # A budget is held against the runs of the model that states will take.
    assert chosen(game, budget=1_000).method == "exact"
    refused = chosen(game, budget=100)
    assert refused.method != "exact"
    assert "not exact by states: about" in refused.reason
    assert mage.interactions(game, budget=1_000).num_queries <= 1_000


def test_what_is_a_sum_over_nodes_is_exact_beyond_that(monkeypatch):
    monkeypatch.setattr(choice_module, "MODEL_LIMIT", 30_000)
    monkeypatch.setattr(choice_module, "NEIGHBOURHOOD_COST", 1)
    monkeypatch.setattr(choice_module, "STATES_LIMIT", 1_000)
    monkeypatch.setattr(exact_module, "STATES_LIMIT", 1_000)
    game = model_game(nodes=20)
    game.model.head = torch.nn.Linear(6, 2).double()
    index = mage.interactions(game)
    assert (index.method, index.exact) == ("exact-local", True)
    assert "the output is a sum over nodes" in index.reason
    bent = model_game(nodes=20, output="probability")
    assert mage.interactions(bent, budget=500).method == "surrogate"


def test_orderings_are_taken_where_they_are_cheap(large):
    """Of a small model; nobody knows what a query of a plain game costs, and a budget asks for few of them."""
    large.query_cost = 1_000
    choice = chosen(large)
    assert (choice.method, choice.budget) == ("permutation", 80_000)
    assert "32 orderings and more are within 80,000 coalitions" in choice.reason
    estimate = mage.interactions(large)
    assert estimate.method == "permutation"
    assert estimate.num_queries <= 80_000
    assert estimate.num_permutations >= 32
    assert chosen(large, budget=5_000).method == "surrogate"
    assert chosen(large, index="myerson-k-sii").method == "surrogate"
    large.query_cost = 10**6  # a larger model gets fewer
    assert chosen(large).budget == 60_000
    large.query_cost = 10**7  # too large a model
    assert chosen(large).method == "surrogate"


def test_few_orderings_are_not_worth_it():
    game = mage.Game(lambda masks: masks.sum(axis=1), 60, nx.gnp_random_graph(60, 0.3, seed=0))
    game.query_cost = 3 * 10**6
    assert choice_module._sample_budget(Problem.of(game, IndexRequest())) == 0
    assert chosen(game).method == "surrogate"
    assert game.num_queries == 0
    game.query_cost = 1_000  # of a small model there are enough
    assert chosen(game).method == "permutation"


def test_neighbourhoods_are_limited_where_other_methods_come_next(monkeypatch):
    monkeypatch.setattr(choice_module, "MODEL_LIMIT", 1_000)
    monkeypatch.setattr(choice_module, "LEAST_EXACT_LIMIT", 1_000)
    monkeypatch.setattr(choice_module, "STATES_LIMIT", 1_000)
    game = model_game()
    game.model.head = torch.nn.Linear(6, 2).double()
    choice = chosen(game)
    assert (choice.method, choice.budget) == ("exact-local", 250)
    assert mage.interactions(game).method == "permutation"  # more would be needed


def test_large_models_are_asked_less(small):
    small.query_cost = 10**6
    assert chosen(small, order=1).method == "exact"
    small.query_cost = 10**8
    assert chosen(small, order=1).method == "surrogate"


def test_no_clock_decides(monkeypatch):
    """A model that sleeps, and a second call with everything compiled: the same choice, the same numbers."""
    calls = []
    for pause in (0.0, 0.01):
        game = model_game(nodes=12)
        inner = game.model.forward
        game.model.forward = lambda *args, pause=pause, inner=inner, **kwargs: (
            time.sleep(pause),
            inner(*args, **kwargs),
        )[1]
        index = mage.interactions(game)
        calls.append((index.method, index.reason, index.num_queries, index.values.tobytes()))
    assert calls[0] == calls[1]


def test_a_default_budget_ends_every_sampled_run(monkeypatch, caplog):
    caplog.set_level("INFO", "mage")
    monkeypatch.setattr(sampling, "DEFAULT_BUDGET", 20_000)
    game = mage.Game(lambda masks: masks.sum(axis=1) ** 1.5, 40, nx.barabasi_albert_graph(40, 2, seed=0))
    index = mage.interactions(game, order=3, method="permutation")
    assert index.stopped == "budget"
    assert index.num_queries <= 80_000
    assert 0 < index.num_permutations < 200
    assert "budget= allows more" in caplog.text
    monkeypatch.setattr(sampling, "DEFAULT_BUDGET", 300)
    assert mage.interactions(game, order=3, method="permutation").num_permutations == 2
