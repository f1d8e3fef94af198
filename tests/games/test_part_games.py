"""Edges and features as players: worths of one graph at a time, structure, and what is refused."""

import itertools

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import mage
from mage.games import ModelGame
from mage.games.part_games import EdgeGame, FeatureGame, feature_names
from mage.testing import check_game
from tests.helpers.model_game import LinkModel, NodeModel, Plain, make_data
from tests.helpers.typed_graphs import model_on, typed_graph

LEVELS = {"graph": (Plain, {}), "node": (NodeModel, {"node": 3}), "edge": (LinkModel, {"edge": (1, 6)})}


def game_at(level, **fields):
    torch.manual_seed(2)
    maker, where = LEVELS[level]
    model = (maker() if level == "edge" else maker(GCNConv)).double().eval()
    data = make_data()
    data.x = data.x.double()
    return (
        model,
        data,
        ModelGame(
            model,
            data,
            target=0 if level != "edge" else None,
            **{"output": "logit", "masking": "remove", **where},
            **fields,
        ),
    )


def output(model, data, level, target=0):
    with torch.no_grad():
        if level == "graph":
            return float(model(data.x, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long))[0, target])
        if level == "node":
            return float(model(data.x, data.edge_index)[3, target])
        return float(model(data.x, data.edge_index, edge_label_index=torch.tensor([[1], [6]])).flatten()[0])


@pytest.mark.parametrize("level", LEVELS)
def test_worths_of_edges_are_those_of_one_graph_at_a_time(level):
    model, data, nodes = game_at(level)
    game = EdgeGame(nodes)
    masks = np.random.default_rng(0).random((20, game.num_players)) < 0.6
    values = game.readings(masks, (game.readout,))[0]
    for mask, value in zip(masks, values, strict=True):
        absent = {frozenset(link) for link, present in zip(game.player_links, mask, strict=True) if not present}
        presence = torch.tensor([frozenset(pair) not in absent for pair in data.edge_index.T.tolist()])
        part = Data(x=data.x, edge_index=data.edge_index[:, presence])
        assert value == pytest.approx(output(model, part, level), abs=1e-9)


@pytest.mark.parametrize("absent", ["zero", "mean"])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_worths_of_features_are_those_of_one_graph_at_a_time(level, absent):
    model, data, nodes = game_at(level)
    subset = [0, 3, 4]
    for where in (None, subset):
        game = FeatureGame(nodes, where, absent)
        inside = nodes.participants.nodes.tolist()
        other = data.x[inside].mean(dim=0) if absent == "mean" else torch.zeros(4).double()
        masks = np.array(list(itertools.product([False, True], repeat=game.num_players)))
        values = game.readings(masks, (game.readout,))[0]
        rows = inside if where is None else [v for v in subset if v in inside]
        for mask, value in zip(masks, values, strict=True):
            features = data.x.clone()
            for column, present in zip(game.player_columns, mask, strict=True):
                if not present:
                    features[rows, column] = other[column]
            assert value == pytest.approx(output(model, Data(x=features, edge_index=data.edge_index), level), abs=1e-9)


def test_edges_are_joined_where_they_share_a_node():
    _, data, nodes = game_at("graph")
    game = EdgeGame(nodes)
    links = game.player_links
    expected = {(i, j) for i, j in itertools.combinations(range(len(links)), 2) if set(links[i]) & set(links[j])}
    assert set(map(tuple, game.graph.edges.tolist())) == expected
    assert len(links) == data.edge_index.size(1) // 2


def test_the_ends_of_a_link_join_their_edges():
    _, _, nodes = game_at("edge")
    game = EdgeGame(nodes)
    at = {end: [i for i, link in enumerate(game.player_links) if end in link] for end in (1, 6)}
    assert all(game.graph.adjacency[i, j] for i in at[1] for j in at[6] if i != j)


def test_columns_that_are_absent_already_do_not_play():
    model, data, _ = game_at("graph")
    data.x[:, 1] = 0
    data.feature_names = ["a", "b", "c", "d"]
    game = FeatureGame(ModelGame(model, data, target=0, output="logit", masking="remove"))
    assert game.player_columns == [0, 2, 3]
    assert feature_names(game, data) == ("a", "b", "c", "d")
    assert game.limited_to([0, 2]).player_columns == [0, 3]


@pytest.mark.parametrize("kind", ["edges", "features"])
def test_they_are_games(kind):
    _, _, nodes = game_at("node")
    check_game(EdgeGame(nodes) if kind == "edges" else FeatureGame(nodes))


@pytest.mark.parametrize("fill", ["zero", "mean"])
def test_features_of_typed_graphs(fill):
    data = typed_graph()
    model, fields = model_on("to_hetero", data)
    nodes = ModelGame(
        model,
        data,
        masking="mean" if fill == "mean" else "remove",
        target=1,
        **{"output": "logit", **fields},
    )
    game = FeatureGame(nodes, absent=fill)
    assert game.num_columns == 4 + 3 + 2
    masks = np.random.default_rng(0).random((20, game.num_players)) < 0.5
    values = game.readings(masks, (game.readout,))[0]
    starts = dict(zip(("paper", "author", "venue"), (0, 4, 7), strict=True))
    for mask, value in zip(masks, values, strict=True):
        part = data.clone()
        for kind, first in starts.items():
            other = data[kind].x.mean(dim=0) if fill == "mean" else torch.zeros_like(data[kind].x[0])
            for player, column in enumerate(game.player_columns):
                if first <= column < first + data[kind].x.size(1) and not mask[player]:
                    part[kind].x[:, column - first] = other[column - first]
        with torch.no_grad():
            expected = model(part.x_dict, part.edge_index_dict)["paper"][2, 1]
        assert value == pytest.approx(float(expected), abs=1e-9)


def test_edges_of_typed_graphs():
    data = typed_graph()
    model, fields = model_on("to_hetero", data)
    game = EdgeGame(
        ModelGame(
            model,
            data,
            target=1,
            **{"output": "logit", "masking": "remove", **fields},
        )
    )
    masks = np.random.default_rng(0).random((10, game.num_players)) < 0.5
    values = game.readings(masks, (game.readout,))[0]
    first = dict(zip(game.nodes.typed.node_types, game.nodes.typed.node_starts, strict=False))
    for mask, value in zip(masks, values, strict=True):
        absent = {frozenset(link) for link, present in zip(game.player_links, mask, strict=True) if not present}
        part = data.clone()
        for kind in data.edge_types:
            ends = data[kind].edge_index + torch.tensor([[first[kind[0]]], [first[kind[2]]]])
            presence = torch.tensor([frozenset(pair) not in absent for pair in ends.T.tolist()])
            part[kind].edge_index = data[kind].edge_index[:, presence]
        with torch.no_grad():
            expected = model(part.x_dict, part.edge_index_dict)["paper"][2, 1]
        assert value == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"players": "atoms"}, "players must be one of nodes, edges, features"),
        ({"players": "edges", "groups": "rings"}, "groups: only nodes form groups"),
        ({"players": "features", "refine": True}, "refine: only nodes form groups"),
        ({"players": "edges", "masking": "zero"}, "masking: an absent edge is removed"),
        ({"players": "features", "masking": "split"}, "masking: an absent feature is 'zero' or 'mean'"),
        ({"players": "edges", "include": [1]}, "include: nodes cannot be chosen if the players are edges"),
    ],
)
def test_what_does_not_go_with_other_players_is_said(fields, words):
    with pytest.raises(ValueError, match=words):
        mage.explain(Plain(GCNConv).eval(), make_data(), **fields)


def test_graphs_without_edges_or_features_are_refused():
    data = make_data()
    data.edge_index = data.edge_index[:, :0]
    data.edge_attr = data.edge_weight = None
    with pytest.raises(ValueError, match="players: the graph has no edges"):
        mage.explain(Plain(GCNConv).eval(), data, players="edges", inputs=("x", "edge_index", "batch"))
    with pytest.raises(ValueError, match="needs data"):
        FeatureGame(
            ModelGame(
                lambda atom, edge_index, batch: torch.zeros(int(batch.max()) + 1, 2),
                Data(atom=torch.arange(3), edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3),
                output="logit",
                masking="remove",
            )
        )
