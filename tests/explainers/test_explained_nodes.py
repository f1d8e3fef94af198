"""Baselines that explain the output of one node of a graph."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINConv

from mage.datasets import load
from mage.explainers import UnsupportedError, get
from mage.games import Game, ModelGame
from mage.models import GCN, pretrained

PATH = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4, 4, 5], [1, 0, 2, 1, 3, 2, 4, 3, 5, 4]])
METHODS = {"gradcam": {}, "gnnexplainer": {"epochs": 30}, "subgraphx": {"samples": 20}}


class SumOfNeighbours(nn.Module):
    """Two rounds of sums: the output of a node is what lies within two hops of it."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(GINConv(nn.Identity()) for _ in range(2))

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = layer(x, edge_index)
        return torch.cat([torch.zeros_like(x), x - 2], dim=1)


@pytest.mark.parametrize("name", METHODS)
def test_nothing_beyond_reach_explains_a_node(name):
    data = Data(x=torch.tensor([[1.0], [0], [0], [0], [5], [5]]), edge_index=PATH)
    explanation = get(name, **METHODS[name]).explain(SumOfNeighbours(), data, node=0, max_nodes=3, target=1)
    assert explanation.level == "node"
    assert explanation.target_nodes == (0,)
    assert explanation.motifs.nodes
    assert set(explanation.motifs.nodes) <= {0, 1, 2}
    # The prediction is the row of the node, not that of a graph.
    assert explanation.prediction == pytest.approx(SumOfNeighbours()(data.x, data.edge_index)[0].numpy())


def test_gradcam_takes_the_gradient_at_the_node():
    data = Data(x=torch.tensor([[1.0], [2], [3], [4], [5], [6]]), edge_index=PATH)
    explanation = get("gradcam").explain(SumOfNeighbours(), data, node=0, max_nodes=2, target=1)
    features = np.array([9.0, 18, 27, 0, 0, 0])  # two rounds of sums; 3, 4 and 5 are out of reach
    ends = data.edge_index.numpy()
    expected = np.where((ends < 3).all(axis=0), features[ends].mean(axis=0) / 27, 0)
    assert explanation.edge_scores == pytest.approx(expected)


def test_subgraphx_keeps_the_node_and_its_part():
    data = Data(x=torch.ones(6, 1), edge_index=PATH)
    game = ModelGame(SumOfNeighbours(), data, node=2, target=1, output="probability", masking="remove")
    (target,) = game.target_players
    for budget in (1, 2, 3):
        found = get("subgraphx", samples=None).search(game, budget)
        assert target in found.nodes
        assert len(found.nodes) <= budget
        assert len(game.graph.components(np.isin(np.arange(game.num_players), found.nodes))) == 1
    # Without a target the largest part is kept, whoever is in it.
    plain = Game(lambda masks: masks[:, 3:].all(axis=1).astype(float), 5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert get("subgraphx", samples=None).search(plain, 2).nodes == (3, 4)


def test_houses_are_found_by_what_was_learned_from_other_houses():
    shapes = load("ba_shapes")
    model = pretrained("ba_shapes", "gcn")
    explainer = get("pgexplainer", epochs=10, edge_size=0.05, edge_ent=1.0, max_graphs=60)
    explainer.fit(model, shapes)
    overlaps = []
    for node in shapes.explained(model, 5).tolist():
        explanation = explainer.explain(model, shapes[0], **shapes.settings(node))
        house = next(motif for motif in shapes.motifs(0) if node in motif)
        overlaps.append(len(set(house) & set(explanation.motifs.nodes)) / 5)
    assert np.mean(overlaps) > 0.7


def test_what_was_learned_from_graphs_explains_no_nodes():
    graphs = load("ba_house_grid", count=30)
    explainer = get("pgexplainer", epochs=1, max_graphs=5)
    explainer.fit(GCN(1, 2, 4).eval(), graphs)
    model = GCN(1, 2, 4, readout="none").eval()
    with pytest.raises(UnsupportedError, match="fit saw outputs of graphs, not of nodes"):
        explainer.explain(model, graphs[0], node=3, max_nodes=3)
