"""Masks of features: Shapley values of columns, and of single numbers at the nodes of motifs."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.explain import Explainer
from torch_geometric.nn import GCNConv, global_add_pool

from mage.games import GraphRequest
from mage.pyg import MAGEExplainer
from mage.pyg.call import PyGCall
from mage.pyg.features import FeatureGames
from tests.helpers.pyg_models import GraphNet, NodeNet, graph


def shapley(worth, count):
    """By the definition, over all coalitions."""
    values = np.zeros(count)
    for player in range(count):
        others = [each for each in range(count) if each != player]
        for size in range(count):
            weight = factorial(size) * factorial(count - size - 1) / factorial(count)
            for members in combinations(others, size):
                values[player] += weight * (worth({*members, player}) - worth(set(members)))
    return values


def feature_games(model, data, **fields):
    call = PyGCall({}, batched="node" not in fields)
    return FeatureGames(
        model, data, GraphRequest(target=1, forward=call, output="logit", masking="remove", **fields), seed=0
    )


@pytest.mark.parametrize("level", ["graph", "node"])
def test_columns_have_their_shapley_values(level):
    data = graph(7)
    model = (GraphNet() if level == "graph" else NodeNet()).eval()
    games = feature_games(model, data, **({} if level == "graph" else {"node": 2}))

    def worth(columns):
        x = torch.zeros_like(data.x)
        x[:, list(columns)] = data.x[:, list(columns)]
        with torch.no_grad():
            return float(model(x, data.edge_index)[0 if level == "graph" else 2, 1])

    np.testing.assert_allclose(games.column_scores()[None], shapley(worth, 4), atol=1e-5)


def test_single_numbers_have_their_shapley_values_while_all_others_stay():
    data, model = graph(6), GraphNet().eval()
    data.x[2, 1] = data.x[4, 3] = 0.0
    games, nodes = feature_games(model, data), np.array([2, 4])
    entries = [(v, f) for v in nodes for f in range(4) if data.x[v, f] != 0]

    def worth(players):
        x = data.x.clone()
        for place, (v, f) in enumerate(entries):
            if place not in players:
                x[v, f] = 0.0
        with torch.no_grad():
            return float(model(x, data.edge_index)[0, 1])

    expected = np.zeros((2, 4))
    for (v, f), value in zip(entries, shapley(worth, len(entries)), strict=True):
        expected[0 if v == 2 else 1, f] = value
    scores = games.entry_scores({None: nodes})[None]
    np.testing.assert_allclose(scores[nodes], expected, atol=1e-5)
    assert not scores[[0, 1, 3, 5]].any()


def test_many_numbers_are_sampled_and_add_up():
    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.head = GCNConv(300, 8), nn.Linear(8, 2)

        def forward(self, x, edge_index, batch):
            return self.head(global_add_pool(self.conv(x, edge_index).relu(), batch))

    data, model = graph(4), Wide().eval()
    data.x = (torch.rand(4, 300) < 0.7).float()
    games = feature_games(model, data)
    with torch.no_grad():
        batch = torch.zeros(4, dtype=torch.long)
        whole = model(data.x, data.edge_index, batch)[0, 1]
        without = data.x.clone()
        without[:3] = 0.0
        remainder = model(without, data.edge_index, batch)[0, 1]
        nothing = model(torch.zeros_like(data.x), data.edge_index, batch)[0, 1]
    scores = games.entry_scores({None: np.array([0, 1, 2])})[None][:3]
    assert scores.sum() == pytest.approx(float(whole - remainder), abs=1e-4)
    assert not scores[data.x[:3].numpy() == 0].any()
    columns = games.column_scores()[None]
    assert columns.sum() == pytest.approx(float(whole - nothing), abs=1e-4)


def test_whole_numbers_cannot_be_masked():
    class Embedded(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.conv = nn.Embedding(5, 4), GCNConv(4, 2)

        def forward(self, x, edge_index, batch=None):
            return global_add_pool(self.conv(self.table(x.flatten()), edge_index), batch)

    data = graph(5)
    explain = Explainer(
        Embedded(),
        algorithm=MAGEExplainer(max_nodes=2, output="logit", masking="remove"),
        explanation_type="model",
        node_mask_type="attributes",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    with pytest.raises(ValueError, match="use node_mask_type='object'"):
        explain(torch.arange(5).view(5, 1), data.edge_index)


def test_masks_of_attributes_are_within_motifs_and_show_what_adds():
    class Linear(nn.Module):
        def forward(self, x, edge_index, batch=None):
            return global_add_pool(x @ torch.tensor([[2.0], [0.0], [-1.0]]), batch)

    x = torch.tensor([[1.0, 5.0, 0.0], [0.5, 1.0, 0.1], [0.0, 1.0, 3.0]])
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    config = {"mode": "regression", "task_level": "graph"}
    masks = {}
    for kind in ("attributes", "common_attributes"):
        explain = Explainer(
            Linear(),
            algorithm=MAGEExplainer(
                num_motifs=1, max_nodes=2, tau=1.0, order=2, noise_floor=0.0, output="logit", masking="remove"
            ),
            explanation_type="model",
            node_mask_type=kind,
            model_config=config,
        )
        masks[kind] = explain(x, edge_index).node_mask
    assert torch.allclose(masks["attributes"], torch.tensor([[1.0, 0, 0], [0.5, 0, 0], [0, 0, 0]]), atol=1e-5)
    assert torch.allclose(masks["common_attributes"], torch.tensor([[1.0, 0, 0]]), atol=1e-5)
