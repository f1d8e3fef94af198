import copy
import itertools

import numpy as np
import pytest
import torch
import torch_geometric
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

import mage
from mage.games import ModelGame
from mage.graph import packing
from mage.indices import NotLocalError, TooManyCoalitionsError
from mage.indices.estimators.exact_local.coalitions import local_coalitions
from mage.models import GAT, GCN, GIN, authors_checkpoint
from mage.testing import random_game, random_graph
from tests.helpers.data import data_path
from tests.helpers.precision import rounding
from tests.helpers.suites import few_or_many_examples, long_case


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
    masks = packing.unpack(local_coalitions(graph, radius, 10_000), players)
    coalitions = {tuple(np.flatnonzero(row).tolist()) for row in masks}
    assert len(coalitions) == len(masks)
    expected = {
        members
        for size in range(1, players + 1)
        for members in itertools.combinations(range(players), size)
        if is_local(graph, set(members), radius)
    }
    assert coalitions == expected
    assert (np.diff(masks.sum(axis=1)) >= 0).all()


def local_game(graph, radius, seed):
    """A game in which random local coalitions, and no others, have dividends."""
    family = packing.unpack(local_coalitions(graph, radius, 10_000), graph.num_players)
    dividends = np.random.default_rng(seed).normal(size=len(family))

    def worth(masks):
        inside = (~masks[:, None, :] & family[None]).any(axis=2)
        return (~inside) @ dividends

    return mage.Game(worth, graph.num_players, graph)


@few_or_many_examples(30, 100)
@given(st.integers(2, 7), st.integers(0, 100), st.integers(1, 2), st.integers(1, 3))
def test_the_index_is_the_exact_one(players, seed, radius, order):
    graph = random_graph(players, 0.4, seed)
    order = min(order, players)
    for index in ("myerson-taylor", "shapley-taylor", "myerson-k-sii", "sii", "myerson-banzhaf", "faith-shap"):
        computed = mage.interactions(local_game(graph, radius, seed), index, order, "exact-local", radius=radius)
        exact = mage.interactions(local_game(graph, radius, seed), index, order, "exact")
        assert computed.values == pytest.approx(exact.values, abs=1e-9)
    assert computed.exact
    assert (computed.std_error == 0).all()


def test_games_that_are_not_local_are_refused():
    path = mage.PlayerGraph(8, [(i, i + 1) for i in range(7)])
    far = mage.testing.unanimity_game(8, [0, 7], path)
    with pytest.raises(NotLocalError, match=r"a violation of 1 of the largest worth.*masking='split'"):
        mage.interactions(far, method="exact-local", radius=2)


def ring(nodes):
    edges = torch.tensor([(i, (i + 1) % nodes) for i in range(nodes)] + [(i, i + nodes) for i in range(3)]).T
    torch.manual_seed(1)
    return Data(x=torch.randn(nodes + 3, 4).double(), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


@pytest.mark.parametrize(
    ("model", "hops"), [(GIN(4, 2, 8, num_layers=2), 2), (GCN(4, 2, 8, num_layers=1, normalize=False), 1)]
)
def test_models_tell_their_radius(model, hops):
    data = ring(14)
    game = ModelGame(model.double().eval(), data, masking="split", output="logit")
    assert game.num_hops == hops
    computed = mage.interactions(game, method="exact-local")
    exact = mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact")
    assert computed.num_queries < game.graph.count_connected(cap=10**6) / 2
    assert computed.values == pytest.approx(exact.values, abs=rounding(exact.values, np.float64))


@pytest.mark.parametrize("kind", ["gin", "gcn", "gat"])
@pytest.mark.parametrize(
    ("readout", "order"),
    [("mean", 3), ("sum", 2), *(long_case(*case) for case in [("mean", 1), ("mean", 2), ("sum", 1), ("sum", 3)])],
)
def test_models_that_add_up_their_nodes_show_their_contributions(kind, readout, order):
    """Random graphs with nodes of few kinds, so that neighbourhoods recur."""
    makers = {"gin": GIN, "gcn": GCN, "gat": GAT}
    for seed in range(3):
        torch.manual_seed(seed)
        model = makers[kind](3, 2, 8, num_layers=2, readout=readout).eval().double()
        graph = random_graph(10, 0.22, seed)
        edges = torch.from_numpy(graph.edges.T.copy())
        data = Data(
            x=torch.eye(3).double()[torch.randint(3, (10,))], edge_index=torch.cat([edges, edges.flip(0)], dim=1)
        )
        game = ModelGame(model, data, masking="split", output="logit")
        contributions = game.node_contributions
        assert contributions is not None
        assert len(np.unique(contributions.kinds)) <= 3
        masks = np.random.default_rng(seed).random((20, 10)) < 0.6
        assert contributions(packing.pack(masks)).sum(axis=1) == pytest.approx(game.worth(masks), abs=1e-12)
        for index in ("myerson-taylor", "myerson-k-sii", "faith-shap"):
            computed = mage.interactions(
                ModelGame(model, data, masking="split", output="logit"), index, order, "exact-local"
            )
            exact = mage.interactions(ModelGame(model, data, masking="split", output="logit"), index, order, "exact")
            assert computed.values == pytest.approx(exact.values, abs=1e-12)


def test_equal_neighbourhoods_are_asked_for_once():
    """A star of equal leaves: what the centre sees is how many of them there are."""
    edges = torch.tensor([[0] * 9, list(range(1, 10))])
    data = Data(x=torch.ones(10, 2).double(), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    game = ModelGame(GIN(2, 2, 8, num_layers=1).double().eval(), data, masking="split", output="logit")
    computed = mage.interactions(game, method="exact-local", radius=None)
    exact = mage.interactions(ModelGame(game.model, data, masking="split", output="logit"), method="exact")
    assert computed.values == pytest.approx(exact.values, abs=rounding(exact.values, np.float64))
    # A few trees, two runs that show how the model pools, and two kinds of checks; not 521 coalitions.
    assert computed.num_queries < 2 * 5 + 2 + 2 * 64 + 2 * 64 + 5
    assert game.graph.count_connected(cap=10**6) == 521


def test_features_on_edges_keep_nodes_apart():
    from mage._torch.graph_input import GraphInput
    from mage.games.node_contributions import kinds_of_nodes

    edges = torch.tensor([[0, 1], [1, 0]])
    alike = Data(x=torch.ones(2, 1), edge_index=edges)
    assert len(set(kinds_of_nodes(GraphInput.of(alike)).tolist())) == 1
    weighted = Data(x=torch.ones(2, 1), edge_index=edges, edge_weight=torch.ones(2))
    one_way = Data(x=torch.ones(2, 1), edge_index=edges[:, :1])
    assert all(len(set(kinds_of_nodes(GraphInput.of(data)).tolist())) == 2 for data in (weighted, one_way))


def test_normalised_layers_depend_on_one_hop_more():
    model, data = GCN(4, 2, 8, num_layers=1).double().eval(), ring(9)
    with pytest.raises(NotLocalError):
        mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact-local", radius=1)
    computed = mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact-local")
    exact = mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact")
    assert computed.values == pytest.approx(exact.values, abs=rounding(exact.values, np.float64))


@pytest.mark.parametrize(
    "change", [{"output": "probability"}, {"masking": "remove"}, {"model": GIN(4, 2, 8, num_layers=2, readout="max")}]
)
def test_probabilities_removal_and_maxima_are_refused(change):
    settings = {"model": GIN(4, 2, 8, num_layers=2), "masking": "split", "output": "logit", **change}
    game = ModelGame(settings["model"].double().eval(), ring(9), masking=settings["masking"], output=settings["output"])
    with pytest.raises(NotLocalError, match="a violation of"):
        mage.interactions(game, method="exact-local")


def test_wrong_arguments_are_refused():
    game = mage.testing.random_game(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    with pytest.raises(ValueError, match="radius: say how many hops"):
        mage.interactions(game, method="exact-local")
    with pytest.raises(ValueError, match="radius needs method='exact-local'"):
        mage.interactions(game, method="exact", radius=2)
    with pytest.raises(ValueError, match="permutations needs"):
        mage.interactions(game, method="exact-local", radius=1, permutations=5)
    with pytest.raises(TooManyCoalitionsError, match="more than budget = 3"):
        mage.interactions(game, method="exact-local", radius=2, budget=3)


def test_real_molecules():
    data_path("benzene")
    dataset = mage.datasets.load("benzene")
    torch.manual_seed(0)
    model = GIN(14, 2, 16).eval()
    positions = [i for i in range(200) if 18 <= dataset[i].num_nodes <= 19][:3]
    for i in positions:
        # In double precision, where they are the same, and in the usual one, where the index rests on differences of
        # outputs: their size says what rounding is.
        double = copy.deepcopy(model).double()
        data = copy.copy(dataset[i])
        data.x = data.x.double()
        game = ModelGame(double, data, masking="split", output="logit")
        exact = mage.interactions(game, method="exact")
        local = mage.interactions(ModelGame(double, data, masking="split", output="logit"), method="exact-local")
        outputs = abs(game.total) + abs(game.baseline)
        assert local.values == pytest.approx(exact.values, abs=rounding(outputs, np.float64))
        assert local.num_queries < game.graph.count_connected(cap=10**7)
        usual = mage.interactions(ModelGame(model, dataset[i], masking="split", output="logit"), method="exact-local")
        assert usual.exact
        assert usual.values == pytest.approx(exact.values, abs=rounding(outputs))


class CountsAtSources(torch.nn.Module):
    """Divides by the number of edges that leave a node, which computation trees do not keep."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 6), torch.nn.Linear(6, 2)
        self.spread = torch_geometric.nn.SimpleConv(aggr="sum")

    def forward(self, x, edge_index, batch):
        leaving = torch_geometric.utils.degree(edge_index[0], len(x), dtype=x.dtype).clamp(min=1)
        hidden = self.first(x).relu() / leaving[:, None]
        hidden = hidden + self.spread(hidden, edge_index)
        return self.second(torch_geometric.nn.global_add_pool(hidden.relu(), batch))


def test_models_that_do_not_take_computation_trees_see_coalitions(monkeypatch):
    from mage.indices.estimators.exact_local import nodes
    from mage.indices.estimators.exact_local.reach import measure_reach

    torch.manual_seed(0)
    model, data = CountsAtSources().double().eval(), ring(9)
    data.x = data.x[:, :3]
    game = ModelGame(model, data, masking="split", output="logit")
    reach = measure_reach(game, game.node_contributions, seed=0)
    assert reach.extra_hop
    calls = []
    monkeypatch.setattr(nodes, "_from_trees", lambda *_: calls.append("asked"))
    computed = mage.interactions(game, method="exact-local")
    exact = mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact")
    assert computed.values == pytest.approx(exact.values, abs=1e-12)
    assert not calls


@pytest.mark.parametrize("what", ["nothing", "weights", "one way", "twice", "loops"])
def test_edges_of_all_kinds(what):
    """Weighted degrees, directions, parallel edges and loops: all as the model takes them."""

    class Weighted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch_geometric.nn.GCNConv(3, 6), torch_geometric.nn.GCNConv(6, 2)])

        def forward(self, x, edge_index, edge_weight, batch):
            hidden = self.layers[0](x, edge_index, edge_weight).relu()
            return torch_geometric.nn.global_mean_pool(self.layers[1](hidden, edge_index, edge_weight).relu(), batch)

    for seed in range(4):
        torch.manual_seed(seed)
        graph = random_graph(9, 0.25, seed)
        edges = torch.from_numpy(graph.edges.T.copy())
        edges = {
            "one way": edges,
            "twice": torch.cat([edges, edges.flip(0), edges[:, :3]], dim=1),
            "loops": torch.cat([edges, edges.flip(0), torch.tensor([[0, 2], [0, 2]])], dim=1),
        }.get(what, torch.cat([edges, edges.flip(0)], dim=1))
        weights = torch.rand(edges.size(1)).double() + 0.5 if what == "weights" else torch.ones(edges.size(1)).double()
        data = Data(x=torch.eye(3).double()[torch.randint(3, (9,))], edge_index=edges, edge_weight=weights)
        model = Weighted().double().eval()
        computed = mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact-local")
        exact = mage.interactions(ModelGame(model, data, masking="split", output="logit"), method="exact")
        assert computed.values == pytest.approx(exact.values, abs=1e-12)


def test_what_the_model_does_not_look_at_keeps_no_nodes_apart():
    data = ring(9)
    data.x = torch.ones(12, 4).double()
    data.edge_truth = torch.arange(data.edge_index.size(1))
    data.position = torch.rand(12, 2)
    game = ModelGame(GIN(4, 2, 8, num_layers=2).double().eval(), data, masking="split", output="logit")
    assert game.node_contributions.edges_alike
    assert (game.node_contributions.kinds == 0).all()


def test_budgets_are_held():
    game = ModelGame(GCN(4, 2, 8, num_layers=3).double().eval(), ring(14), masking="split", output="logit")
    with pytest.raises(TooManyCoalitionsError, match=r"needs at least .* queries here, and budget leaves"):
        mage.interactions(game, method="exact-local", budget=300)
    needed = mage.interactions(game, method="exact-local").num_queries
    # What is checked is set aside beforehand, though some of it may be known already.
    assert mage.interactions(game, method="exact-local", budget=needed + 129).num_queries <= needed


@pytest.mark.long
def test_molecules_that_have_too_many_coalitions():
    """The authors' network depends on four hops: a graph for which coalitions of that radius would be 10⁵ queries."""
    folder = data_path("authors_checkpoints")
    model = authors_checkpoint(folder, "mutagenic", "gcn")
    dataset = mage.datasets.load("mutagenic")
    game = ModelGame(model, dataset[2586], masking="split", output="logit")
    computed = mage.interactions(game, method="exact-local", budget=50_000)
    assert computed.exact
    assert computed.num_queries < 10_000
    assert game.graph.count_connected(cap=1_000_000) > 500_000
    sampled = mage.interactions(
        ModelGame(model, dataset[2586], masking="split", output="logit"), method="surrogate", budget=3000
    )
    inside = np.abs(sampled.values - computed.values) <= 3 * sampled.std_error + 1e-5 * np.abs(computed.values).max()
    assert inside.mean() > 0.97


def test_few_players_are_checked_in_full():
    """A complete graph but for one edge: only that of its two ends tells that they act together."""
    edges = [pair for pair in itertools.combinations(range(6), 2) if pair != (0, 1)]
    num_refused = 0
    for seed in range(40):
        game = random_game(6, edges, seed=seed)
        try:
            mage.interactions(game, "shapley-taylor", method="exact-local", radius=6)
        except NotLocalError:
            num_refused += 1
    assert num_refused == 40


def test_the_budget_holds_for_the_checks_too():
    weights = np.random.default_rng(0).normal(size=20)
    edges = [(i, i + 1) for i in range(19)]

    def a_game():
        return mage.Game(lambda masks: masks @ weights + (masks[:, 2] & masks[:, 3]), 20, edges)

    needed = 129 + 20 + 19 + 18  # checks; one, two and three players in a row
    assert mage.interactions(a_game(), method="exact-local", radius=1, budget=needed).num_queries <= needed
    with pytest.raises(TooManyCoalitionsError, match="a few to check"):
        mage.interactions(a_game(), method="exact-local", radius=1, budget=needed - 1)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_worths_that_are_all_rounding_are_no_violation(order):
    """A graph without edges under "split": nothing happens, up to the last digit."""
    for seed in range(5):
        torch.manual_seed(seed)
        data = Data(x=torch.randn(4, 4), edge_index=torch.zeros(2, 0, dtype=torch.long))
        game = ModelGame(GIN(4, 2, 8, num_layers=2).eval(), data, masking="split", batch_size=2, output="logit")
        computed = mage.interactions(game, order=order, method="exact-local")
        assert np.abs(computed.values).max() <= rounding(game.prediction)
    one = ModelGame(game.model, Data(x=torch.randn(1, 4), edge_index=data.edge_index), masking="split", output="logit")
    assert len(mage.interactions(one, order=order, method="exact-local", radius=1).values) == 1
