"""Explaining in stages: groups, refinement, a cap on players, and that all of it is said."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GraphConv, SAGEConv, global_add_pool

import mage
from mage._core.conversion import same
from mage.explainers.large_graphs import PlayerReduction, single_effects
from mage.games import GraphRequest, ModelGame
from mage.indices import IndexRequest
from tests.helpers.graph_models import Net, NodeNet, graph
from tests.helpers.precision import rounding


class Marked(nn.Module):
    """Counts marked nodes with a marked neighbour: what it says is due to pairs that are known."""

    def __init__(self, pooled=True, power=1):
        super().__init__()
        self.conv, self.pooled, self.power = GraphConv(2, 1), pooled, power
        self.conv.lin_rel.weight.data = torch.tensor([[1.0, 0.0]])
        self.conv.lin_rel.bias.data = torch.tensor([-2.0])
        self.conv.lin_root.weight.data = torch.tensor([[2.0, 0.0]])

    def forward(self, x, edge_index, batch=None):
        marks = self.conv(x, edge_index).relu()
        if not self.pooled:
            return marks
        return global_add_pool(marks, batch) ** self.power


def blocks_with_a_marked_pair(num_blocks=16, size=25, seed=0):
    """Blocks of nodes in a ring; one edge joins two marked nodes, and a third marked node stands alone."""
    network = nx.random_partition_graph([size] * num_blocks, 0.25, 0.0, seed=seed)
    network.add_edges_from((size * i, size * ((i + 1) % num_blocks)) for i in range(num_blocks))
    edges = torch.tensor(list(network.edges())).T
    inside = network.subgraph(range(3 * size, 4 * size))
    pair = tuple(sorted(next((a, b) for a, b in inside.edges() if 3 * size not in (a, b))))
    x = torch.zeros(num_blocks * size, 2)
    x[list(pair), 0] = 1
    x[7 * size % len(x) + 3, 0] = 1
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1)), pair


@pytest.mark.parametrize(
    ("options", "masking"),
    [
        ({}, "remove"),
        pytest.param({}, "split", marks=pytest.mark.long),
        pytest.param({"groups": "communities", "refine": True}, "remove", marks=pytest.mark.long),
        pytest.param({"groups": "communities", "refine": True}, "split", marks=pytest.mark.long),
        pytest.param({"refine": "absent"}, "remove", marks=pytest.mark.long),
        pytest.param({"refine": "absent"}, "split", marks=pytest.mark.long),
    ],
)
def test_a_pair_among_four_hundred_nodes_is_found(options, masking):
    data, pair = blocks_with_a_marked_pair()
    explanation = mage.explain(Marked(), data, num_motifs=1, max_nodes=2, masking=masking, budget=2_000, **options)
    assert [motif.nodes for motif in explanation.motifs] == [pair]
    # Exact where all orderings agree; a surrogate is right within its error.
    error = explanation.motif_error(explanation.motifs[0])
    assert abs(explanation.motifs[0].score - 2.0) <= max(1e-4, 4 * error)
    (stage,) = explanation.stages
    assert sorted(v for nodes in stage.players for v in nodes) == list(range(400))
    assert 20 <= len(stage.players) <= 40
    winners = {v for player in stage.kept for v in stage.players[player]}
    playing = {v for nodes in explanation.players for v in nodes}
    assert set(pair) <= playing <= winners
    assert all(len(nodes) == 1 for nodes in explanation.players)
    assert explanation.num_nodes == 400
    notes = " ".join(explanation.notes)
    others = options.get("refine") if isinstance(options.get("refine"), str) else "present"
    assert f"all others {others}" in notes
    assert "not looked for" in notes
    assert explanation.num_queries > stage.num_queries


@pytest.mark.long
def test_what_was_done_survives_a_file(tmp_path):
    data, _ = blocks_with_a_marked_pair()
    explanation = mage.explain(Marked(), data, num_motifs=1, max_nodes=2, budget=1_500)
    explanation.save(tmp_path / "why.mage")
    again = mage.load(tmp_path / "why.mage")
    assert same(again, explanation)
    assert again.motifs == explanation.motifs
    repeated = mage.explain(Marked(), data, num_motifs=1, max_nodes=2, budget=1_500)
    assert same(replace(repeated, seconds=explanation.seconds), explanation)
    np.testing.assert_array_equal(repeated.interactions.values, explanation.interactions.values)


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), num_motifs=st.integers(1, 2), tau=st.sampled_from([0.5, 1.0]))
def test_refined_motifs_lie_inside_the_groups_that_won(seed, num_motifs, tau):
    torch.manual_seed(seed)
    data = graph(seed, nodes=30)
    explanation = mage.explain(
        Net(),
        data,
        num_motifs=num_motifs,
        max_nodes=3,
        tau=tau,
        groups="communities",
        refine=True,
        max_players=8,
        budget=300,
    )
    assert len(explanation.players) <= 8
    playing = {v for nodes in explanation.players for v in nodes}
    for stage in explanation.stages:
        everybody = [v for nodes in stage.players for v in nodes]
        assert len(everybody) == len(set(everybody))
        winners = {v for player in stage.kept for v in stage.players[player]}
        assert playing <= winners or not winners
    assert set(explanation.motifs.nodes) <= playing


@settings(max_examples=8)
@given(seed=st.integers(0, 1000), level=st.sampled_from(["graph", "node"]))
def test_enough_players_change_nothing(seed, level):
    torch.manual_seed(seed)
    data = graph(seed, nodes=12)
    model, options = (Net(), {}) if level == "graph" else (NodeNet(4, 3, SAGEConv), {"node": seed % 12})
    plain = mage.explain(model, data, tau=0.5, **options)
    count = max(2, len(plain.players))
    for most in (count, count + 5, 1000):
        capped = mage.explain(model, data, tau=0.5, max_players=most, **options)
        np.testing.assert_array_equal(capped.interactions.values, plain.interactions.values)
        assert capped.motifs == plain.motifs
        assert (capped.stages, capped.players_cap, capped.notes) == (plain.stages, plain.players_cap, plain.notes)
        assert capped.num_queries == plain.num_queries


def hub_with_marked_spokes(spokes=400):
    """A node with many neighbours, each with a neighbour of its own, two of them marked, in a long chain of others."""
    edges = [(0, i) for i in range(1, spokes + 1)] + [(i, spokes + i) for i in range(1, spokes + 1)]
    edges += [(2 * spokes + i, 2 * spokes + i + 1) for i in range(50)] + [(spokes + 1, 2 * spokes)]
    columns = torch.tensor(edges).T
    x = torch.rand(2 * spokes + 51, 2, generator=torch.Generator().manual_seed(0)) * 0.01
    x[[7, 90], 0] = 1
    return Data(x=x, edge_index=torch.cat([columns, columns.flip(0)], dim=1))


@pytest.mark.long
def test_of_too_many_neighbours_the_strongest_play():
    data = hub_with_marked_spokes()
    data.x[0, 0] = 1
    model = Marked(pooled=False).eval()
    explanation = mage.explain(model, data, num_motifs=1, max_nodes=3, node=0, noise_floor=0.0, budget=3_000)
    cap = explanation.players_cap
    assert (cap.players, cap.kept, cap.others) == (401, 48, "present")
    assert len(explanation.players) == 48
    assert set(explanation.motifs.nodes) == {0, 7, 90}
    (note,) = explanation.notes
    assert "48 of 401 players" in note
    assert "always present" in note
    # Each spoke twice, the hub once (without it there is no output), all and the baseline; spokes alike are asked once.
    assert cap.num_queries < (2 * 400 + 3) / 5


def test_of_too_many_neighbours_few_play():
    data = hub_with_marked_spokes()
    data.x[0, 0] = 1
    model = Marked(pooled=False).eval()
    explanation = mage.explain(
        model, data, num_motifs=1, max_nodes=3, node=0, noise_floor=0.0, max_players=5, method="exact"
    )
    assert set(explanation.motifs.nodes) == {0, 7, 90}
    assert len(explanation.players) == 5


def test_players_far_away_come_with_the_path_to_the_target():
    data = graph(5, nodes=120)
    model = NodeNet(4, 2, GCNConv).eval()
    centre = int(torch.bincount(data.edge_index[0]).argmax())
    explanation = mage.explain(model, data, node=centre, max_players=12, budget=2_000)
    playing = [v for nodes in explanation.players for v in nodes]
    assert centre in playing
    assert len(playing) <= 12
    network = nx.Graph(data.edge_index.T.tolist()).subgraph(playing)
    assert nx.is_connected(network)


@pytest.mark.long
def test_neighbourhoods_beyond_ranking_form_communities(monkeypatch):
    monkeypatch.setattr("mage.explainers.large_graphs._MOST_RANKED", 60)
    data = graph(1, nodes=200)
    centre = int(torch.bincount(data.edge_index[0]).argmax())
    explanation = mage.explain(NodeNet(4, 2, SAGEConv).eval(), data, node=centre, max_players=20, budget=1_000, tau=0.5)
    assert explanation.stages
    assert explanation.level == "node"
    assert len(explanation.players) <= 20
    playing = [v for nodes in explanation.players for v in nodes]
    assert centre in playing
    assert nx.is_connected(nx.Graph(data.edge_index.T.tolist()).subgraph(playing))


def test_effects_of_single_players():
    data = graph(nodes=9)
    game = ModelGame(Net().eval(), data, target=0, output="logit", masking="remove")
    everyone = set(range(9))
    changes = np.array([[game.total - game.worth([everyone - {i}])[0], game.worth([{i}])[0]] for i in range(9)])
    np.testing.assert_allclose(single_effects(game, []), np.abs(changes).max(axis=1) / 2)
    np.testing.assert_allclose(single_effects(game, [], tau=1.0), np.maximum(changes, 0).max(axis=1))
    np.testing.assert_allclose(single_effects(game, [], tau=0.0), np.maximum(-changes, 0).max(axis=1))


def test_rings_are_refined_to_atoms():
    # Two rings of six joined by a chain; the pair that counts is in the second.
    edges = [(i, (i + 1) % 6) for i in range(6)] + [(9 + i, 9 + (i + 1) % 6) for i in range(6)]
    edges += [(0, 6), (6, 7), (7, 8), (8, 9)]
    columns = torch.tensor(edges).T
    x = torch.zeros(15, 2)
    x[[11, 12, 7], 0] = 1
    data = Data(x=x, edge_index=torch.cat([columns, columns.flip(0)], dim=1))
    coarse = mage.explain(Marked(), data, num_motifs=1, max_nodes=1, groups="rings")
    assert [motif.nodes for motif in coarse.motifs] == [tuple(range(9, 15))]
    assert not coarse.stages
    fine = mage.explain(Marked(), data, num_motifs=1, max_nodes=2, groups="rings", refine=True)
    assert [motif.nodes for motif in fine.motifs] == [(11, 12)]
    assert "rings: 3 groups of 15 nodes" in fine.notes[0]
    assert fine.interactions.exact


@pytest.mark.long
def test_nodes_that_must_or_must_not_be_in_a_motif():
    data, pair = blocks_with_a_marked_pair()
    elsewhere = 12 * 25 + 4
    explanation = mage.explain(
        Marked(), data, num_motifs=2, max_nodes=3, include=[elsewhere], exclude=[pair[0], 7], budget=1_500
    )
    assert elsewhere in explanation.motifs.nodes
    assert pair[0] not in explanation.motifs.nodes
    nothing = mage.explain(Marked(), data, num_motifs=1, max_nodes=2, exclude=range(75, 100), budget=1_500)
    assert not set(nothing.motifs.nodes) & set(range(75, 100))


def test_where_no_group_stands_out_none_is_refined():
    data, _ = blocks_with_a_marked_pair()
    data.x[:] = 0
    explanation = mage.explain(Marked(), data, num_motifs=1, max_nodes=2, budget=1_500)
    assert not len(explanation.motifs)
    assert "no group stands out" in " ".join(explanation.notes)


def test_groups_that_all_win_come_apart():
    data = graph(nodes=40)
    explanation = mage.explain(
        Net(pool=global_add_pool),
        data,
        num_motifs=3,
        max_nodes=4,
        tau=0.5,
        groups="communities",
        refine=True,
        max_players=4,
        budget=400,
    )
    assert len(explanation.players) <= 4
    assert all(len(nodes) == 1 for nodes in explanation.players)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refine": "gone"}, "refine must be"),
        ({"max_players": 1}, "max_players"),
        ({"max_players": 2.5}, "max_players"),
        ({"groups": "squares"}, "communities, rings"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        mage.explain(Net(), graph(), **options)


@pytest.mark.long
def test_stages_have_a_budget_unless_the_user_has_one():
    reduction = PlayerReduction(GraphRequest())
    game = ModelGame(Net().eval(), graph(), output="logit", masking="remove")
    assert reduction.budget(game, IndexRequest()) is None
    assert reduction.budget(game, IndexRequest(budget=77)) == 77
    data, _ = blocks_with_a_marked_pair()
    queries = {}
    for budget in (None, 1_700):
        explanation = mage.explain(Marked(power=2), data, num_motifs=1, max_nodes=2, budget=budget)
        queries[budget] = [stage.num_queries for stage in explanation.stages]
    assert all(count <= 4_000 for count in queries[None])
    assert all(count <= 1_700 for count in queries[1_700])


@pytest.mark.parametrize(("order", "method"), [(1, "auto"), (3, "permutation"), (2, "exact")])
def test_other_orders_and_methods_in_stages(order, method):
    data, pair = blocks_with_a_marked_pair(num_blocks=6, size=8)
    groups = np.repeat(np.arange(6), 8)
    explanation = mage.explain(
        Marked(), data, num_motifs=1, max_nodes=2, groups=groups, refine=True, order=order, method=method
    )
    assert set(explanation.motifs.nodes) == set(pair) or order == 1
    assert explanation.interactions.order == order
    with pytest.raises(ValueError, match="include: node 99 is not a player"):
        mage.explain(Marked(), data, groups=groups, refine=True, include=[99])


def test_all_pairs_of_the_last_stage_are_exact_worths():
    data, _ = blocks_with_a_marked_pair(num_blocks=4, size=6)
    explanation = mage.explain(
        Marked(power=2),
        data,
        num_motifs=1,
        max_nodes=2,
        groups=np.repeat(np.arange(4), 6),
        refine=True,
        budget=5_000,
        order=2,
    )
    game = ModelGame(Marked(power=2), data, output="logit", masking="remove")
    nodes = [v for members in explanation.players for v in members]
    near = game.zoomed([[v] for v in nodes])
    expected = mage.interactions(near, budget=5_000)
    np.testing.assert_allclose(explanation.interactions.values, expected.values, atol=rounding())
