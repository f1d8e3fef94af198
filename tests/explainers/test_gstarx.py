import itertools
from math import comb

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import mage
from mage.datasets.dataset import GraphDataset, Split
from mage.explainers.gstarx import GStarX, hamiache_navarro, hamiache_navarro_weights
from mage.explainers.protocol import UnsupportedError
from mage.games import Game, ModelGame
from mage.models import GAT, GCN, GIN
from mage.testing import random_game, unanimity_game
from tests.helpers.precision import rounding
from tests.helpers.strategies import games, graphs
from tests.helpers.tree_search import EdgeNet, Spy, check_seeds, graph, network


def subsets(n):
    return (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(bool)


def associated_matrix(graph, tau):
    """H = P M P over all non-empty coalitions, as the definition has it."""
    n = graph.num_players
    masks, powers = subsets(n), 1 << np.arange(n)
    labels = graph.component_labels(masks)
    parts = np.zeros((len(masks), len(masks)))
    for rank in range(n):
        codes = (labels == rank) @ powers
        rows = np.flatnonzero(codes)
        parts[rows, codes[rows] - 1] += 1
    step = np.eye(len(masks))
    for row, j in itertools.product(range(len(masks)), range(n)):
        if not masks[row, j]:
            step[row, row] -= tau
            step[row, ((row + 1) | powers[j]) - 1] += tau
            step[row, powers[j] - 1] -= tau
    return parts @ step @ parts


def as_game(graph, worths):
    table = np.concatenate([[0.0], worths])
    return random_game(graph.num_players, graph, table=table)


def of_everybody(n, edges):
    return hamiache_navarro(unanimity_game(n, range(n), edges))


# -- the value --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4, 7, 10])
def test_unanimity_on_paths_stars_cycles_and_complete_graphs(k):
    assert of_everybody(k, nx.path_graph(k)) == pytest.approx([comb(k - 1, i) / 2 ** (k - 1) for i in range(k)])
    assert of_everybody(k, nx.star_graph(k - 1)) == pytest.approx([1 / 2] + [1 / (2 * (k - 1))] * (k - 1))
    assert of_everybody(k, nx.complete_graph(k)) == pytest.approx([1 / k] * k)
    if k > 2:
        assert of_everybody(k, nx.cycle_graph(k)) == pytest.approx([1 / k] * k)


def test_other_closed_forms():
    pendant = [(0, 1), (1, 2), (0, 2), (0, 3)]
    diamond = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    path = [(0, 1), (1, 2)]
    assert of_everybody(4, pendant) == pytest.approx([4 / 9, 7 / 36, 7 / 36, 1 / 6])
    assert of_everybody(4, diamond) == pytest.approx([5 / 18, 5 / 18, 2 / 9, 2 / 9])
    assert hamiache_navarro(unanimity_game(3, [0, 2], path)) == pytest.approx([1 / 4, 1 / 2, 1 / 4])
    assert hamiache_navarro(unanimity_game(3, [0, 1], path)) == pytest.approx([1 / 2, 1 / 2, 0])
    squares = Game(lambda masks: masks.sum(axis=1) ** 2, 4, [(0, 1), (2, 3)])
    assert hamiache_navarro(squares) == pytest.approx([2, 2, 2, 2])


@pytest.mark.parametrize(
    ("k", "expected"), [(2, [0.4623, 0.4623]), (3, [0.182, 0.364, 0.182]), (4, [0.0591, 0.1773, 0.1773, 0.0591])]
)
def test_the_definition_below_agrees_with_published_steps_short_of_the_limit(k, expected):
    game = unanimity_game(k, range(k), nx.path_graph(k))
    power = np.linalg.matrix_power(associated_matrix(game.graph, 0.01), 128)
    assert (power @ game.worth(subsets(k)))[(1 << np.arange(k)) - 1] == pytest.approx(expected, abs=5e-4)


@given(games(max_players=7))
@settings(max_examples=40, deadline=None)
def test_it_is_the_limit_of_the_associated_games(game):
    n = game.num_players
    power = np.linalg.matrix_power(associated_matrix(game.graph, 1 / n), 2**12)
    limit = (power @ game.worth(subsets(n)))[(1 << np.arange(n)) - 1]
    assert hamiache_navarro(game) == pytest.approx(limit, abs=1e-8)


@given(games(max_players=8))
@settings(max_examples=40, deadline=None)
def test_it_is_efficient_in_each_component(game):
    values = hamiache_navarro(game)
    for part in game.graph.components():
        assert values[part].sum() == pytest.approx(game.worth([part])[0], abs=1e-9)


@given(games(max_players=7), st.floats(0.01, 0.25))
@settings(max_examples=40, deadline=None)
def test_it_is_the_same_for_the_associated_game(game, tau):
    worths = associated_matrix(game.graph, tau) @ game.worth(subsets(game.num_players))
    assert hamiache_navarro(as_game(game.graph, worths)) == pytest.approx(hamiache_navarro(game), abs=1e-9)


@given(games(max_players=7))
@settings(max_examples=20, deadline=None)
def test_on_the_complete_graph_it_is_the_shapley_value(game):
    whole = Game(game.value_fn, game.num_players)
    assert hamiache_navarro(whole) == pytest.approx(mage.interactions(whole, "shapley", method="exact").values)


@given(st.integers(2, 9), st.integers(0, 10**6), st.data())
@settings(max_examples=30, deadline=None)
def test_on_trees_unanimity_is_the_law_of_the_last_leaf(n, seed, data):
    generator = np.random.default_rng(seed)
    tree = nx.Graph([(int(generator.integers(i)), i) for i in range(1, n)])
    carrier = data.draw(
        st.sampled_from([part for size in (1, 2, n) for part in itertools.combinations(range(n), size)])
    )
    assume(nx.is_connected(tree.subgraph(carrier)))
    law = np.zeros(n)

    def pluck(nodes, chance):
        if len(nodes) == 1:
            law[next(iter(nodes))] += chance
            return
        leaves = [v for v, degree in tree.subgraph(nodes).degree() if degree <= 1]
        for leaf in leaves:
            pluck(nodes - {leaf}, chance / len(leaves))

    pluck(frozenset(carrier), 1.0)
    assert hamiache_navarro(unanimity_game(n, carrier, tree)) == pytest.approx(law, abs=1e-9)


@given(graphs(max_players=8))
@settings(max_examples=30, deadline=None)
def test_additive_games_are_their_own_value(graph):
    assume(len(graph.components()) == 1)
    coalitions, weights = hamiache_navarro_weights(graph)
    assert weights @ coalitions == pytest.approx(np.eye(graph.num_players), abs=1e-9)
    assert len(coalitions) == graph.count_connected()


def test_large_parts_are_refused():
    with pytest.raises(ValueError, match="17 players"):
        hamiache_navarro(unanimity_game(17, [0], nx.path_graph(17)))


# -- sampled groups ---------------------------------------------------------------------------------------------------


def test_small_graphs_are_scored_exactly():
    game = random_game(10, nx.path_graph(10), seed=2)
    assert GStarX().scores(game) == pytest.approx(hamiache_navarro(game))
    assert GStarX().search(game, 3) == tuple(sorted(np.argsort(-hamiache_navarro(game))[:3]))


def test_scores_are_means_over_groups():
    game = random_game(9, nx.cycle_graph(9), seed=4)
    explainer = GStarX(group_size=4, num_groups=3)
    groups = explainer._groups(9, np.random.default_rng(5))
    sums, counts = np.zeros(9), np.zeros(9)
    for group in groups:
        nodes = np.flatnonzero(group)
        inside = nx.convert_node_labels_to_integers(nx.cycle_graph(9).subgraph(nodes), ordering="sorted")

        def value_fn(masks, nodes=nodes):
            wide = np.zeros((len(masks), 9), dtype=bool)
            wide[:, nodes] = masks
            return game.worth(wide) + game.baseline - 0.3

        worths = value_fn(subsets(4))
        sums[nodes] += hamiache_navarro(as_game(mage.PlayerGraph.of(inside, 4), worths))
        counts[nodes] += 1
    assert explainer.scores(game, seed=5, prior=0.3) == pytest.approx(sums / counts)


@given(st.integers(11, 40), st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_groups_cover_all_nodes(n, seed):
    groups = GStarX()._groups(n, np.random.default_rng(seed))
    assert len(groups) >= n
    assert (groups.sum(axis=1) == 10).all()
    assert groups.any(axis=0).all()


def test_only_connected_coalitions_are_asked_for():
    calls = []
    game = Game(
        lambda masks: (calls.append(masks.copy()), masks.sum(axis=1) ** 2)[1], 20, nx.path_graph(20), baseline=0
    )
    GStarX(num_groups=5).scores(game)
    assert len(calls) == 1
    assert game.graph.is_connected(calls[0]).all()


@pytest.mark.parametrize("wrong", [{"group_size": 0}, {"group_size": 17}, {"num_groups": 0}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GStarX(**wrong)


# -- models -----------------------------------------------------------------------------------------------------------

FAST = GStarX(group_size=6, prior=[0.5, 0.5])


@pytest.mark.parametrize("kind", [GCN, GIN, GAT, EdgeNet])
@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
def test_explains_models(kind, masking):
    explanation = FAST.explain(network(kind), graph(), max_nodes=4, masking=masking)
    assert len(explanation.motifs.nodes) == 4
    assert explanation.output == "probability"
    assert set(explanation.motifs.nodes) == set(np.argsort(-explanation.node_scores)[:4].tolist())


@pytest.mark.parametrize("masking", ["remove", "split"])
def test_queries_are_the_graphs_that_the_model_saw(masking):
    spy = Spy(network(GIN))
    assert FAST.explain(spy, graph(), max_nodes=4, masking=masking).num_queries == spy.graphs


def test_values_are_of_probabilities_above_the_prior():
    data = graph(8)
    explainer = GStarX(prior=[0.4, 0.7])
    game = ModelGame(network(GIN), data, target=1, output="probability", masking="remove")
    explanation = explainer.explain(network(GIN), data, target=1)
    assert explanation.node_scores.sum() == pytest.approx(game.total + game.baseline - 0.7)


def test_the_prior_is_the_mean_probability_of_the_training_graphs():
    sizes = [5, 7, 6, 9]
    graphs = [graph(size, seed) for seed, size in enumerate(sizes)]
    for data in graphs:
        data.y = torch.tensor([0])
    parts = Split(np.array([0, 2, 3]), np.array([1]), np.array([1]))
    dataset = GraphDataset.from_graphs("mine", graphs, split=parts)
    model, explainer = network(GIN), GStarX()
    with pytest.raises(UnsupportedError, match="call fit"):
        explainer.explain(model, graphs[0])
    explainer.fit(model, dataset)
    batches = [torch.zeros(size, dtype=torch.long) for size in sizes]
    shares = [model(graphs[i].x, graphs[i].edge_index, batches[i]).softmax(dim=1)[0].tolist() for i in (0, 2, 3)]
    assert explainer.prior == pytest.approx(np.mean(shares, axis=0), abs=rounding())
    assert explainer.explain(model, graphs[0], target=1).diagnostics["prior"] == explainer.prior[1]


def test_regressions_and_unknown_classes_are_refused():
    with pytest.raises(UnsupportedError, match="regression"):
        FAST.explain(GIN(4, 1, 8).eval(), graph())
    with pytest.raises(UnsupportedError, match="prior"):
        FAST.explain(GIN(4, 3, 8).eval(), graph(), target=2)


def test_graphs_of_one_node_and_without_edges():
    assert FAST.explain(network(GIN), graph(1)).motifs.nodes == (0,)
    lonely = Data(x=torch.randn(9, 4), edge_index=torch.zeros(2, 0).long())
    assert len(FAST.explain(network(GIN), lonely, max_nodes=3).motifs.nodes) == 3


def test_same_seed_same_answer_also_after_pickling():
    check_seeds(FAST, lambda explanation: explanation.node_scores.tolist())
