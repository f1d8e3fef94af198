import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from mage.explainers._tree_search import LocalShapley
from mage.explainers.same import SAME
from mage.explainers.subgraphx import SubgraphX
from mage.games import Game
from mage.models import GAT, GCN, GIN
from mage.testing import unanimity_game
from tests.helpers.strategies import games
from tests.helpers.tree_search import EdgeNet, check_query_count, check_seeds, graph, network, reward

PATH = [(i, i + 1) for i in range(5)]


def two_pairs():
    return Game(lambda m: 0.5 * (m[:, 0] & m[:, 1]) + 0.5 * (m[:, 4] & m[:, 5]), 6, PATH)


ORACLE = {"piece_size": 2, "num_pieces": 3, "samples": None}


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        *[(s, 0.5) for s in ((0, 1), (4, 5))],
        *[(s, 0.25) for s in ((0,), (1,), (4,), (5,), (1, 2), (3, 4))],
        *[(s, 0.0) for s in ((2,), (3,))],
        ((0, 1, 4, 5), 1.0),
        *[(s, 0.75) for s in ((0, 4, 5), (1, 4, 5), (0, 1, 4), (0, 1, 5))],
    ],
)
def test_rewards_are_those_of_the_oracle(nodes, expected):
    assert reward(two_pairs(), nodes) == pytest.approx(expected)


@pytest.mark.parametrize("high", [True, False])
def test_two_pieces_of_the_oracle_are_found_and_joined(high):
    explainer = SAME(**ORACLE, high_degree_first=high)
    answer = explainer.search(two_pairs(), 4)
    assert answer.nodes == (0, 1, 4, 5)
    assert answer.reward == pytest.approx(1)
    small = explainer._small_pieces(explainer._phase_1(two_pairs(), 4, 0))
    assert [state.nodes for state in small[:2]] == [(0, 1), (4, 5)]


def test_one_connected_piece_cannot_do_as_well():
    answer = SubgraphX(min_nodes=1, samples=None).search(two_pairs(), 4)
    assert two_pairs().graph.is_connected([answer.nodes]).all()
    assert answer.reward < 1


def test_sampled_rewards_find_the_oracle_too():
    assert SAME(piece_size=2, num_pieces=3).search(two_pairs(), 4, seed=1).nodes == (0, 1, 4, 5)


def test_the_runner_up_is_a_node_with_the_opposite_pair():
    answer = SAME(**ORACLE).search(two_pairs(), 3)
    assert answer.reward == pytest.approx(0.75)
    assert len(answer.nodes) == 3


@given(games(max_players=7), st.integers(1, 7))
@settings(max_examples=40, deadline=None)
def test_the_answer_is_the_best_union_of_the_best_pieces(game, most):
    most = min(most, game.num_players)
    explainer = SAME(rollouts=6, samples=None, piece_size=2, num_pieces=4)
    answer = explainer.search(game, most)
    assert 1 <= len(answer.nodes) <= most
    assert answer.reward == pytest.approx(reward(game, answer.nodes))
    small = [state.nodes for state in explainer._small_pieces(explainer._phase_1(game, most, 0))]
    unions = {frozenset().union(*[small[i] for i in range(min(4, len(small))) if code >> i & 1]) for code in range(16)}
    candidates = [set(nodes) for nodes in small] + [union for union in unions if 0 < len(union) <= most]
    best = LocalShapley(game, 3, None, 0)(game.graph.masks(candidates)).max()
    assert answer.reward == pytest.approx(best)


def test_pieces_grow_by_neighbours_only_and_stop_in_time():
    explainer = SAME(rollouts=50, samples=None, exploration=100.0)
    tree = explainer._phase_1(two_pairs(), 6, 0)
    sizes = [len(state.nodes) for state in tree.states]
    assert max(sizes) == 5  # 80% of six nodes, or the first size above
    assert two_pairs().graph.is_connected(np.array([state.members for state in tree.states])).all()
    assert max(len(state.nodes) for state in explainer._phase_1(two_pairs(), 3, 0).states) == 3


def test_pieces_grow_from_the_first_nodes_by_degree():
    tree = SAME(rollouts=1, samples=None, max_seeds=2, high_degree_first=False)._phase_1(two_pairs(), 1, 0)
    assert [state.nodes for state in tree.states] == [(0,), (5,)]


def test_sets_are_scored_once(monkeypatch):
    scored = []

    class Watched(LocalShapley):
        def __call__(self, sets):
            scored.extend(row.tobytes() for row in sets)
            return super().__call__(sets)

    monkeypatch.setattr("mage.explainers._tree_search.LocalShapley", Watched)
    answer = SAME(samples=3).search(two_pairs(), 4)
    assert len(scored) == len(set(scored)) == answer.num_states


def test_there_is_an_answer_even_where_nothing_helps():
    game = Game(lambda masks: -masks.sum(axis=1), 4, PATH[:3])
    answer = SAME(samples=None).search(game, 2)
    assert answer.nodes == (0,)
    assert answer.reward == pytest.approx(-1)


def test_isolated_nodes_and_pieces_far_apart():
    assert SAME(samples=None).search(unanimity_game(3, [1], []), 1).nodes == (1,)
    game = Game(lambda m: m[:, 0].astype(float) + m[:, 3], 4, [(1, 2)])
    assert SAME(samples=None).search(game, 2).nodes == (0, 3)


@pytest.mark.parametrize("wrong", [{"rollouts": 0}, {"num_pieces": 17}, {"piece_size": 0}, {"samples": 0}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SAME(**wrong)


FAST = SAME(rollouts=3, samples=5, num_pieces=4)


@pytest.mark.parametrize("kind", [GCN, GIN, GAT, EdgeNet])
@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
def test_explains_models(kind, masking):
    explanation = FAST.explain(network(kind), graph(), max_nodes=4, masking=masking)
    assert 1 <= len(explanation.motifs.nodes) <= 4
    assert explanation.output == "probability"


@pytest.mark.parametrize("masking", ["remove", "split"])
def test_queries_are_the_graphs_that_the_model_saw(masking):
    check_query_count(FAST, masking)


def test_graphs_of_one_node_and_without_edges():
    assert FAST.explain(network(GIN), graph(1)).motifs.nodes == (0,)
    lonely = Data(x=torch.randn(5, 4), edge_index=torch.zeros(2, 0).long())
    assert 1 <= len(FAST.explain(network(GIN), lonely, max_nodes=3).motifs.nodes) <= 3


def test_same_seed_same_answer_also_after_pickling():
    check_seeds(FAST, lambda explanation: (explanation.motifs, explanation.diagnostics))
