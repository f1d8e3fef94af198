"""Odd inputs to public methods of explanations, games and graphs of players: right, or refused by name."""

import time

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import mage
from mage.graph import packing
from mage.testing import random_game
from tests.helpers.odd_inputs import PATH, VALUES, Net, check_outcome, graph


@pytest.fixture(scope="module")
def explanation():
    return mage.explain(Net().eval(), graph(), progress=False, tau=0.5, max_nodes=3, num_motifs=2)


@pytest.mark.parametrize("method", ["motif_error", "motif_players", "motif_edges", "error_text"])
def test_methods_that_take_a_motif(explanation, method):
    for value in VALUES.values():
        assert check_outcome(lambda value=value: getattr(explanation, method)(value), "motif") is None
    getattr(explanation, method)(explanation.motifs[0])


@pytest.mark.parametrize("name", VALUES)
def test_worths_of_bits_and_of_connected_coalitions(name):
    game, value = random_game(5, PATH), VALUES[name]
    assert check_outcome(lambda: game.worth_of_bits(value), "coalitions") is None
    assert check_outcome(lambda: game.connected_worths(value), "graph") is None
    if value is not None and (not callable(value) or isinstance(value, type)):
        assert check_outcome(lambda: game.connected_worths(game.graph, value), "tick") is None


def test_bits_of_other_players():
    game = random_game(5, PATH)
    everyone = packing.pack(np.ones((1, 5), dtype=bool))
    assert game.worth_of_bits(everyone)[0] == pytest.approx(game.total)
    with pytest.raises(ValueError, match="coalitions: bits of players that do not exist"):
        game.worth_of_bits(everyone | np.uint64(1 << 5))
    with pytest.raises(TypeError, match="coalitions must be bits"):
        game.worth_of_bits(np.hstack([everyone, everyone]))
    with pytest.raises(ValueError, match="graph must have 5 players, got 6"):
        game.connected_worths(mage.PlayerGraph(6))


@pytest.mark.parametrize("name", VALUES)
def test_graphs_of_players(name):
    players, value = mage.PlayerGraph(5, PATH), VALUES[name]
    for call, *arguments in (
        (lambda: mage.PlayerGraph.from_edge_index(value), "edge_index", "num_players"),
        (lambda: mage.PlayerGraph.from_edge_index(np.array([[0], [1]]), value), "num_players", "edges"),
        (lambda: mage.PlayerGraph.from_networkx(value), "graph"),
        (lambda: mage.PlayerGraph.of(value, 5), "edges", "edge_index"),
        (lambda: players.count_connected(value), "cap"),
        (lambda: list(players.blocks(value)), "block_size"),
        (lambda: list(players.blocks(16, value)), "max_size"),
        (lambda: players.sample_connected(value), "count"),
        (lambda: players.sample_connected(3, value), "seed"),
        (lambda: players.components(value), "coalition", "coalitions", "players", "player"),
        (lambda: players.neighbours(value), "coalitions", "players", "player"),
    ):
        check_outcome(call, *arguments)


class Constant(torch.nn.Module):
    def forward(self, edge_index, batch):
        return torch.ones(int(batch.max()) + 1, 2)


@pytest.mark.parametrize("count", [10**7, 10**9, 10**18])
def test_more_nodes_than_any_attribute_has_rows(count):
    start = time.monotonic()
    with pytest.raises(ValueError, match="num_nodes must be at most"):
        mage.explain(Constant(), Data(edge_index=torch.tensor([[0], [1]]), num_nodes=count))
    typed = HeteroData()
    typed["paper"].num_nodes = count
    typed["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
    with pytest.raises(ValueError, match="num_nodes must be at most"):
        mage.explain(Constant(), typed)
    assert time.monotonic() - start < 10
