"""How much ``exact-local`` has to sum over, counted before; and the limits of it."""

import pytest
import torch
from torch_geometric.data import Data

import mage
from mage.games import ModelGame
from mage.graph import Neighbourhoods
from mage.indices import TooManyCoalitionsError
from mage.indices.estimators.exact_local import ExactLocal, exact_local_size, nodes
from mage.indices.problem import Problem
from mage.indices.request import IndexRequest
from mage.models import GIN
from mage.testing import random_graph


def pose(**fields):
    torch.manual_seed(0)
    edges = torch.from_numpy(random_graph(9, 0.3, 1).edges.T.copy())
    data = Data(x=torch.randn(9, 4).double(), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    game = ModelGame(GIN(4, 2, 8, num_layers=2).double().eval(), data, masking="split", output="logit")
    return Problem.of(game, IndexRequest(**fields))


def test_it_is_the_number_of_neighbourhoods():
    problem = pose()
    graph, hops = problem.game.graph, problem.game.num_hops
    total = sum(Neighbourhoods(graph, root, hops).count(10**6) for root in range(9))
    assert exact_local_size(problem, cap=total - 1) == total
    queries = problem.game.num_queries
    assert exact_local_size(problem, cap=10**6) == total
    assert exact_local_size(problem, cap=3) == 4
    assert problem.game.num_queries == queries


def test_games_without_a_model_have_none():
    problem = Problem.of(mage.Game(lambda masks: masks.sum(axis=1), 4, [(0, 1), (1, 2)]), IndexRequest())
    assert exact_local_size(problem) is None


def test_too_many_neighbourhoods_are_refused(monkeypatch):
    assert ExactLocal().estimate(pose(method="exact-local"), None, False).exact
    monkeypatch.setattr(nodes, "MOST_NEIGHBOURHOODS", 8)
    for method in ("auto", "exact-local"):
        with pytest.raises(TooManyCoalitionsError, match="more than 8 "):
            ExactLocal().estimate(pose(method=method), None, False)
