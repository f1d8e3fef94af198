from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

import mage
from mage.explainers import get
from mage.graph import PlayerGraph
from mage.models import demo_graph, load_demo_model
from mage.motifs import Motif
from mage.report import solution_grid
from mage.report.solutions import IMPOSSIBLE
from tests.helpers.demo import demo_of_both_sides
from tests.helpers.explanations import made_up


@pytest.mark.parametrize(("seed", "floor", "connected"), [(0, 0.1, True), (1, 0.0, True), (2, 0.0, False)])
def test_each_cell_holds_what_the_search_finds(seed, floor, connected):
    graph = nx.gnm_random_graph(11, 15, seed=seed)
    explanation = made_up(graph, seed, noise_floor=floor, connected=connected, num_motifs=3, max_nodes=5, tau=0.35)
    grid = solution_grid(explanation)
    assert grid.complete
    assert 0.35 in grid.taus
    for tau, count, size in product(grid.taus, grid.counts, grid.sizes):
        expected = mage.find_motifs(
            explanation.interactions,
            num_motifs=count,
            max_nodes=size,
            tau=tau,
            noise_floor=floor,
            connected=connected,
        )
        solution = grid.at(tau, count, size)
        assert solution.optimal
        assert solution.objective == pytest.approx(expected.objective, rel=1e-9)
        assert solution.motifs == expected.motifs
        assert solution.tau == tau
        assert len(solution) <= count
        assert len(solution.nodes) <= size


def test_the_explanations_own_setting_holds_its_own_motifs():
    explanation = demo_of_both_sides(1)
    grid = solution_grid(explanation)
    place = grid.start
    assert (grid.taus[place[0]], grid.counts[place[1]], grid.sizes[place[2]]) == (0.5, 2, 14)
    assert grid.solutions[grid.cells[place]].motifs == explanation.motifs.motifs


def test_limited_searches_say_so_and_hold_their_bound():
    explanation = made_up(nx.random_regular_graph(4, 60, seed=0), max_nodes=20, solver="search", node_limit=50)
    grid = solution_grid(explanation)
    unproven = [solution for solution in grid.solutions if not solution.optimal]
    assert unproven
    for solution in unproven[:3]:
        better = mage.find_motifs(
            explanation.interactions,
            num_motifs=solution.num_motifs,
            max_nodes=solution.max_nodes,
            tau=solution.tau,
            solver="search",
            node_limit=3000,
        )
        assert better.objective <= solution.bound + 1e-9
        assert "of the bound" in solution.proof


def test_huge_graphs_have_a_small_grid():
    explanation = made_up(nx.path_graph(320), max_nodes=4, num_motifs=2, solver="search", node_limit=50)
    grid = solution_grid(explanation)
    assert (grid.taus, grid.counts, grid.sizes) == ((0.0, 0.5, 1.0), (1, 2), (2, 4))
    assert grid.solutions[grid.cells[grid.start]].motifs == explanation.motifs.motifs


def test_remembered_conditions_are_kept():
    graph = nx.path_graph(8)
    plain = made_up(graph, tau=1.0)
    conditions = {"noise_floor": 0.05, "include": [0, 7], "exclude": [3]}
    motifs = mage.find_motifs(plain.interactions, num_motifs=2, max_nodes=4, tau=1.0, **conditions)
    explanation = replace(plain, motifs=motifs)
    grid = solution_grid(explanation)
    assert grid.complete
    # Two ends of a path with a hole between them do not fit into one motif, nor into one node.
    assert (grid.cells[:, grid.counts.index(1), :] == IMPOSSIBLE).all()
    assert grid.at(0.5, 1, 4) is None
    for solution in grid.solutions:
        assert {0, 7} <= set(solution.nodes)
        assert 3 not in solution.nodes


def test_motifs_that_their_conditions_do_not_give_are_left_alone():
    plain = made_up(nx.path_graph(8), noise_floor=0.1, num_motifs=2, max_nodes=5, tau=0.5)
    assert solution_grid(plain).noise_floor == 0.1
    odd = mage.find_motifs(plain.interactions, num_motifs=2, max_nodes=5, tau=0.5, exclude=plain.motifs.nodes)
    odd = replace(odd, exclude=())
    grid = solution_grid(replace(plain, motifs=odd))
    assert not grid.complete
    assert grid.cells.shape == (1, 1, 1)
    assert grid.solutions == (odd,)


def test_methods_without_a_search_have_no_grid():
    explanation = get("gradcam").explain(load_demo_model(), demo_graph(1), max_nodes=5)
    grid = solution_grid(explanation)
    assert not grid.complete
    assert [motif.nodes for motif in grid.solutions[0]] == [motif.nodes for motif in explanation.motifs]


def test_players_that_are_groups():
    plain = made_up(nx.path_graph(4), max_nodes=2)
    groups = ((0, 1), (2,), (3, 4, 5), (6,))
    motifs = tuple(
        Motif(tuple(sorted(node for player in motif.nodes for node in groups[player])), motif.score)
        for motif in plain.motifs
    )
    explanation = replace(
        plain,
        players=groups,
        num_nodes=7,
        names=tuple(map(str, range(7))),
        motifs=replace(plain.motifs, motifs=motifs, num_nodes=7),
    )
    grid = solution_grid(explanation)
    assert grid.complete
    start = grid.solutions[grid.cells[grid.start]]
    assert [motif.nodes for motif in start] == [motif.nodes for motif in plain.motifs]


def test_errors_of_groups_are_those_of_their_terms():
    explanation = made_up(nx.cycle_graph(7), exact=False, tau=0.3)
    assert len(explanation.motifs) > 0
    for motif in explanation.motifs:
        inside = set(motif.nodes)
        terms = [term for term in explanation.interactions if inside.issuperset(term.players)]
        squares = sum(term.std_error**2 for term in terms)
        assert explanation.motif_error(motif) == pytest.approx(squares**0.5, rel=1e-12)
    assert explanation.group_error([]) == 0
    assert explanation.group_error([3]) == pytest.approx(explanation.interactions.error(3), rel=1e-12)


def test_third_order_and_lone_nodes():
    game = mage.Game(lambda masks: masks @ np.arange(6.0) ** 2 + masks[:, 0] * masks[:, 1] * masks[:, 2], 6)
    third = mage.interactions(game, order=3)
    plain = made_up(nx.complete_graph(6), max_nodes=3)
    motifs = mage.find_motifs(third, num_motifs=2, max_nodes=3, tau=1.0)
    assert solution_grid(replace(plain, interactions=third, motifs=motifs)).complete
    lone = replace(made_up(nx.empty_graph(1), max_nodes=1), edge_index=np.empty((2, 0), dtype=np.int64))
    assert PlayerGraph(1).num_edges == 0
    assert solution_grid(lone).sizes == (1,)
