"""Models and graphs that are not as one would expect."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GraphNorm, SAGEConv, global_add_pool, global_mean_pool

import mage
from mage.games import ModelGame
from mage.testing import check_game
from tests.helpers.model_game import FEATURES, NODES, LinkModel, NodeModel, Plain, TwoHopLayer, gin, make_data
from tests.helpers.precision import rounding


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

    for model in (Twice(), TwoHopLayer()):
        game = ModelGame(model.eval(), ring(12), node=6, masking="split", output="logit")
        assert sorted(int(nodes[0]) for nodes in game.player_nodes) == [4, 5, 6, 7, 8]


def test_models_that_mix_the_graphs_of_a_batch_go_one_by_one():
    class Mixing(Plain):
        def forward(self, x, edge_index, batch=None):
            x = self.first(x, edge_index).relu()
            return self.head(global_mean_pool(x - x.mean(dim=0), batch))

    with pytest.warns(UserWarning, match="rest of the batch"):
        game = ModelGame(Mixing(GCNConv).eval(), make_data(), masking="split", output="logit")
    together = game.worth([{0, 1}, {3}, {5, 6, 7}])
    with pytest.warns(UserWarning, match="one by one"):
        other = ModelGame(game.model, make_data(), masking="split", output="logit")
    np.testing.assert_allclose([other.worth([s])[0] for s in ({5, 6, 7}, {3}, {0, 1})], together[::-1], atol=rounding())


def test_models_without_a_batch_argument_pool_one_graph_at_a_time():
    class Single(Plain):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index, None).squeeze()

    data, model = make_data(), Single(GCNConv).eval()
    for masking in ("remove", "split"):
        game = ModelGame(model, data, masking=masking, target=1, output="logit")
        with torch.no_grad():
            assert game.total + game.baseline == pytest.approx(float(model(data.x, data.edge_index)[1]), abs=1e-5)
        check_game(game, tolerance=1e-5)


def test_networks_inside_functions_are_left_alone():
    model = Plain(gin)
    model.train()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    for function in (model.forward, lambda x, edge_index, batch: model(x, edge_index, batch)):  # noqa: PLW0108 (a closure is the point)
        check_game(ModelGame(function, make_data(), output="logit", masking="remove"), tolerance=1e-5)
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
    check_game(ModelGame(Asks(GCNConv).eval(), data, output="logit", masking="remove"), tolerance=1e-5)

    class UsesBatchObject(Plain):
        def forward(self, data):
            out = super().forward(data.x, data.edge_index, data.batch)
            assert data.num_graphs == len(out) == len(data.ptr) - 1
            return out

    for masking in ("remove", "split", "zero"):
        check_game(
            ModelGame(UsesBatchObject(GCNConv).eval(), make_data(), masking=masking, output="logit"), tolerance=1e-5
        )
    with pytest.raises(ValueError, match="2 graphs or more"):
        ModelGame(Plain(GCNConv), make_data(batch=torch.arange(NODES) // 6), output="logit", masking="remove")


def test_included_nodes_are_nodes_of_the_graph():
    explanation = mage.explain(NodeModel(SAGEConv).eval(), ring(12), node=6, include=[8], max_nodes=3)
    assert 8 in explanation.motifs.nodes
    with pytest.raises(ValueError, match="node 0 is not a player"):
        mage.explain(NodeModel(SAGEConv).eval(), ring(12), node=6, include=[0])


@pytest.mark.parametrize("masking", ["remove", "split"])
@pytest.mark.parametrize("pairs", [[(0, 1)], [(0, 1), (1, 3), (3, 4), (0, 4)]])
def test_mixing_is_noticed_on_small_and_sparse_graphs(pairs, masking):
    """Two nodes; and six of which every third has no edges."""

    class Mixing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution, self.norm = GCNConv(3, 4), GraphNorm(4)

        def forward(self, x, edge_index, batch):
            return global_add_pool(self.norm(self.convolution(x, edge_index)).relu(), batch)

    size = 2 if len(pairs) == 1 else 6
    edges = torch.tensor(pairs).T
    data = Data(x=torch.randn(size, 3), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    with pytest.warns(UserWarning, match="depends on the rest of the batch"):
        game = ModelGame(Mixing().eval(), data, masking=masking, target=0, output="logit")
    masks = np.eye(size, dtype=bool)
    with pytest.warns(UserWarning, match="rest of the batch"):
        alone = [
            ModelGame(game.model, data, masking=masking, target=0, output="logit").worth(mask[None])[0]
            for mask in masks
        ]
    assert game.worth(masks) == pytest.approx(alone, abs=rounding())


@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
def test_layers_that_cache_their_graph(masking):
    """As without the cache, and the cache as it was afterwards."""

    class Node(torch.nn.Module):
        def __init__(self, cached):
            super().__init__()
            self.first, self.second = GCNConv(3, 8, cached=cached), GCNConv(8, 3, cached=cached)

        def forward(self, x, edge_index):
            return self.second(self.first(x, edge_index).relu(), edge_index)

    edges = torch.tensor([(i, i + 1) for i in range(11)] + [(0, 5), (3, 9)]).T
    data = Data(x=torch.randn(12, 3), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    plain, caching = Node(False).eval(), Node(True).eval()
    caching.load_state_dict(plain.state_dict())
    masks = np.random.default_rng(0).random((20, 9)) < 0.7
    for primed in (False, True):
        if primed:
            caching(data.x, data.edge_index)
        before = caching.first._cached_edge_index
        games = [
            ModelGame(model, data, node=4, masking=masking, target=0, memory_cap=3000, output="logit")
            for model in (plain, caching)
        ]
        worths = [game.worth(np.resize(masks, (20, game.num_players))) for game in games]
        assert worths[1] == pytest.approx(worths[0], abs=rounding())
        assert caching.first.cached
        assert caching.first._cached_edge_index is before
        assert torch.allclose(caching(data.x, data.edge_index), plain(data.x, data.edge_index), atol=rounding())
        caching.first._cached_edge_index = caching.second._cached_edge_index = None


def test_networks_are_found_wherever_they_are_and_randomness_is_named():
    class Noisy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        def forward(self, x, _edge_index, batch):
            return global_add_pool(torch.nn.functional.dropout(self.layer(x), 0.5, self.training), batch)

    network, data = Noisy().train(), Data(x=torch.randn(4, 3), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))

    class Holder:
        def __init__(self, inside):
            self.inside = inside

        def __call__(self, x, edge_index, batch):
            module = self.inside
            while not isinstance(module, torch.nn.Module):
                module = module["net"] if isinstance(module, dict) else module[0]
            return module(x, edge_index, batch)

    for inside in ([network], {"net": network}, {"net": [network]}):
        games = [ModelGame(Holder(inside), data, target=0, output="logit", masking="remove") for _ in range(2)]
        assert games[0].total == games[1].total
        assert network.training
    games = [
        ModelGame(
            lambda _: None,
            data,
            target=0,
            forward=lambda _, data: network(data.x, data.edge_index, data.batch),
            output="logit",
            masking="remove",
        )
        for _ in range(2)
    ]
    assert games[0].total == games[1].total
    with pytest.raises(ValueError, match=r"differently each time: some dropout"):
        ModelGame(
            lambda x, edge_index, batch: global_add_pool(torch.rand_like(x), batch),
            data,
            target=0,
            output="logit",
            masking="remove",
        )


def test_an_empty_graph_is_the_baseline_where_the_model_takes_one():
    """A model without batch that adds up embeddings of whole numbers: no node is blank, but no nodes are nothing."""

    class Sum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = torch.nn.Embedding(5, 4), torch.nn.Linear(4, 2)

        def forward(self, z, edge_index):
            return self.head(self.embedding(z).sum(0))

    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    model = Sum().eval()
    games = [
        ModelGame(
            model, Data(z=torch.tensor(z), edge_index=edges, num_nodes=3), target=0, output="logit", masking="remove"
        )
        for z in ([0, 1, 2], [2, 1, 0])
    ]
    assert games[0].baseline == games[1].baseline == pytest.approx(model.head.bias[0].item())
    assert games[0].worth(np.eye(3, dtype=bool)) == pytest.approx(
        games[1].worth(np.eye(3, dtype=bool))[::-1], abs=rounding()
    )


def test_binary_models_that_return_logarithms():
    class Sure(torch.nn.Module):
        def forward(self, x, edge_index, batch):
            return torch.nn.functional.logsigmoid(global_add_pool(x, batch))

    data = Data(x=torch.tensor([[1.0], [2.0]]), edge_index=torch.tensor([[0, 1], [1, 0]]))
    explanation = mage.explain(Sure(), data, task="binary", return_type="log_probs", output="probability")
    assert explanation.target == 1
    assert explanation.probabilities == pytest.approx([1 - 1 / (1 + np.exp(-3)), 1 / (1 + np.exp(-3))])
