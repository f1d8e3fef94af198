"""Models and graphs that are not as one would expect."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, SAGEConv, global_mean_pool

import mage
from mage.games import ModelGame
from mage.testing import check_game
from tests.games.test_model_game import FEATURES, NODES, LinkModel, NodeModel, Plain, gin, make_data


def ring(nodes):
    edges = torch.tensor([(i, (i + 1) % nodes) for i in range(nodes)]).T
    torch.manual_seed(0)
    return Data(x=torch.randn(nodes, FEATURES), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


def test_links_between_distant_nodes_have_interactions():
    explanation = mage.explain(LinkModel().eval(), ring(20), edge=(0, 10), tau=0.5, max_nodes=6)
    assert set(explanation.node_mask.nonzero()[0]) <= {0, 1, 9, 10, 11, 19}
    assert np.abs(explanation.interactions.values).max() > 0
    assert explanation.motifs.motifs


def test_layers_that_are_used_twice_reach_twice_as_far():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = SAGEConv(FEATURES, FEATURES)

        def forward(self, x, edge_index):
            return self.conv(self.conv(x, edge_index).tanh(), edge_index)

    class Hidden(nn.Module):
        """Two hops in one layer that does not say so."""

        def __init__(self):
            super().__init__()
            self.conv = SAGEConv(FEATURES, FEATURES)

        def forward(self, x, edge_index):
            first = self.conv(x, edge_index)
            return first + 0.1 * torch.zeros_like(first).index_add(0, edge_index[1], first[edge_index[0]])

    for model in (Twice(), Hidden()):
        game = ModelGame(model.eval(), ring(12), node=6, masking="split")
        assert sorted(int(nodes[0]) for nodes in game.player_nodes) == [4, 5, 6, 7, 8]


def test_models_that_mix_the_graphs_of_a_batch_go_one_by_one():
    class Mixing(Plain):
        def forward(self, x, edge_index, batch=None):
            x = self.first(x, edge_index).relu()
            return self.head(global_mean_pool(x - x.mean(dim=0), batch))

    with pytest.warns(UserWarning, match="rest of the batch"):
        game = ModelGame(Mixing(GCNConv).eval(), make_data(), masking="split")
    together = game.worth([{0, 1}, {3}, {5, 6, 7}])
    with pytest.warns(UserWarning, match="one by one"):
        other = ModelGame(game.model, make_data(), masking="split")
    np.testing.assert_allclose([other.worth([s])[0] for s in ({5, 6, 7}, {3}, {0, 1})], together[::-1], atol=1e-6)


def test_models_without_a_batch_argument_pool_one_graph_at_a_time():
    class Single(Plain):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index, None).squeeze()

    data, model = make_data(), Single(GCNConv).eval()
    for masking in ("remove", "split"):
        game = ModelGame(model, data, masking=masking, target=1)
        with torch.no_grad():
            assert game.total + game.baseline == pytest.approx(float(model(data.x, data.edge_index)[1]), abs=1e-5)
        check_game(game, tolerance=1e-5)


def test_networks_inside_functions_are_left_alone():
    model = Plain(gin)
    model.train()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    for function in (model.forward, lambda x, edge_index, batch: model(x, edge_index, batch)):  # noqa: PLW0108 (a closure is the point)
        check_game(ModelGame(function, make_data()), tolerance=1e-5)
    assert model.training
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_awkward_attributes_and_arguments():
    class Asks(Plain):
        def forward(self, x, edge_index, batch, num_graphs, y=None, **rest):
            assert y is None
            assert num_graphs == int(batch.max()) + 1
            return super().forward(x, edge_index, batch)

    data = make_data(y=torch.tensor([1]), num_graphs_hint=3, edge_label_index=torch.zeros(2, 5, dtype=torch.long))
    data.edge_label_index = data.edge_index.clone()
    check_game(ModelGame(Asks(GCNConv).eval(), data), tolerance=1e-5)

    class UsesBatchObject(Plain):
        def forward(self, data):
            out = super().forward(data.x, data.edge_index, data.batch)
            assert data.num_graphs == len(out) == len(data.ptr) - 1
            return out

    for masking in ("remove", "split", "zero"):
        check_game(ModelGame(UsesBatchObject(GCNConv).eval(), make_data(), masking=masking), tolerance=1e-5)
    with pytest.raises(ValueError, match="2 graphs or more"):
        ModelGame(Plain(GCNConv), make_data(batch=torch.arange(NODES) // 6))


def test_included_nodes_are_nodes_of_the_graph():
    explanation = mage.explain(NodeModel(SAGEConv).eval(), ring(12), node=6, include=[8], max_nodes=3)
    assert 8 in explanation.motifs.nodes
    with pytest.raises(ValueError, match="node 0 does not play"):
        mage.explain(NodeModel(SAGEConv).eval(), ring(12), node=6, include=[0])
