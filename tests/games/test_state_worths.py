"""Worths by states: those of the model asked plainly, or refused."""

import logging

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn
from torch_geometric import nn as layers
from torch_geometric.nn import aggr

from mage.games import ModelGame, state_worths
from mage.graph import packing
from tests.helpers.layers import EDGES, PLAIN, READOUTS, WITH_EDGES, Network, graph, network, perceptron
from tests.helpers.suites import few_or_many_examples

MASKINGS = ("split", "remove", "zero", "mean")


def worths_both_ways(model, data, masking="split", **fields):
    """Worths of all connected coalitions, by states and plainly; None for the first where states are refused."""
    game = ModelGame(model, data, masking=masking, **{"output": "logit", **fields})
    coalitions = np.concatenate([block.members for block in game.graph.blocks()])
    game.batch_size = 1 << 12
    plain = ModelGame(model, data, masking=masking, **{"output": "logit", **fields})._value(
        packing.unpack(coalitions, game.num_players)
    )
    return None if game.states is None else game._by_states(game.states, coalitions), plain, game


def check(model, data, masking="split", **fields):
    states, plain, game = worths_both_ways(model, data, masking, **fields)
    assert states is not None
    np.testing.assert_allclose(states, plain, rtol=0, atol=1e-12 * max(1.0, np.abs(plain).max()))
    return game


@pytest.mark.long
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("name", [*PLAIN, *WITH_EDGES])
def test_every_layer_and_readout(name, readout, edges):
    check(network(name, readout), graph(edges, seed=1), output="probability")


@pytest.mark.parametrize("name", [*PLAIN, *WITH_EDGES])
def test_every_layer_on_all_kinds_of_edges_at_once(name):
    check(network(name, "softmax"), graph("messy", seed=2, nodes=8), output="log-odds")


@few_or_many_examples(15, 60)
@example("GCN without degrees", "sum", "messy", "mean", 400)  # kinds of nodes and of edges that can be exchanged
@given(
    st.sampled_from([*PLAIN, *WITH_EDGES]),
    st.sampled_from([*READOUTS]),
    st.sampled_from(EDGES),
    st.sampled_from(MASKINGS),
    st.integers(0, 10**6),
)
def test_any_layer_readout_edges_and_masking(name, readout, edges, masking, seed):
    check(network(name, readout, seed), graph(edges, seed, nodes=7), masking, output="probability")


@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize(("name", "pooled"), [("GCN", True), ("GIN", True), ("directed", False)])
def test_states_are_shared_where_messages_only_come_in(name, pooled, masking):
    game = check(network(name, "max"), graph("one way", seed=3), masking)
    assert bool(game.states.num_states) == pooled


def test_equal_coalitions_are_one_query():
    data = graph(nodes=14, density=0.0, kinds=1)
    star = torch.stack([torch.zeros(13, dtype=torch.long), torch.arange(1, 14)])
    data.edge_index = torch.cat([star, star.flip(0)], dim=1)
    data.edge_attr = None
    model = network("GIN", "attention")
    model.forward = lambda x, edge_index, batch: Network.forward(model, x, edge_index, None, batch)
    game = ModelGame(model, data, masking="remove", output="logit")
    worths = game.connected_worths(game.graph)
    # The centre with 0 … 13 of its leaves, which are all alike; a leaf alone is like the centre alone.
    assert len(worths) == 2**13 + 13
    assert len(np.unique(worths.round(12))) == 14
    assert game.states.num_keys == 14
    assert game.num_queries < 150


class Tanh(nn.Module):
    """What a test puts between two layers and after them."""

    def __init__(self, between=None, after=None, width=6):
        super().__init__()
        self.first, self.second = layers.GraphConv(6, width), layers.GraphConv(width, width)
        self.between, self.after, self.head = between, after, nn.Linear(width, 2)

    def forward(self, x, edge_index, batch):
        x = self.first(x, edge_index).tanh()
        x = x if self.between is None else self.between(x, batch)
        x = self.second(x, edge_index).tanh()
        x = layers.global_add_pool(x, batch) if self.after is None else self.after(x, batch)
        return self.head(x)


def made(*arguments, **options):
    torch.manual_seed(0)
    return Tanh(*arguments, **options).double().eval()


GLOBAL = {
    "virtual node": lambda x, batch: x + layers.global_mean_pool(x, batch)[batch],
    "graph norm": layers.GraphNorm(6).double(),
    "pair norm": layers.PairNorm(),
    "instance norm": layers.InstanceNorm(6).double(),
    "size of the graph": lambda x, batch: x * torch.bincount(batch)[batch][:, None],
}


@pytest.mark.parametrize("masking", ["split", "remove"])
@pytest.mark.parametrize("name", GLOBAL)
def test_models_whose_nodes_meet_between_layers_are_asked_once_for_equal_coalitions(name, masking):
    game = check(made(GLOBAL[name]), graph(seed=4, kinds=1), masking)
    assert game.states.num_states == 0
    assert game.states.num_keys < game.graph.count_connected(cap=10**6)


def test_the_order_of_nodes_may_matter_to_a_readout(caplog):
    """A recurrent readout takes nodes one after the other: neither states nor equal coalitions serve it."""
    caplog.set_level(logging.INFO, "mage")
    torch.manual_seed(0)
    states, _, _ = worths_both_ways(made(after=aggr.LSTMAggregation(6, 6).double()), graph(seed=4, kinds=1))
    assert states is None
    assert "the order of nodes matters" in caplog.text


class Positions(nn.Module):
    """Tells nodes apart by their places in the graph, which messages cannot."""

    def __init__(self):
        super().__init__()
        self.table, self.layer, self.head = nn.Embedding(500, 6), layers.GraphConv(6, 6), nn.Linear(6, 2)

    def forward(self, x, edge_index, batch):
        start = torch.searchsorted(batch, batch)
        x = self.layer(x + self.table(torch.arange(len(x)) - start), edge_index)
        return self.head(layers.global_add_pool(x.tanh(), batch))


class Triangles(nn.Module):
    """Counts triangles, which messages cannot see."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.GraphConv(6, 6), nn.Linear(7, 2)

    def forward(self, x, edge_index, batch):
        ones = torch.ones(edge_index.size(1), dtype=x.dtype)
        edges = torch.sparse_coo_tensor(edge_index, ones, (len(x), len(x))).coalesce()
        triangles = (torch.sparse.mm(edges, edges) * edges).sum(dim=1).to_dense()[:, None]
        x = self.layer(x, edge_index).tanh()
        return self.head(layers.global_add_pool(torch.cat([x, triangles], dim=1), batch))


@pytest.mark.parametrize("model", [Positions, Triangles])
def test_models_that_see_more_than_messages_are_asked_plainly(model, caplog):
    caplog.set_level(logging.INFO, "mage")
    torch.manual_seed(0)
    data = graph(seed=5, nodes=10, density=0.5, kinds=1)
    states, _, game = worths_both_ways(model().double().eval(), data)
    assert states is None
    assert "every coalition is evaluated separately" in caplog.text
    assert game.states is None


class Noise(Tanh):
    """Draws new features in each call, whatever its mode is."""

    def forward(self, x, edge_index, batch):
        return super().forward(x + 0.1 * torch.randn_like(x), edge_index, batch)


@pytest.mark.filterwarnings("ignore:the model answers the same question differently")
def test_random_features_are_refused():
    torch.manual_seed(0)
    with pytest.raises(ValueError, match="differently each time"):
        worths_both_ways(Noise().double().eval(), graph(seed=5))


def test_positional_encodings_in_the_data_keep_nodes_apart():
    class Encoded(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = layers.GINConv(perceptron(9, 6)), nn.Linear(6, 2)

        def forward(self, x, pe, edge_index, batch):
            return self.head(layers.global_mean_pool(self.layer(torch.cat([x, pe], dim=1), edge_index), batch))

    torch.manual_seed(0)
    data = graph(seed=6, kinds=1)
    data.pe = torch.randn(9, 3).double()
    check(Encoded().double().eval(), data)


def test_what_a_model_does_not_look_at_keeps_no_nodes_apart():
    data = graph(seed=6, kinds=1)
    model = made()
    num_keys = check(model, data).states.num_keys
    data.noise = torch.randn(9, 3).double()
    data.edge_noise = torch.randn(data.edge_index.size(1), 3).double()
    assert check(model, data).states.num_keys == num_keys


class OfNodes(nn.Module):
    def __init__(self, make, link=False):
        super().__init__()
        self.first, self.second, self.link = make(6, 6), make(6, 3), link

    def forward(self, x, edge_index, edge_label_index=None):
        x = self.second(self.first(x, edge_index).tanh(), edge_index)
        return (x[edge_label_index[0]] * x[edge_label_index[1]]).sum(-1) if self.link else x


@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("edges", ["both ways", "messy"])
@pytest.mark.parametrize("where", [{"node": 2}, {"edge": (1, 3)}])
def test_nodes_and_links(where, edges, masking):
    for name in ("GCN", "SAGE", "GATv2"):
        torch.manual_seed(0)
        model = OfNodes(PLAIN[name], link="edge" in where).double().eval()
        check(model, graph(edges, seed=7), masking, **where)


def test_groups_and_always_present_nodes():
    model, data = network("GCN", "mean"), graph(seed=8, nodes=12)
    check(model, data, groups=[[0, 1], [2, 3, 4], [5], [6, 7], [8], [9, 10], [11]])
    game = ModelGame(model, data, masking="split", output="logit").zoomed([[v] for v in range(7)])
    coalitions = np.concatenate([block.members for block in game.graph.blocks()])
    np.testing.assert_allclose(
        game._by_states(game.states, coalitions), game._value(packing.unpack(coalitions, 7)), rtol=0, atol=1e-12
    )


def test_more_than_sixty_four_players():
    data = graph(nodes=70, density=0.0, kinds=2)
    path = torch.stack([torch.arange(69), torch.arange(1, 70)])
    data.edge_index, data.edge_attr = torch.cat([path, path.flip(0)], dim=1), torch.ones(138, 2).double()
    game = check(network("GCN", "max"), data)
    assert game.states.num_keys > 64


def test_single_precision_is_right_to_its_rounding():
    model, data = network("GCN", "sum").float(), graph(seed=9)
    data.x, data.edge_attr = data.x.float(), data.edge_attr.float()
    states, plain, _ = worths_both_ways(model, data)
    np.testing.assert_allclose(states, plain, rtol=0, atol=1e-5 * np.abs(plain).max())


def test_masks_of_ones_own_are_asked_plainly(caplog):
    from mage._torch.masking import split

    caplog.set_level(logging.INFO, "mage")

    def mine(graph, masks):
        return split(graph, masks)

    states, _, _ = worths_both_ways(network("GCN"), graph(), mine)
    assert states is None
    assert "the masking is the user's own" in caplog.text


def test_coalitions_that_nearly_all_differ_are_not_listed(monkeypatch):
    model, data = network("GIN", "sum"), graph(seed=3, nodes=10)
    expected = ModelGame(model, data, masking="split", output="logit")
    worths = expected.connected_worths(expected.graph)
    assert expected.states.expected_runs(expected.graph) < len(worths)
    monkeypatch.setattr(state_worths, "_MOST_KEYS", 10)
    game = ModelGame(model, data, masking="split", output="logit")
    assert game.states.numbering(game.graph) is None
    assert game.states.expected_runs(game.graph) == len(worths)
    np.testing.assert_allclose(game.connected_worths(game.graph), worths, rtol=0, atol=1e-12)


def test_nodes_that_all_differ_are_asked_as_whole_graphs():
    """States of nodes with features of their own are hardly shared: the model is run once per coalition at most."""
    data = graph(seed=3, nodes=11, density=0.5)
    data.x = torch.randn(data.x.shape, generator=torch.Generator().manual_seed(0)).double()
    game = check(network("GCN", "mean"), data)
    checks = 64 + 2 * 16 + 10  # random coalitions, their nodes from trees, runs of the pool
    assert game.num_queries <= game.graph.count_connected() + 3 * checks
    assert game.states.num_states < game.states.num_keys


def test_a_run_that_is_broken_off_leaves_no_wrong_states():
    model, data = network("GCN", "mean"), graph(seed=3, nodes=10)
    game = ModelGame(model, data, masking="split", output="logit")
    coalitions = np.concatenate([block.members for block in game.graph.blocks()])
    assert game.states is not None
    forward, calls = model.forward, []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return forward(*args, **kwargs)

    model.forward = interrupted
    with pytest.raises(KeyboardInterrupt):
        game.worth_of_bits(coalitions[::2])
    model.forward = forward
    plain = game._value(packing.unpack(coalitions, 10))
    np.testing.assert_allclose(game.worth_of_bits(coalitions) + game.baseline, plain, rtol=0, atol=1e-12)


def test_the_model_is_left_as_it_was():
    model = network("GIN").train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    check(model, graph(seed=2))
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    hooks = [hook for module in model.modules() for hook in (*module._forward_hooks, *module._forward_pre_hooks)]
    assert not hooks


@pytest.mark.parametrize("readout", ["mean", "sum"])
def test_a_linear_head_comes_before_the_pool_so_that_embeddings_are_not_kept(readout):
    model = network("GIN", readout)
    model.head = nn.Linear(6, 2).double()
    game = check(model, graph("both ways", seed=5))
    pool = game.states._pool
    assert (pool.linear, pool.reduction) == (True, readout)
    assert tuple(pool.states.embeddings.shape) == (game.states.num_states, len(game.prediction))
