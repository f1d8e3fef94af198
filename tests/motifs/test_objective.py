import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage import Game, PlayerGraph, find_motifs, interactions
from mage.motifs import MotifProblem, MotifRequest
from mage.motifs.objective import OBJECTIVES
from mage.motifs.problem import AGAINST, FOR
from mage.motifs.terms import terms_of
from mage.testing import random_interactions

TAUS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def problem_of(index, **options):
    terms, graph, _ = terms_of(index, None)
    return MotifProblem.of(MotifRequest(max_nodes=index.num_players, **options), terms, graph)


def every_set(n):
    for size in range(1, n + 1):
        for nodes in itertools.combinations(range(n), size):
            yield nodes, np.isin(np.arange(n), nodes)


@given(st.integers(1, 3), st.integers(0, 99), TAUS, st.sampled_from([0.0, 0.1]))
def test_signed_weights_are_what_the_formula_says(order, seed, tau, floor):
    index = random_interactions(PlayerGraph.complete(5), order, seed)
    problem = problem_of(index, tau=tau, objective="signed", noise_floor=floor)
    top = [term.value for term in index if len(term.players) == order]
    for nodes, members in every_set(5):
        inside = [term for term in index if set(term.players) <= set(nodes)]
        lower = sum(term.value for term in inside if len(term.players) < order)
        highest = [term.value for term in inside if len(term.players) == order]
        positive = sum(value for value in highest if value > floor * max(0, *top))
        negative = sum(value for value in highest if value < floor * min(0, *top))
        speaking_for = tau * (lower + positive) + (1 - tau) * negative
        speaking_against = -(1 - tau) * (lower + negative) - tau * positive
        assert problem.worth(members, FOR) == pytest.approx(speaking_for, abs=1e-12)
        assert problem.worth(members, AGAINST) == pytest.approx(speaking_against, abs=1e-12)


@given(st.integers(1, 3), st.integers(0, 99), TAUS, st.sampled_from([0.0, 0.1]))
def test_balanced_weights_count_a_quarter_of_the_other_sign(order, seed, tau, floor):
    index = random_interactions(PlayerGraph.complete(5), order, seed)
    balanced, signed = (
        problem_of(index, tau=tau, objective=name, noise_floor=floor) for name in ("balanced", "signed")
    )
    top = [term.value for term in index if len(term.players) == order]
    for nodes, members in every_set(5):
        highest = [term.value for term in index if len(term.players) == order and set(term.players) <= set(nodes)]
        positive = sum(value for value in highest if value > floor * max(0, *top))
        negative = sum(value for value in highest if value < floor * min(0, *top))
        more_for = max(0, tau / 4 - (1 - tau)) * negative
        more_against = -max(0, (1 - tau) / 4 - tau) * positive
        assert balanced.worth(members, FOR) == pytest.approx(signed.worth(members, FOR) + more_for, abs=1e-12)
        assert balanced.worth(members, AGAINST) == pytest.approx(
            signed.worth(members, AGAINST) + more_against, abs=1e-12
        )


@pytest.fixture
def taken_back():
    """A strong pair that its triples nearly cancel, and a weaker one that nothing takes from; node 2 is between."""
    index = random_interactions(PlayerGraph(5, [(0, 1), (1, 2), (2, 3), (3, 4)]), 3, 0)
    values = {(0, 1): 1.0, (0, 1, 2): -0.9, (3, 4): 0.8}
    return replace(index, values=np.array([values.get(term.players, 0.0) for term in index]))


REQUIRED = {"num_motifs": 1, "max_nodes": 3, "include": [2]}


def test_a_search_for_both_sides_counts_what_triples_take_back(taken_back):
    assert find_motifs(taken_back, num_motifs=1, max_nodes=2)[0].nodes == (0, 1)  # without node 2 nothing is lost
    assert find_motifs(taken_back, tau=1.0, **REQUIRED)[0].nodes == (0, 1, 2)
    both = find_motifs(taken_back, **REQUIRED)
    assert (both[0].nodes, both.objective_name) == ((2, 3, 4), "balanced")


@pytest.mark.parametrize(("needed", "nodes", "name"), [([0, 1], (0, 1, 2), "signed"), ([3, 4], (2, 3, 4), "balanced")])
def test_the_model_decides_between_signed_and_balanced(taken_back, needed, nodes, name):
    def effects(masks):
        return np.zeros(len(masks)), 1.0 - masks[:, needed].all(axis=1)

    motifs = find_motifs(taken_back, effects=effects, **REQUIRED)
    assert (motifs[0].nodes, motifs.objective_name) == (nodes, name)
    signed = find_motifs(taken_back, effects=effects, objective="signed", **REQUIRED)
    assert signed.objective_name == "signed"


@given(st.integers(1, 3), st.integers(0, 99))
def test_half_way_is_half_of_the_plain_sum(order, seed):
    index = random_interactions(PlayerGraph.complete(5), order, seed)
    problem = problem_of(index, tau=0.5, objective="signed", noise_floor=0.0)
    for nodes, members in every_set(5):
        assert problem.strength(members) == pytest.approx(abs(index.group(nodes)) / 2, abs=1e-12)


@given(st.integers(1, 3), st.integers(0, 99), TAUS, st.booleans())
def test_objectives_agree_where_all_terms_have_one_sign(order, seed, tau, positive):
    index = random_interactions(PlayerGraph.complete(5), order, seed)
    values = tuple(np.abs(part) * (1 if positive else -1) for part in terms_of(index, None)[0].values)
    paper, signed = (OBJECTIVES[name](values, tau, 0.0)[0 if positive else 1] for name in ("paper", "signed"))
    for left, right in zip(paper, signed, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-15)


def test_order_1_has_no_lower_orders():
    index = random_interactions(PlayerGraph.complete(6), 1, 3)
    for tau in (0.0, 0.3, 1.0):
        motif_sets = [find_motifs(index, max_nodes=3, tau=tau, objective=name) for name in ("paper", "signed")]
        assert motif_sets[0].motifs == motif_sets[1].motifs
        assert motif_sets[0].objective == pytest.approx(motif_sets[1].objective)


def test_a_triple_that_gives_back_what_its_pairs_took_is_not_rewarded_for_it():
    """Any two of the first three nodes take 1 and all three give 0.5; the last two give 1.2."""

    def worth(masks):
        return np.array([0.0, 0.0, -1.0, 0.5])[masks[:, :3].sum(axis=1)] + 1.2 * masks[:, 3:].all(axis=1)

    index = interactions(Game(worth, 5), order=3, method="exact")
    motif_sets = {name: find_motifs(index, num_motifs=1, max_nodes=3, objective=name) for name in ("paper", "signed")}
    assert motif_sets["paper"][0].nodes == (0, 1, 2)
    assert motif_sets["paper"].objective == pytest.approx(3.5)
    assert motif_sets["paper"][0].score == pytest.approx(0.5)
    assert motif_sets["signed"][0].nodes == (3, 4)
    assert motif_sets["signed"].objective == pytest.approx(motif_sets["signed"][0].score) == pytest.approx(1.2)


def test_the_floor_of_the_signed_objective_holds_for_the_top_order_only():
    matrix = np.diag([0.05, 0.0, 0.0, 0.0])
    matrix[1, 2] = matrix[2, 1] = 10.0
    matrix[2, 3] = matrix[3, 2] = 0.5
    options = {"edges": PlayerGraph.complete(4), "num_motifs": 2, "max_nodes": 4, "noise_floor": 0.1}
    paper, signed = (find_motifs(matrix, objective=name, **options) for name in ("paper", "signed"))
    assert paper.objective == pytest.approx(10.0)
    assert signed.objective == pytest.approx(10.05)
    assert sorted(motif.nodes for motif in signed) in ([(0,), (1, 2)], [(0, 1, 2)])


@pytest.mark.parametrize("objective", ["paper", "signed"])
def test_only_the_side_that_tau_asks_for_is_shown(objective):
    matrix = np.diag([3.0, -5.0, 1.0])
    graph = PlayerGraph(3)
    only = {tau: find_motifs(matrix, graph, 3, 3, tau=tau, objective=objective) for tau in (0.0, 0.5, 1.0)}
    assert [motif.nodes for motif in only[1.0]] == [(0,), (2,)]
    assert [motif.nodes for motif in only[0.0]] == [(1,)]
    assert [motif.nodes for motif in only[0.5]] == [(1,), (0,), (2,)]


@pytest.mark.parametrize("objective", ["paper", "signed"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_scores_are_in_the_units_of_the_output_whatever_tau(objective, order):
    index = random_interactions(PlayerGraph.complete(7), order, seed=order)
    for tau in (0.25, 0.5, 0.75, 1.0):
        result = find_motifs(index, num_motifs=2, max_nodes=4, tau=tau, objective=objective, noise_floor=0.2)
        assert len(result) > 0
        for motif in result:
            assert motif.score == pytest.approx(index.group(motif.nodes), rel=1e-12)


def test_moving_tau_does_not_rescale_scores():
    index = interactions(Game(lambda masks: 7.5 * masks[:, [1, 2, 3]].all(axis=1), 6), order=2, method="exact")
    motif_sets = [find_motifs(index, num_motifs=1, max_nodes=3, tau=tau) for tau in (0.5, 0.75, 1.0)]
    assert [result[0].nodes for result in motif_sets] == [(1, 2, 3)] * 3
    assert [result[0].score for result in motif_sets] == pytest.approx([7.5] * 3)
    assert [result.objective for result in motif_sets] == pytest.approx([3.75, 5.625, 7.5])


def test_a_required_motif_may_be_worth_less_than_nothing():
    matrix = np.diag([-2.0, 1.0])
    matrix[0, 1] = matrix[1, 0] = 0.5
    result = find_motifs(matrix, PlayerGraph(2, [(0, 1)]), 1, 2, tau=1.0, objective="signed", include=[0])
    assert result[0].nodes == (0, 1)
    assert result.objective == pytest.approx(-0.5)
    assert result.optimal
    assert result[0].sign == -1
