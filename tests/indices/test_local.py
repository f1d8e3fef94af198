import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

import mage
from mage.games import ModelGame
from mage.indices import NotLocalError, TooManyCoalitionsError
from mage.indices.local import local_coalitions
from mage.models import GCN, GIN
from mage.testing import random_graph
from tests.data import data_path


def is_local(graph, members, radius):
    """Whether some member reaches all others inside the coalition, by breadth-first search."""
    neighbours = graph.neighbour_lists()
    for centre in members:
        reached = {centre}
        for _ in range(radius):
            reached |= {near for node in reached for near in neighbours[node] if near in members}
        if reached == set(members):
            return True
    return False


@given(st.integers(1, 7), st.integers(0, 200), st.integers(0, 3))
def test_local_coalitions_are_those_of_small_radius(players, seed, radius):
    graph = random_graph(players, 0.4, seed)
    from mage import _bits

    listed = _bits.unpack(local_coalitions(graph, radius, 10_000), players)
    found = {tuple(np.flatnonzero(row).tolist()) for row in listed}
    assert len(found) == len(listed)
    expected = {
        members
        for size in range(1, players + 1)
        for members in itertools.combinations(range(players), size)
        if is_local(graph, set(members), radius)
    }
    assert found == expected
    assert (np.diff(listed.sum(axis=1)) >= 0).all()


def local_game(graph, radius, seed):
    """A game in which random local coalitions, and no others, have dividends."""
    from mage import _bits

    family = _bits.unpack(local_coalitions(graph, radius, 10_000), graph.num_players)
    dividends = np.random.default_rng(seed).normal(size=len(family))

    def worth(masks):
        inside = (~masks[:, None, :] & family[None]).any(axis=2)
        return (~inside) @ dividends

    return mage.Game(worth, graph.num_players, graph)


@given(st.integers(2, 7), st.integers(0, 100), st.integers(1, 2), st.integers(1, 3))
def test_the_index_is_the_exact_one(players, seed, radius, order):
    graph = random_graph(players, 0.4, seed)
    order = min(order, players)
    found = mage.interactions(local_game(graph, radius, seed), order=order, method="exact-local", radius=radius)
    for index in ("myerson-taylor", "shapley-taylor"):
        exact = mage.interactions(local_game(graph, radius, seed), index, order, "exact")
        assert found.values == pytest.approx(exact.values, abs=1e-9)
    assert found.exact
    assert (found.std_error == 0).all()


def test_games_that_are_not_local_are_refused():
    path = mage.PlayerGraph(8, [(i, i + 1) for i in range(7)])
    far = mage.testing.unanimity_game(8, [0, 7], path)
    with pytest.raises(NotLocalError, match=r"a violation of 1 of the largest worth.*masking='split'"):
        mage.interactions(far, method="exact-local", radius=2)


def ring(nodes):
    edges = torch.tensor([(i, (i + 1) % nodes) for i in range(nodes)] + [(i, i + nodes) for i in range(3)]).T
    torch.manual_seed(1)
    return Data(x=torch.randn(nodes + 3, 4), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


@pytest.mark.parametrize(
    ("model", "hops"), [(GIN(4, 2, 8, num_layers=2), 2), (GCN(4, 2, 8, num_layers=1, normalize=False), 1)]
)
def test_models_tell_their_radius(model, hops):
    data = ring(14)
    game = ModelGame(model.eval(), data, masking="split")
    assert game.num_hops == hops
    found = mage.interactions(game, method="exact-local")
    exact = mage.interactions(ModelGame(model, data, masking="split"), method="exact")
    assert found.num_queries < exact.num_queries / 2
    assert found.values == pytest.approx(exact.values, abs=1e-5 * np.abs(exact.values).max())


def test_normalised_layers_hear_one_hop_further():
    model, data = GCN(4, 2, 8, num_layers=1).eval(), ring(9)
    with pytest.raises(NotLocalError):
        mage.interactions(ModelGame(model, data, masking="split"), method="exact-local", radius=1)
    found = mage.interactions(ModelGame(model, data, masking="split"), method="exact-local")
    exact = mage.interactions(ModelGame(model, data, masking="split"), method="exact")
    assert found.values == pytest.approx(exact.values, abs=1e-5 * np.abs(exact.values).max())


@pytest.mark.parametrize(
    "change", [{"output": "probability"}, {"masking": "remove"}, {"model": GIN(4, 2, 8, num_layers=2, readout="max")}]
)
def test_probabilities_removal_and_maxima_are_refused(change):
    settings = {"model": GIN(4, 2, 8, num_layers=2), "masking": "split", "output": "logit", **change}
    game = ModelGame(settings["model"].eval(), ring(9), masking=settings["masking"], output=settings["output"])
    with pytest.raises(NotLocalError, match="a violation of"):
        mage.interactions(game, method="exact-local")


def test_wrong_arguments_are_refused():
    game = mage.testing.random_game(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    with pytest.raises(ValueError, match="radius: say how many hops"):
        mage.interactions(game, method="exact-local")
    with pytest.raises(ValueError, match="radius goes with method='exact-local'"):
        mage.interactions(game, method="exact", radius=2)
    with pytest.raises(ValueError, match="permutations and orderings go with"):
        mage.interactions(game, method="exact-local", radius=1, permutations=5)
    with pytest.raises(TooManyCoalitionsError, match="more than budget = 3"):
        mage.interactions(game, method="exact-local", radius=2, budget=3)


def test_real_molecules():
    data_path("benzene")
    dataset = mage.datasets.load("benzene")
    torch.manual_seed(0)
    model = GIN(14, 2, 16).eval()
    chosen = [i for i in range(200) if 18 <= dataset[i].num_nodes <= 19][:3]
    for i in chosen:
        local = mage.interactions(ModelGame(model, dataset[i], masking="split"), method="exact-local")
        exact = mage.interactions(ModelGame(model, dataset[i], masking="split"), method="exact")
        assert local.values == pytest.approx(exact.values, abs=1e-5 * np.abs(exact.values).max())
        assert local.num_queries < exact.num_queries
