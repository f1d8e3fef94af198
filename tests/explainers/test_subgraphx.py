import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import mage
from mage.explainers._tree_search import LocalShapley, by_degree
from mage.explainers.subgraphx import SubgraphX
from mage.games import Game
from mage.models import GAT, GCN, GIN
from mage.testing import random_game, unanimity_game
from tests.helpers.strategies import games
from tests.helpers.tree_search import EdgeNet, check_query_count, check_seeds, connected_graph, graph, network, reward

PATH_5 = [(0, 1), (1, 2), (2, 3), (3, 4)]
PATH_7 = [(i, i + 1) for i in range(6)]


def growing_game(generator, size):
    """Every set of at most three players adds something, so every subgraph has a positive reward."""
    sets = [s for count in (1, 2, 3) for s in itertools.combinations(range(size), count)]
    carriers = np.zeros((len(sets), size))
    for row, members in enumerate(sets):
        carriers[row, list(members)] = 1
    gains = generator.exponential(size=len(sets))
    sizes = carriers.sum(axis=1)
    return Game(lambda masks: (masks @ carriers.T == sizes) @ gains, size, connected_graph(generator, size))


# -- reward -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        *[(s, 1) for s in ((1, 2, 3), (0, 1, 2, 3), (1, 2, 3, 4))],
        *[(s, 1 / 2) for s in ((0, 1, 2), (2, 3, 4), (1, 2), (2, 3))],
        *[(s, 1 / 3) for s in ((0, 1), (3, 4))],
    ],
)
def test_rewards_on_a_path_are_those_of_the_oracle(nodes, expected):
    game = unanimity_game(5, [1, 2, 3], PATH_5)
    assert reward(game, nodes) == pytest.approx(expected)
    assert reward(game, nodes, samples=4000) == pytest.approx(expected, abs=0.03)
    if expected == 1:
        assert reward(game, nodes, samples=1) == 1


@pytest.mark.parametrize(("hops", "expected"), [(3, 1), (5, 1), (6, 1 / 2)])
def test_players_are_within_l_hops_and_the_others_always_present(hops, expected):
    game = unanimity_game(7, [0, 6], PATH_7)
    assert reward(game, [0], hops=hops) == pytest.approx(expected)


@given(games(max_players=7))
@settings(max_examples=30, deadline=None)
def test_single_players_of_a_connected_graph_get_their_shapley_values(game):
    whole = Game(game.value_fn, game.num_players)  # complete: everybody within one hop
    exact = mage.interactions(whole, "shapley", method="exact").values
    singles = np.eye(game.num_players, dtype=bool)
    assert LocalShapley(whole, 1, None, 0)(singles) == pytest.approx(exact)


def test_a_set_plays_as_one_player():
    game, merged = random_game(6, seed=3), [1, 4]
    players = [merged, [0], [2], [3], [5]]

    def merged_value(masks):
        unfolded = np.zeros((len(masks), 6), dtype=bool)
        for column, nodes in enumerate(players):
            unfolded[:, nodes] = masks[:, [column]]
        return game.value_fn(unfolded)

    exact = mage.interactions(Game(merged_value, 5), "shapley", method="exact").values
    assert reward(game, merged, hops=1) == pytest.approx(exact[0])


def test_sampling_is_unbiased():
    game = random_game(7, PATH_7, seed=1)
    sets = game.graph.masks([[0], [2, 3], [5, 6], [0, 1, 2, 3]])
    exact = LocalShapley(game, 3, None, 0)(sets)
    sampled = LocalShapley(game, 3, 20_000, 0)(sets)
    assert sampled == pytest.approx(exact, abs=0.05)


def test_many_sets_are_asked_for_at_once_and_rewards_do_not_depend_on_it():
    calls = []
    game = random_game(7, PATH_7, seed=1)
    watched = Game(lambda masks: (calls.append(len(masks)), game.value_fn(masks))[1], 7, PATH_7, baseline=game.baseline)
    sets = game.graph.masks([[0], [2, 3], [5, 6]])
    together = LocalShapley(watched, 3, 50, 0)(sets)
    assert len(calls) == 1
    one = LocalShapley(game, 3, 50, 0)
    assert np.concatenate([one(sets[i : i + 1]) for i in range(3)]) == pytest.approx(together)


def test_enumeration_of_large_neighbourhoods_is_refused():
    game = Game(lambda masks: masks.sum(axis=1), 30)
    with pytest.raises(ValueError, match="samples=None takes all coalitions of at most 16"):
        reward(game, [0], hops=1)


# -- search -----------------------------------------------------------------------------------------------------------


def test_the_search_of_the_oracle_scores_nine_states_and_finds_the_carrier():
    game = unanimity_game(5, [1, 2, 3], PATH_5)
    answer = SubgraphX(min_nodes=3, samples=None).search(game, 3)
    assert answer.nodes == (1, 2, 3)
    assert answer.reward == pytest.approx(1)
    assert answer.num_states == 9


def test_deleting_the_middle_keeps_the_first_of_two_equal_parts():
    game = unanimity_game(5, [1, 2, 3], PATH_5)
    pruned = [np.flatnonzero(row).tolist() for row in SubgraphX()._pruned(game.graph, np.ones(5, dtype=bool))]
    assert pruned == [[2, 3, 4], [0, 1], [0, 1, 2], [1, 2, 3, 4], [0, 1, 2, 3]]


def test_degrees_are_those_inside_the_set():
    graph = mage.PlayerGraph(5, [*PATH_5, (1, 3)])
    assert by_degree(graph, np.ones(5, dtype=bool), high_first=True).tolist() == [1, 3, 2, 0, 4]
    assert by_degree(graph, np.ones(5, dtype=bool), high_first=False).tolist() == [0, 4, 2, 1, 3]
    assert by_degree(graph, np.array([1, 1, 0, 1, 0], dtype=bool), high_first=True).tolist() == [1, 0, 3]


@pytest.mark.parametrize(("seed", "size", "most"), [(0, 7, 3), (1, 8, 4), (2, 8, 2), (3, 9, 3), (4, 10, 4), (5, 6, 6)])
def test_many_rollouts_find_the_best_connected_subgraph(seed, size, most):
    game = growing_game(np.random.default_rng(seed), size)
    everything = np.concatenate(list(game.graph.connected_coalitions(max_size=most)))
    rewards = LocalShapley(game, 3, None, 0)(everything)
    search = SubgraphX(rollouts=3000 if size < 10 else 1500, min_nodes=1, exploration=1000.0, samples=None)
    answer = search.search(game, most)
    assert answer.nodes == tuple(np.flatnonzero(everything[rewards.argmax()]))
    assert answer.reward == pytest.approx(rewards.max())


@given(games(max_players=8), st.integers(1, 8), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_answers_are_connected_within_budget_and_honest(game, most, seed):
    most = min(most, game.num_players)
    explainer = SubgraphX(rollouts=5, min_nodes=2, samples=None)
    answer = explainer.search(game, most, seed)
    assert 1 <= len(answer.nodes) <= most
    assert game.graph.is_connected([answer.nodes]).all()
    assert answer.reward == pytest.approx(reward(game, answer.nodes))


def test_the_whole_graph_is_a_candidate_where_it_fits():
    game = unanimity_game(4, range(4), [(0, 1), (1, 2), (2, 3)])
    answer = SubgraphX().search(game, 4)
    assert answer.nodes == (0, 1, 2, 3)
    assert answer.reward == 1


@pytest.mark.parametrize("most", [1, 2, 3])
def test_graphs_in_pieces_are_cut_to_one_piece(most):
    isolated = SubgraphX().search(unanimity_game(3, [1], []), most)
    assert isolated.nodes == (1,)
    pair = SubgraphX(samples=None).search(unanimity_game(4, [2, 3], [(2, 3)]), most)
    assert pair.nodes == ((2, 3) if most > 1 else (2,))


@pytest.mark.parametrize(
    "wrong", [{"rollouts": 0}, {"samples": 0}, {"hops": -1}, {"max_children": 0}, {"min_nodes": 1.5}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SubgraphX(**wrong)


# -- models -----------------------------------------------------------------------------------------------------------

FAST = SubgraphX(rollouts=3, samples=5)


@pytest.mark.parametrize("kind", [GCN, GIN, GAT, EdgeNet])
@pytest.mark.parametrize("masking", ["remove", "split", "zero"])
def test_explains_models(kind, masking):
    data = graph()
    explanation = FAST.explain(network(kind), data, max_nodes=4, masking=masking)
    assert 1 <= len(explanation.motifs.nodes) <= 4
    assert len(explanation.motifs) == 1
    assert explanation.output == "probability"
    assert explanation.masking == masking
    assert explanation.edge_scores.sum() > 0 or len(explanation.motifs.nodes) == 1


@pytest.mark.parametrize("masking", ["remove", "split"])
def test_queries_are_the_graphs_that_the_model_saw(masking):
    check_query_count(FAST, masking)


def test_graphs_of_one_node_and_without_edges():
    assert FAST.explain(network(GIN), graph(1)).motifs.nodes == (0,)
    lonely = Data(x=torch.randn(5, 4), edge_index=torch.zeros(2, 0).long())
    assert len(FAST.explain(network(GIN), lonely, max_nodes=3).motifs.nodes) == 1


def test_same_seed_same_answer_also_after_pickling():
    check_seeds(FAST, lambda explanation: (explanation.motifs, explanation.diagnostics))


@pytest.mark.long
def test_another_process_finds_the_same():
    code = (
        "from mage.explainers.subgraphx import SubgraphX; from mage.explainers.same import SAME; "
        "from mage.explainers.gstarx import GStarX; from mage.testing import random_game; "
        "game = random_game(12, [(i, (i * 5 + 1) % 12) for i in range(12)], seed=1); "
        "searches = [SubgraphX(rollouts=4, samples=9), SAME(rollouts=4, samples=9)]; "
        "answer = [search.search(game, 4, 7) for search in searches], GStarX(group_size=5).scores(game, 7).tolist()"
    )
    namespace: dict = {}
    exec(code, namespace)  # noqa: S102 - the same words here and there
    ran = subprocess.run([sys.executable, "-c", f"{code}; print(answer)"], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(namespace["answer"])
