"""Only what messages reach is evaluated, and it is worth what it is worth on the whole graph."""

import threading

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, GraphConv, SAGEConv
from torch_geometric.utils import subgraph

from mage._torch.observation import observing
from mage._torch.receptive_field import LooksFurtherError
from mage.games import ModelGame
from tests.helpers.graph_models import NodeNet
from tests.helpers.model_game import FEATURES, LinkModel, NodeModel, Plain, TwoHopLayer, make_data
from tests.helpers.precision import rounding

CONVOLUTIONS = {"gcn": GCNConv, "sage": SAGEConv, "gat": GATConv, "graph": GraphConv}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Many tiny kernels: a second thread mostly waits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Spy(nn.Module):
    """Remembers the largest graph it was shown."""

    def __init__(self, model):
        super().__init__()
        self.inner, self.largest = model, 0

    def forward(self, x, edge_index):
        self.largest = max(self.largest, len(x))
        return self.inner(x, edge_index)


def sparse_graph(nodes, seed):
    edges = torch.tensor(list(nx.gnm_random_graph(nodes, int(1.3 * nodes), seed=seed).edges())).T
    generator = torch.Generator().manual_seed(seed)
    return Data(
        x=torch.randn(nodes, FEATURES, generator=generator),
        edge_index=torch.cat([edges, edges.flip(0)], dim=1),
    )


def output_on_the_whole_graph(model, data, absent, node, masking):
    """The node's output with some nodes absent and all others of the whole graph there."""
    presence = torch.ones(data.num_nodes, dtype=torch.bool)
    presence[absent] = False
    with torch.no_grad():
        if masking == "zero":
            return model(data.x * presence[:, None], data.edge_index)[node]
        edge_index, _ = subgraph(presence, data.edge_index, num_nodes=data.num_nodes)
        return model(data.x, edge_index)[node]


def check_worths_on_the_whole_graph(game, data, node, seed):
    """Six random coalitions that contain the node are worth what the model gives for the whole graph."""
    players = np.concatenate(game.player_nodes)
    masks = np.random.default_rng(seed).random((6, game.num_players)) < 0.6
    masks[:, players.tolist().index(node)] = True
    for mask, worth in zip(masks, game.worth(masks), strict=True):
        expected = output_on_the_whole_graph(game.model, data, players[~mask], node, game.masking)[0]
        assert worth + game.baseline == pytest.approx(float(expected), abs=1e-5)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(sorted(CONVOLUTIONS)),
    masking=st.sampled_from(["remove", "split", "zero"]),
    large=st.booleans(),
)
def test_the_cut_is_worth_what_the_whole_graph_is_worth(seed, kind, masking, large):
    torch.manual_seed(seed)
    data, model = sparse_graph(60, seed), NodeModel(CONVOLUTIONS[kind]).eval()
    node = seed % 60
    # With next to no memory the whole graph is never run.
    game = ModelGame(
        model, data, node=node, masking=masking, target=0, memory_cap=1 if large else 1 << 29, output="logit"
    )
    np.testing.assert_allclose(game.prediction, model(data.x, data.edge_index)[node].detach(), atol=1e-5)
    check_worths_on_the_whole_graph(game, data, node, seed)


@pytest.mark.parametrize("conv", [GCNConv, SAGEConv])
def test_a_large_graph_is_never_run_as_a_whole(conv):
    edges = torch.tensor([(i, i + 1) for i in range(999)]).T
    data = Data(x=torch.randn(1000, FEATURES), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    spy = Spy(NodeModel(conv).eval())
    game = ModelGame(spy, data, node=500, masking="split", memory_cap=1 << 16, output="logit")
    assert (game.seen_nodes, game.seen_hops, game.input_nodes, game.num_hops) == (9, 4, 1000, 2)
    # Three copies at once to see that batches do not mix, each with a ring of boundary nodes at most.
    assert spy.largest <= 21
    whole = ModelGame(spy.inner, data, node=500, masking="split", output="logit")
    assert (whole.seen_nodes, whole.seen_hops, whole.num_players) == (1000, None, 5)
    masks = np.random.default_rng(0).random((10, 5)) < 0.7
    np.testing.assert_allclose(game.worth(masks), whole.worth(masks), atol=rounding())
    link = ModelGame(LinkModel().eval(), data, edge=(500, 600), masking="split", memory_cap=1 << 16, output="logit")
    assert link.seen_nodes == 14
    assert link.num_players == 6


def test_models_that_look_further_are_found_out_on_large_graphs_too():
    class Pooling(NodeModel):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index) + x.mean(dim=0)[:3]

    edges = torch.tensor([(i, (i + 1) % 50) for i in range(50)]).T
    data = Data(x=torch.randn(50, FEATURES), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    game = ModelGame(TwoHopLayer().eval(), data, node=20, masking="split", memory_cap=1, output="logit")
    assert sorted(int(nodes[0]) for nodes in game.player_nodes) == [18, 19, 20, 21, 22]
    assert game.seen_nodes == 50
    for cap in (1, 1 << 29):
        with pytest.raises(LooksFurtherError, match="num_hops="):
            ModelGame(Pooling().eval(), data, node=20, memory_cap=cap, output="logit", masking="remove")


@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
def test_batches_are_cut_to_the_memory_cap(masking):
    data, model = make_data(nodes=200), Plain(GCNConv).eval()
    small = ModelGame(model, data, masking=masking, memory_cap=1 << 21, output="logit")
    large = ModelGame(model, data, masking=masking, output="logit")
    assert small.batch_size < 20 < large.batch_size
    masks = np.random.default_rng(0).random((50, 200)) < 0.5
    np.testing.assert_allclose(small.worth(masks), large.worth(masks), atol=1e-5)


@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
@pytest.mark.parametrize("others", ["present", "absent"])
def test_zooming_leaves_the_others_as_they_are(masking, others):
    data, model = make_data(nodes=16), Plain(GCNConv).eval()
    game = ModelGame(model, data, masking=masking, target=1, output="logit")
    groups = [[3, 4], [5], [9, 10, 11]]
    near = game.zoomed(groups, others)
    assert [nodes.tolist() for nodes in near.player_nodes] == groups
    masks = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=bool)
    whole = np.full((8, 16), others == "present")
    for column, group in enumerate(groups):
        whole[:, group] = masks[:, [column]]
    expected = game.worth(whole)
    np.testing.assert_allclose(near.worth(masks), expected - expected[0], atol=1e-5)
    assert near.num_queries == game.num_queries
    # Closer still: what was outside before stays as it was.
    nearest = near.zoomed([[9], [10]], others)
    inner = np.full((1, 16), others == "present")
    inner[0, 9:12] = [True, False, others == "present"]
    nothing = np.full((1, 16), others == "present")
    nothing[0, 9:11] = False
    difference = game.worth(inner) - game.worth(nothing)
    assert nearest.worth([{0}])[0] == pytest.approx(difference[0], abs=1e-5)
    expected_edges = {
        tuple(sorted((a, b)))
        for a, first in enumerate(groups)
        for b, second in enumerate(groups)
        if a != b and any((i, j) in set(map(tuple, data.edge_index.T.tolist())) for i in first for j in second)
    }
    assert {tuple(edge) for edge in near.graph.edges.tolist()} == expected_edges


def test_zooming_at_a_node_keeps_its_target():
    data = sparse_graph(60, 3)
    game = ModelGame(NodeModel(GCNConv).eval(), data, node=4, target=0, output="logit", masking="remove")
    nodes = [int(v) for v in np.concatenate(game.player_nodes) if v != 4]
    assert game.target_players == [int(np.flatnonzero(np.concatenate(game.player_nodes) == 4)[0])]
    near = game.zoomed([[v] for v in nodes[:3]])
    assert near.target_players == []
    masks = np.ones((1, game.num_players), dtype=bool)
    assert near.total + near.baseline == pytest.approx(float(game.worth(masks)[0]) + game.baseline, abs=1e-5)
    alone = game.zoomed([[nodes[0], 4], [nodes[1]]], "absent")
    assert alone.target_players == [0]
    assert alone.worth([{1}])[0] == 0
    players = np.concatenate(game.player_nodes).tolist()
    pair = game.worth([{players.index(4), players.index(nodes[0]), players.index(nodes[1])}])[0]
    assert alone.total == pytest.approx(pair, abs=1e-5)


@pytest.mark.parametrize(
    ("groups", "others", "message"),
    [
        ([[0], [99]], "present", "node 99 is not a player"),
        ([[0, 1], [1]], "present", "must not overlap"),
        ([[0]], "gone", "'present' or 'absent'"),
    ],
)
def test_bad_zooms(groups, others, message):
    with pytest.raises(ValueError, match=message):
        ModelGame(Plain(GCNConv).eval(), make_data(), output="logit", masking="remove").zoomed(groups, others)


def test_too_many_players_are_refused_by_name(monkeypatch):
    monkeypatch.setattr("mage.games.model_game._MOST_PLAYERS", 10)
    with pytest.raises(ValueError, match="groups='communities'"):
        ModelGame(Plain(GCNConv).eval(), make_data(), output="logit", masking="remove")
    assert (
        ModelGame(
            Plain(GCNConv).eval(), make_data(), groups=lambda e, n: np.arange(n) // 3, output="logit", masking="remove"
        ).num_players
        == 4
    )


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["gcn", "gat"]), masking=st.sampled_from(["remove", "split"]))
def test_stand_ins_are_worth_what_the_boundary_was_worth(seed, kind, masking):
    """A busy neighbourhood, whose outer ring is thinned to a few nodes that keep the degrees right."""
    network = nx.gnm_random_graph(400, 700, seed=seed)
    node = max(network, key=network.degree)
    edges = torch.tensor(list(network.edges())).T
    torch.manual_seed(seed)
    data = Data(x=torch.randn(400, FEATURES), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    model = NodeModel(CONVOLUTIONS[kind]).eval()
    game = ModelGame(model, data, node=node, masking=masking, target=0, output="logit")
    ring = len(nx.single_source_shortest_path_length(network, node, cutoff=3)) - game.num_players
    outer = max(sum(u not in set(np.concatenate(game.player_nodes)) for u in network[v[0]]) for v in game.player_nodes)
    if kind == "gat":
        assert (
            game.participants.graph.num_nodes == game.num_players
        )  # attention asks for no degrees, so there is no boundary
    elif ring > 32:
        assert game.participants.graph.num_nodes == game.num_players + outer
    check_worths_on_the_whole_graph(game, data, node, seed)


def test_a_boundary_that_matters_stays():
    class Outgoing(nn.Module):
        """Divides by the degrees of the boundary itself, which stand-ins do not have."""

        def __init__(self):
            super().__init__()
            self.conv = SAGEConv(FEATURES, 2)

        def forward(self, x, edge_index):
            degree = torch.bincount(edge_index[0], minlength=len(x)).float()
            weights = torch.zeros(len(x)).index_add(0, edge_index[1], 1 / degree[edge_index[0]])
            return self.conv(x, edge_index) * weights[:, None]

    # A centre, its 3 neighbours, 40 nodes beyond each: all is felt through degrees of two hops.
    edges = [(0, i) for i in (1, 2, 3)] + [(i, 40 * i + j) for i in (1, 2, 3) for j in range(40)]
    columns = torch.tensor(edges).T
    data = Data(x=torch.randn(160, FEATURES), edge_index=torch.cat([columns, columns.flip(0)], dim=1))
    game = ModelGame(Outgoing().eval(), data, node=0, masking="split", target=0, output="logit")
    assert game.num_players == 4
    with torch.no_grad():
        expected = Outgoing().eval()
        expected.load_state_dict(game.model.state_dict())
        whole = float(expected(data.x, data.edge_index)[0, 0])
    assert game.total + game.baseline == pytest.approx(whole, abs=1e-5)


def test_hops_of_other_threads_do_not_count():
    model = NodeNet(2, 2).eval()
    x, edge_index = torch.ones(3, 2), torch.tensor([[0, 1], [1, 2]])
    with observing([model]) as run:
        model(x, edge_index)
        other = threading.Thread(target=model, args=(x, edge_index))
        other.start()
        other.join()
    assert run.hops == 2
