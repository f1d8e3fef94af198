from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mage.graph import PlayerGraph
from mage.motifs import MotifProblem, MotifRequest
from mage.motifs.solvers.local_search import improved
from mage.motifs.solvers.relaxation import Division
from mage.motifs.solvers.search import run_search, search_motifs
from mage.motifs.terms import terms_of
from mage.testing import exhaustive_objective, random_graph, random_interactions
from tests.helpers.motif_problems import check_against_exhaustive, motif_problems

MANY = 10**6


def problem_of(index, connected=True, **options):
    terms, graph, _ = terms_of(index, None)
    return MotifProblem.of(MotifRequest(connected=connected, **options), terms, graph)


@settings(max_examples=200)
@given(motif_problems(10, [1, 2]), st.booleans())
def test_search_equals_exhaustive_search(problem, connected):
    check_against_exhaustive(problem, connected, "search")


@settings(max_examples=150)
@given(motif_problems(10, [3]), st.booleans())
def test_search_equals_exhaustive_search_at_order_3(problem, connected):
    check_against_exhaustive(problem, connected, "search")


@settings(max_examples=60)
@given(motif_problems(7, [1, 2, 3]), st.booleans())
def test_integer_programme_equals_exhaustive_search(problem, connected):
    check_against_exhaustive(problem, connected, "milp")


@settings(max_examples=150)
@given(motif_problems(9, [2, 3]), st.booleans(), st.sampled_from([1, 3, 100]))
def test_every_division_of_the_weights_gives_a_bound(problem, connected, rounds):
    """Small problems fall to the even division; here the search must rely on a tightened one."""
    index, options = problem
    options["include"] = ()
    graph = index.graph if connected else PlayerGraph.complete(index.num_players)
    best = exhaustive_objective(index, graph, **options)
    posed = problem_of(index, connected, **options)
    division = Division.even(posed).tightened(posed, best / 2, rounds)
    outcome = run_search(posed, division, None, MANY)
    assert outcome.work < MANY
    assert posed.feasible(outcome.labels)
    assert posed.objective(outcome.labels) == pytest.approx(best, abs=1e-7)
    assert outcome.bound == pytest.approx(best, abs=1e-7)


@given(motif_problems(9, [2, 3]))
def test_a_tightened_division_still_divides_the_weights(problem):
    index, options = problem
    posed = problem_of(index, **{**options, "include": ()})
    division = Division.even(posed).tightened(posed, 0.0, 30)
    np.testing.assert_allclose(division.shares + division.shares.transpose(0, 2, 1), posed.pair, atol=1e-9)
    np.testing.assert_allclose(division.views.sum(axis=2), posed.triple, atol=1e-9)
    below = np.maximum(-division.views, 0).reshape(*division.clashes.shape, 2).sum(axis=3)
    assert (division.clashes >= 0).all()
    assert (division.clashes <= below + 1e-9).all()


def hard(order=2, n=26, seed=0):
    """Values without any pattern: what the bound is worst at."""
    index = random_interactions(random_graph(n, 0.2, seed), order, seed)
    return problem_of(index, num_motifs=2, max_nodes=10, tau=0.5, noise_floor=0.0)


@pytest.mark.parametrize("order", [2, 3])
def test_a_tightened_division_makes_the_bound_lower_and_the_search_shorter(order):
    problem = hard(order, n=18)
    plain = run_search(problem, Division.even(problem), None, MANY)
    division = Division.even(problem).tightened(problem, problem.objective(plain.labels), 100)
    tight = run_search(problem, division, None, MANY)
    assert problem.objective(tight.labels) == pytest.approx(problem.objective(plain.labels), rel=1e-12)
    assert tight.work < plain.work
    first = [run_search(problem, shares, None, 1).bound for shares in (division, Division.even(problem))]
    assert first[0] < 0.95 * first[1]


def test_required_and_forbidden_nodes_hold_in_every_stage():
    problem = hard()
    required, forbidden = np.zeros((2, 26), dtype=bool)
    required[[3, 20]] = True
    forbidden[[0, 7]] = True
    problem = replace(problem, required=required, forbidden=forbidden)
    outcome = search_motifs(problem, None, 3_000)
    assert outcome.work == 3_000
    assert problem.feasible(outcome.labels)
    assert outcome.bound >= problem.objective(outcome.labels)


@given(motif_problems(9, [1, 2, 3]), st.integers(1, 12))
def test_local_search_keeps_families_feasible_and_makes_none_worse(problem, limit):
    index, options = problem
    posed = problem_of(index, **{**options, "include": ()})
    start = run_search(posed, Division.even(posed), None, limit).labels
    better = improved(posed, start)
    assert posed.feasible(better)
    assert posed.objective(better) >= posed.objective(start) - 1e-9


def test_local_search_improves_what_a_short_search_finds():
    gains = []
    for seed in range(5):
        problem = hard(order=3, seed=seed)
        start = run_search(problem, Division.even(problem), None, 12).labels
        gains.append(problem.objective(improved(problem, start)) / problem.objective(start))
    assert min(gains) >= 1
    assert max(gains) > 1.01
