"""Worths from real PyG models, against evaluation one coalition at a time with PyG's own tools."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINEConv,
    NNConv,
    SAGEConv,
    Sequential,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.utils import subgraph

import mage
from mage import ValueFunctionError
from mage._torch.masking import MaskedBatch, split
from mage.games import ModelGame
from mage.testing import check_game
from tests.helpers.model_game import EDGE_FEATURES, FEATURES, NODES, LinkModel, NodeModel, Plain, gin, make_data
from tests.helpers.precision import rounding


class WithEdgeFeatures(nn.Module):
    def __init__(self, kind):
        super().__init__()
        if kind == "gine":
            self.conv = GINEConv(nn.Linear(FEATURES, 8), edge_dim=EDGE_FEATURES)
        else:
            self.conv = NNConv(FEATURES, 8, nn.Linear(EDGE_FEATURES, FEATURES * 8))
        self.head = nn.Linear(8, 2)

    def forward(self, x, edge_index, edge_attr, batch):
        return self.head(global_add_pool(self.conv(x, edge_index, edge_attr).relu(), batch))


class WithWeightsAndPositions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = GCNConv(FEATURES + 2, 8), nn.Linear(8, 2)

    def forward(self, x, edge_index, edge_weight, pos, batch, num_graphs):
        x = self.conv(torch.cat([x, pos], dim=1), edge_index, edge_weight).relu()
        return self.head(global_mean_pool(x, batch, num_graphs))


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.conv, self.head = nn.Embedding(5, 6), SAGEConv(6, 8), nn.Linear(8, 2)

    def forward(self, atom, edge_index, batch):
        return self.head(global_max_pool(self.conv(self.table(atom), edge_index).relu(), batch))


class TakesData(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = GATConv(FEATURES, 4, heads=2), nn.Linear(8, 2)

    def forward(self, data):
        return self.head(global_mean_pool(self.conv(data.x, data.edge_index).relu(), data.batch))


class OtherNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = GCNConv(FEATURES, 8), nn.Linear(8, 2)

    def forward(self, features, edge_index, batch_index):
        return self.head(global_mean_pool(self.conv(features, edge_index).relu(), batch_index))


def in_sequence():
    return Sequential(
        "x, edge_index, batch",
        [(GCNConv(FEATURES, 8), "x, edge_index -> x"), nn.ReLU(), (global_mean_pool, "x, batch -> x"), nn.Linear(8, 2)],
    )


MODELS = {
    "gcn": lambda: Plain(GCNConv),
    "gin": lambda: Plain(gin, global_add_pool),
    "gat": lambda: Plain(GATConv, global_max_pool),
    "sage": lambda: Plain(SAGEConv),
    "transformer": lambda: Plain(TransformerConv),
    "gine": lambda: WithEdgeFeatures("gine"),
    "nnconv": lambda: WithEdgeFeatures("nnconv"),
    "weights and positions": WithWeightsAndPositions,
    "embedding": Embedding,
    "forward(data)": TakesData,
    "sequential": in_sequence,
    "other names": OtherNames,
}


def one_by_one(model, data, mask, masking):
    """One masked graph, built with PyG's ``subgraph`` and evaluated alone."""
    presence = torch.from_numpy(mask)
    alone = Data(**{key: value for key, value in data.items() if key not in ("edge_index", "edge_attr", "edge_weight")})
    edges = {"edge_index": data.edge_index, "edge_attr": data.edge_attr, "edge_weight": data.edge_weight}
    if masking in ("remove", "split"):
        index, attributes = subgraph(
            presence,
            data.edge_index,
            torch.arange(data.num_edges),
            relabel_nodes=masking == "remove",
            num_nodes=data.num_nodes,
        )
        edges = {
            "edge_index": index,
            "edge_attr": data.edge_attr[attributes],
            "edge_weight": data.edge_weight[attributes],
        }
    if masking == "remove":
        for key in ("x", "pos", "atom"):
            alone[key] = data[key][presence]
    if masking == "zero":
        alone.x = data.x * presence[:, None]
    if masking == "mean":
        alone.x = torch.where(presence[:, None], data.x, data.x.mean(dim=0))
    batch = Batch.from_data_list([Data(**alone.to_dict(), **edges)])
    if isinstance(model, TakesData):
        return model(batch)
    names = {
        WithEdgeFeatures: ("x", "edge_index", "edge_attr", "batch"),
        Embedding: ("atom", "edge_index", "batch"),
        WithWeightsAndPositions: ("x", "edge_index", "edge_weight", "pos", "batch"),
    }.get(type(model), ("x", "edge_index", "batch"))
    extra = [1] if isinstance(model, WithWeightsAndPositions) else []
    return model(*(batch[name] for name in names), *extra)


@pytest.mark.parametrize("masking", ["remove", "split", "zero", "mean"])
@pytest.mark.parametrize("name", MODELS)
def test_vectorised_worth_equals_one_by_one(name, masking):
    data, model = make_data(), MODELS[name]().eval()
    game = ModelGame(model, data, masking=masking, target=1, output="logit")
    rng = np.random.default_rng(0)
    masks = rng.random((25, NODES)) < rng.random((25, 1))
    masks = masks[masks.any(axis=1)]
    with torch.no_grad():
        expected = [float(one_by_one(model, data, mask, masking)[0, 1]) for mask in masks]
    np.testing.assert_allclose(game.worth(masks) + game.baseline, expected, atol=1e-5)
    check_game(game, tolerance=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_explained(name):
    explanation = mage.explain(MODELS[name]().eval(), make_data(), tau=0.5, output="logit", num_motifs=2)
    assert explanation.interactions.exact
    assert explanation.motifs.optimal
    assert 1 <= len(explanation.motifs) <= 2
    total = explanation.interactions.group(range(NODES))
    assert total + explanation.interactions.baseline == pytest.approx(
        explanation.prediction[explanation.target], abs=1e-4
    )


@pytest.mark.parametrize("output", ["logit", "probability", "log-probability"])
@pytest.mark.parametrize("return_type", ["raw", "probs", "log_probs"])
def test_outputs_of_many_classes(output, return_type):
    data, raw = make_data(), Plain(GCNConv).eval()
    wrap = {"raw": lambda out: out, "probs": lambda out: out.softmax(1), "log_probs": lambda out: out.log_softmax(1)}
    call = lambda model, batch: wrap[return_type](model(batch.x, batch.edge_index, batch.batch))  # noqa: E731
    if output == "logit" and return_type != "raw":
        with pytest.raises(ValueError, match="log-probability"):
            ModelGame(raw, data, output=output, return_type=return_type, forward=call, masking="remove")
        return
    game = ModelGame(raw, data, output=output, return_type=return_type, forward=call, masking="remove")
    with torch.no_grad():
        logits = raw(data.x, data.edge_index, torch.zeros(NODES, dtype=torch.long))[0]
    expected = {"logit": logits, "probability": logits.softmax(0), "log-probability": logits.log_softmax(0)}[output]
    assert game.target == int(logits.argmax())
    assert game.total + game.baseline == pytest.approx(float(expected[game.target]), abs=1e-5)


@pytest.mark.parametrize("target", [0, 1, None])
def test_one_column_is_binary_or_a_regression(target):
    data, model = make_data(), Plain(GCNConv, classes=1).eval()
    with torch.no_grad():
        score = float(model(data.x, data.edge_index, torch.zeros(NODES, dtype=torch.long)))
    if target is None:
        game = ModelGame(model, data, output="logit", masking="remove")
        assert (game.readout.task, game.target) == ("regression", None)
        assert game.total + game.baseline == pytest.approx(score, abs=1e-5)
        assert ModelGame(model, data, task="binary", output="logit", masking="remove").target == int(score > 0)
        return
    sign = 1 if target else -1
    game = ModelGame(model, data, target=target, output="logit", masking="remove")
    assert game.total + game.baseline == pytest.approx(sign * score, abs=1e-5)
    chance = ModelGame(model, data, target=target, output="probability", masking="remove")
    assert chance.total + chance.baseline == pytest.approx(1 / (1 + np.exp(-sign * score)), abs=1e-5)


@pytest.mark.parametrize("conv", [GCNConv, SAGEConv, GATConv])
@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
def test_node_level_sees_the_computation_graph(conv, masking):
    network = nx.random_labeled_tree(60, seed=1)
    edges = torch.tensor(list(network.edges())).T
    data = Data(x=torch.randn(60, FEATURES), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    model, node = NodeModel(conv).eval(), 17
    game = ModelGame(model, data, node=node, masking=masking, output="logit")
    near = nx.single_source_shortest_path_length(network, node, cutoff=2)
    assert sorted(int(nodes[0]) for nodes in game.player_nodes) == sorted(near)
    with torch.no_grad():
        whole = model(data.x, data.edge_index)[node]
    np.testing.assert_allclose(game.prediction, whole, atol=1e-5)
    assert game.total + game.baseline == pytest.approx(float(whole[game.target]), abs=1e-4)
    without = np.ones((1, game.num_players), bool)
    without[0, [int(nodes[0]) for nodes in game.player_nodes].index(node)] = False
    assert game.worth(without)[0] == 0
    check_game(game, tolerance=1e-4)


def test_node_level_worth_equals_the_whole_graph_with_nodes_cut_off():
    data, model = make_data(nodes=20), NodeModel(SAGEConv).eval()
    game = ModelGame(model, data, node=4, masking="split", target=0, output="logit")
    players = np.concatenate(game.player_nodes)
    masks = np.random.default_rng(1).random((20, game.num_players)) < 0.7
    masks[:, players.tolist().index(4)] = True
    for mask, worth in zip(masks, game.worth(masks), strict=True):
        absent = torch.from_numpy(players[~mask])
        keep = ~(torch.isin(data.edge_index[0], absent) | torch.isin(data.edge_index[1], absent))
        with torch.no_grad():
            expected = float(model(data.x, data.edge_index[:, keep])[4, 0])
        assert worth + game.baseline == pytest.approx(expected, abs=1e-5)


def test_link_level_needs_both_ends():
    data, model = make_data(nodes=15), LinkModel().eval()
    game = ModelGame(model, data, edge=(2, 9), masking="split", task="binary", output="logit")
    with torch.no_grad():
        score = float(model(data.x, data.edge_index, torch.tensor([[2], [9]])))
    assert game.prediction[0] == pytest.approx(score, abs=1e-5)
    players = [int(nodes[0]) for nodes in game.player_nodes]
    for end in (2, 9):
        mask = np.ones((1, game.num_players), bool)
        mask[0, players.index(end)] = False
        assert game.worth(mask)[0] == 0
    check_game(game, tolerance=1e-5)


def test_groups_are_players_on_the_quotient_graph():
    data, model = make_data(), Plain(GCNConv).eval()
    groups = [[0, 1, 2], [3, 4], [5, 6, 7], [8, 9, 10]]
    grouped, single = (
        ModelGame(model, data, groups=groups, output="logit", masking="remove"),
        ModelGame(model, data, output="logit", masking="remove"),
    )
    assert grouped.num_players == 4
    nodes = np.zeros((1, NODES), bool)
    nodes[0, [0, 1, 2, 5, 6, 7]] = True
    assert grouped.worth([{0, 2}])[0] == pytest.approx(single.worth(nodes)[0], abs=rounding())
    labels = np.repeat([7, 3, 5, 9], [3, 2, 3, 3])
    assert ModelGame(model, data, groups=labels, output="logit", masking="remove").num_players == 4
    expected = {
        (a, b)
        for a in range(4)
        for b in range(a)
        for i, j in data.edge_index.T.tolist()
        if i in groups[a] and j in groups[b]
    }
    assert {tuple(sorted(pair, reverse=True)) for pair in grouped.graph.edges.tolist()} == expected


def test_a_masking_of_ones_own():
    def whisper(graph, masks):
        data, place = split(graph, masks)
        data.x = data.x * (0.1 + 0.9 * masks.flatten()[:, None])
        return MaskedBatch(data, place)

    game = ModelGame(Plain(GCNConv).eval(), make_data(), masking=whisper, output="logit")
    check_game(game, tolerance=1e-5)


class Counting(nn.Module):
    """Counts the graphs, or at node level the copies of the graph, that it is run on."""

    def __init__(self, model, copies):
        super().__init__()
        self.inner, self.copies, self.seen = model, copies, 0

    def forward(self, x, edge_index, batch):
        self.seen += self.copies(x, batch)
        return self.inner(x, edge_index, batch) if isinstance(self.inner, Plain) else self.inner(x, edge_index)


@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
def test_queries_are_what_the_model_sees(masking):
    data = make_data(nodes=6)
    spy = Counting(Plain(GCNConv).eval(), lambda x, batch: int(batch.max()) + 1)
    explanation = mage.explain(spy, data, masking=masking, method="exact")
    assert explanation.num_queries == spy.seen
    spy = Counting(NodeModel().eval(), lambda x, batch: int(batch.max()) + 1)
    explanation = mage.explain(spy, data, masking=masking, node=3, method="exact")
    assert explanation.num_queries == spy.seen


@pytest.mark.parametrize("masking", ["split", "zero"])
def test_queries_are_nodes_of_whole_graphs_where_states_are_shared(masking):
    data = make_data()
    for kinds, most in ((1, 0.5), (NODES, 1.0)):
        data.x = torch.eye(FEATURES)[torch.zeros(NODES, dtype=torch.long)] if kinds == 1 else torch.randn_like(data.x)
        spy = Counting(Plain(GCNConv).eval(), lambda x, batch: len(x))
        game = ModelGame(spy, data, masking=masking, output="logit")
        worths = game.connected_worths(game.graph)
        assert game.states.num_states
        # Where all nodes differ, states cost no more than coalitions; 64 of them are checks.
        assert game.num_queries < most * len(worths) + 130
        # Trees are rounded up to whole graphs; the pool and the head are run on a graph of a few nodes each time.
        assert spy.seen <= data.num_nodes * game.num_queries + 13 * 20


class Fragile(Plain):
    def __init__(self):
        super().__init__(GCNConv)
        self.calls = 0

    def forward(self, x, edge_index, batch=None):
        self.calls += 1
        torch.rand(3)
        if self.calls > 14:
            raise RuntimeError("out of memory")
        return super().forward(x, edge_index, batch)


def test_the_model_is_left_as_it_was_whatever_happens():
    data, model = make_data(), Fragile()
    model.train()
    model.second.eval()
    modes = [module.training for module in model.modules()]
    torch.manual_seed(5)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    game = ModelGame(model, data, output="logit", masking="remove")
    with pytest.raises(ValueFunctionError, match="out of memory"):
        [game.worth([{i}]) for i in range(8)]
    assert [module.training for module in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()
    assert all(parameter.grad is None for parameter in model.parameters())


def test_dropout_is_off_and_batches_do_not_mix():
    model = nn.ModuleDict({"plain": Plain(gin)})["plain"]
    model.train()
    check_game(ModelGame(model, make_data(), output="logit", masking="remove"), tolerance=1e-5)
