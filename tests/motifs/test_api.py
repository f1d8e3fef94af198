import subprocess
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from mage import Game, PlayerGraph, find_motifs, interactions
from mage.motifs.solvers import default_search_nodes
from mage.testing import exhaustive_objective, random_graph, random_interactions, unanimity_game
from tests.helpers.motif_problems import check_feasible, motif_problems
from tests.helpers.suites import few_or_many_examples


@pytest.mark.parametrize("tau", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("num_motifs", [1, 2, 3])
@pytest.mark.parametrize("max_nodes", [1, 3, 6, pytest.param(10, marks=pytest.mark.long)])
def test_every_setting_on_a_house_with_a_tail(tau, num_motifs, max_nodes):
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 5), (5, 6), (6, 7), (7, 8), (8, 9)]
    index = random_interactions(PlayerGraph(10, edges), 2, seed=7)
    options = {"num_motifs": num_motifs, "max_nodes": max_nodes, "tau": tau, "objective": "paper"}
    for connected in (True, False):
        graph = index.graph if connected else PlayerGraph.complete(10)
        best = exhaustive_objective(index, graph, **options)
        for solver in ("auto", "milp"):
            result = find_motifs(index, connected=connected, solver=solver, noise_floor=0.0, **options)
            assert result.objective == pytest.approx(best, abs=1e-7), solver
            assert result.optimal


@few_or_many_examples(25, 100)
@given(motif_problems(10, [2, 3]), st.integers(1, 60), st.sampled_from(["search", "milp"]))
def test_limited_runs_are_feasible_and_their_bounds_hold(problem, limit, solver):
    index, options = problem
    options["include"] = ()
    assume(index.num_players > 2)
    best = exhaustive_objective(index, index.graph, **options)
    result = find_motifs(index, solver=solver, node_limit=limit, **options)
    check_feasible(result, index.graph, (), options["exclude"])
    assert result.objective <= best + 1e-7
    assert result.bound >= best - 1e-6
    if result.optimal:
        assert result.objective == pytest.approx(best, abs=1e-6)
    else:
        assert result.gap > 0


def hard_problem(n=40, seed=0):
    graph = random_graph(n, 0.15, seed)
    values = np.random.default_rng(seed).normal(size=(n, n))
    return (values + values.T) / 2, graph


def test_a_limited_run_returns_what_it_has_with_its_gap():
    matrix, graph = hard_problem()
    result = find_motifs(matrix, graph, 2, 15, tau=0.5, solver="search", node_limit=50)
    assert not result.optimal
    assert 0 < result.gap < 1
    assert result.work <= 50
    assert "%" in repr(result)
    check_feasible(result, graph)


def test_auto_goes_on_with_the_programme_where_the_search_gives_up():
    matrix, graph = hard_problem(14)
    limited = find_motifs(matrix, graph, 2, 6, tau=0.5, solver="search", node_limit=3)
    assert not limited.optimal
    result = find_motifs(matrix, graph, 2, 6, tau=0.5, node_limit=3)
    assert result.solver == "search + milp"
    assert limited.bound >= result.bound >= result.objective >= limited.objective - 1e-9
    assert find_motifs(matrix, graph, 2, 6, tau=0.5).solver == "search"


def test_finds_the_carriers_of_unanimity_games():
    path = nx.path_graph(12)
    game = Game(lambda m: m[:, [1, 2, 3]].all(axis=1) * 2.0 - m[:, [7, 8, 9, 10]].all(axis=1), 12, path)
    index = interactions(game, order=2, method="exact")
    (first,) = find_motifs(index, num_motifs=2, max_nodes=7, tau=1.0)
    assert first.nodes == (1, 2, 3)
    assert first.score == pytest.approx(2.0)
    positive, negative = find_motifs(index, num_motifs=2, max_nodes=7, tau=0.5)
    assert (positive.nodes, positive.sign) == ((1, 2, 3), 1)
    assert (negative.nodes, negative.sign) == ((7, 8, 9, 10), -1)
    (against,) = find_motifs(index, num_motifs=2, max_nodes=7, tau=0.0)
    assert against.nodes == (7, 8, 9, 10)
    assert against.score == pytest.approx(-1.0)


def test_order_3_sees_what_pairs_do_not():
    index = interactions(unanimity_game(8, {2, 3, 4}, nx.cycle_graph(8)), order=3, method="exact")
    (motif,) = find_motifs(index, num_motifs=1, max_nodes=5)
    assert motif.nodes == (2, 3, 4)
    assert motif.score == pytest.approx(1.0)


def test_nodes_that_add_nothing_are_left_out():
    matrix = np.zeros((6, 6))
    matrix[0, 1] = matrix[1, 0] = 1.0
    result = find_motifs(matrix, nx.path_graph(6), num_motifs=3, max_nodes=6)
    assert [motif.nodes for motif in result] == [(0, 1)]
    apart = np.zeros((6, 6))
    apart[0, 3] = apart[3, 0] = 1.0
    (bridge,) = find_motifs(apart, nx.path_graph(6), 1, 5)
    assert bridge.nodes == (0, 1, 2, 3)
    (loose,) = find_motifs(apart, nx.path_graph(6), 1, 5, connected=False)
    assert loose.nodes == (0, 3)


def test_nothing_to_find_is_an_answer():
    result = find_motifs(np.zeros((4, 4)), [(0, 1)], num_motifs=2, max_nodes=2)
    assert len(result) == 0
    assert result.optimal
    assert result.objective == 0 == result.bound
    assert find_motifs(-np.ones((4, 4)), [(0, 1)], max_nodes=2, tau=1.0).motifs == ()
    assert result.labels.tolist() == [0, 0, 0, 0]


def test_disconnected_graphs_and_isolated_nodes():
    matrix = np.full((5, 5), 1.0)
    graph = PlayerGraph(5, [(0, 1), (2, 3)])
    assert [m.nodes for m in find_motifs(matrix, graph, 3, 5)] == [(0, 1), (2, 3), (4,)]
    assert [m.nodes for m in find_motifs(matrix, graph, 1, 5)] == [(0, 1)]
    assert find_motifs(np.array([[2.0]]), [], max_nodes=1)[0].nodes == (0,)


def test_the_noise_floor_drops_small_entries_of_each_sign():
    matrix = np.diag([1.0, 0.05, -10.0, -0.5])
    graph = PlayerGraph(4)
    motif_sets = find_motifs(matrix, graph, 4, 4, tau=0.5, noise_floor=0.1, objective="paper")
    assert {motif.nodes for motif in motif_sets} == {(0,), (2,)}
    everything = find_motifs(matrix, graph, 4, 4, tau=0.5, noise_floor=0.0, objective="paper")
    assert len(everything) == 4


@pytest.mark.parametrize(
    ("share", "count"), [(0.3, 3), (0.05, 1), (0.99, 9), (4, 4), (np.int64(4), 4), (10**6, 10), (1, 1)]
)
def test_max_nodes_as_count_or_share(share, count):
    assert find_motifs(np.ones((10, 10)), nx.path_graph(10), max_nodes=share).max_nodes == count


def test_plain_matrices_of_any_kind():
    matrix = np.ones((3, 3))
    path = [(0, 1), (1, 2)]
    expected = find_motifs(matrix, path, 1, 2)
    assert find_motifs(matrix.tolist(), path, 1, 2) == expected
    assert find_motifs(torch.ones(3, 3, requires_grad=True), torch.tensor(path).T, 1, 2) == expected
    assert expected.motifs[0].names == ("0", "1")


def test_labels_and_names():
    game = Game(lambda m: m[:, :2].all(axis=1) + 0.5 * m[:, 3], 4, [(0, 1), (1, 2), (2, 3)], ["C", "N", "O", "F"])
    result = find_motifs(interactions(game), num_motifs=2, max_nodes=3)
    assert result.labels.tolist() == [1, 1, 0, 2]
    assert [motif.names for motif in result] == [("C", "N"), ("F",)]
    assert "proven optimal" in repr(result)
    assert "{C, N}" in repr(result)
    assert result.nodes == (0, 1, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_nodes": 0}, "max_nodes"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_nodes": 1.5}, "max_nodes"),
        ({"max_nodes": 0.0}, "max_nodes"),
        ({"max_nodes": float("nan")}, "max_nodes"),
        ({"max_nodes": True}, "max_nodes"),
        ({"num_motifs": 0}, "num_motifs"),
        ({"num_motifs": 1.5}, "num_motifs"),
        ({"tau": -0.1}, "tau"),
        ({"tau": 1.1}, "tau"),
        ({"tau": float("nan")}, "tau"),
        ({"noise_floor": 2}, "noise_floor"),
        ({"solver": "mosek"}, "auto, search, milp"),
        ({"node_limit": 0}, "node_limit"),
        ({"include": [0, 1, 2], "max_nodes": 2}, "include names 3 nodes"),
        ({"include": [0], "exclude": [0]}, r"include and exclude both name nodes \[0\]"),
        ({"include": 3}, "include must be a list of nodes, got 3"),
        ({"include": [4]}, "include: player 4 does not exist"),
        ({"exclude": [-1]}, "exclude: player -1"),
        ({"include": [0, 3], "max_nodes": 4}, "no 1 connected motifs"),
        ({"include": [0, 2], "exclude": [1], "max_nodes": 3}, "no 1 connected motifs"),
        ({"include": [0, 2], "max_nodes": 2}, "no 1 connected motifs"),
        ({"interactions": np.full((4, 4), np.nan)}, "is nan"),
        ({"interactions": np.full((4, 4), np.inf)}, "is inf"),
        ({"interactions": np.triu(np.ones((4, 4)))}, "symmetric"),
        ({"interactions": np.ones((4, 3))}, "shape"),
        ({"interactions": np.ones((0, 0))}, "shape"),
        ({"edges": None}, "edges"),
        ({"edges": [(0, 9)]}, "edges"),
    ],
)
def test_bad_requests_are_refused_first(options, message):
    arguments = {"interactions": np.ones((4, 4)), "edges": [(0, 1), (1, 2)], "num_motifs": 1, **options}
    with pytest.raises(ValueError, match=message):
        find_motifs(**arguments)


def test_what_is_no_matrix_is_refused():
    with pytest.raises(TypeError, match="Interactions or a matrix"):
        find_motifs("abc", [(0, 1)])
    order_4 = random_interactions(PlayerGraph.complete(5), 4, seed=0)
    with pytest.raises(ValueError, match="order 4"):
        find_motifs(order_4)


SCRIPT = """
import numpy as np
from mage import find_motifs
from mage.testing import random_graph
values = np.round(np.random.default_rng(3).normal(size=(16, 16)))
for solver in ("search", "milp"):
    result = find_motifs(values + values.T, random_graph(16, 0.2, 1), 2, 6, tau=0.5, solver=solver)
    print(result.labels.tolist(), result.objective, result.bound, result.work)
"""


@pytest.mark.long
def test_ties_fall_the_same_way_in_a_fresh_process():
    runs = {
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


def test_the_default_limit_is_a_constant_amount_of_work():
    assert default_search_nodes(10) == 4_000_000
    assert default_search_nodes(300) < 50_000
    assert default_search_nodes(10**5) == 2_000


def test_the_proof_of_two_sides_is_that_of_the_less_sure_one():
    index = random_interactions(PlayerGraph(6, [(v, v + 1) for v in range(5)]), 2, seed=1)
    motifs = find_motifs(index, num_motifs=1, max_nodes=2, tau="both")
    assert motifs.motifs
    assert motifs.against.motifs
    assert motifs.proof == "proven optimal"
    unsure = replace(motifs.against, optimal=False, bound=2 * motifs.against.objective)
    assert replace(motifs, against=unsure).proof == "within 50 % of the bound"
    assert replace(motifs, motifs=()).proof == "proven optimal"
    assert replace(motifs, motifs=(), against=replace(motifs.against, motifs=())).proof == "none found"


@pytest.mark.parametrize(("num_motifs", "text"), [(1, "MotifSet(1 motif, "), (2, "MotifSet(2 motifs, ")])
def test_the_number_of_motifs_reads_well(num_motifs, text):
    matrix = np.diag([1.0, 0.0, 2.0])
    motifs = find_motifs(matrix, edges=[(0, 1), (1, 2)], num_motifs=num_motifs, max_nodes=num_motifs, tau=1.0)
    assert repr(motifs).startswith(text)
