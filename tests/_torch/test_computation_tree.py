import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from mage._torch.computation_tree import build_computation_tree, incoming_edges
from mage.games import ModelGame
from mage.games.colouring import Colouring
from mage.graph import PlayerGraph, packing
from mage.models import GAT, GCN, GIN
from mage.testing import random_graph


@given(st.integers(1, 8), st.integers(0, 100))
def test_incoming_edges_are_those_that_point_to_a_node(players, seed):
    generator = np.random.default_rng(seed)
    edge_index = generator.integers(players, size=(2, int(generator.integers(0, 12))))
    table = incoming_edges(edge_index, players)
    for node in range(players):
        assert [edge for edge in table[node] if edge >= 0] == np.flatnonzero(edge_index[1] == node).tolist()


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["gcn", "gin", "gat"]), st.integers(2, 9), st.integers(1, 3), st.integers(0, 1000))
def test_roots_contribute_what_they_do_in_their_coalitions(kind, players, layers, seed):
    torch.manual_seed(seed)
    graph = random_graph(players, 0.35, seed)
    edges = torch.from_numpy(graph.edges.T.copy()).reshape(2, -1)
    features = torch.eye(2).double()[torch.randint(2, (players,))]
    data = Data(x=features, edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    model = {"gcn": GCN, "gin": GIN, "gat": GAT}[kind](2, 2, 4, num_layers=layers).double().eval()
    contributions = ModelGame(model, data, masking="split", target=0, output="logit").node_contributions
    generator = np.random.default_rng(seed)
    masks = generator.random((12, players)) < 0.8
    roots = generator.integers(players, size=12)
    masks[np.arange(12), roots] = True
    coalitions, with_degrees = packing.pack(masks), kind == "gcn"
    tree = contributions.tree(coalitions, roots, contributions.colouring(graph, layers, with_degrees))
    assert contributions.of_tree(tree, 12) == pytest.approx(contributions(coalitions)[np.arange(12), roots], abs=1e-12)


def test_equal_parts_occur_once():
    """A star: its leaves are equal, so one copy of a leaf sends all messages to the centre."""
    leaves = np.arange(1, 6)
    edge_index = np.concatenate([np.stack([np.zeros(5, int), leaves]), np.stack([leaves, np.zeros(5, int)])], axis=1)
    masks = np.tril(np.ones((6, 6), dtype=bool))[1:]  # the centre with one leaf, two, …, five
    colouring = Colouring.of_players(PlayerGraph.of(edge_index, 6), np.array([0, 1, 1, 1, 1, 1]), 1, False)
    colours = colouring.by_round(packing.pack(masks))
    tree = build_computation_tree(
        edge_index, incoming_edges(edge_index, 6), masks, np.zeros(5, dtype=int), colours, False
    )
    assert tree.nodes.tolist() == [0, 0, 0, 0, 0, 1, 0]  # five roots, one leaf, and the node that fills up degrees
    assert np.bincount(tree.ends[1], minlength=7).tolist() == [1, 2, 3, 4, 5, 0, 0]
    assert set(tree.ends[0].tolist()) == {5}
