import itertools
import subprocess
import sys
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mage
from mage.graph import packing
from mage.indices import FAMILIES
from mage.indices.estimators.surrogate.design import draw, essential, inclusion
from mage.indices.estimators.surrogate.population import connected_population
from mage.indices.estimators.surrogate.regressors import make
from mage.testing import random_game, random_graph
from tests.helpers.games import smooth_game
from tests.helpers.suites import long_case

GRAPH_INDICES = [name for name, family in FAMILIES.items() if family.sees_graph and family.largest_order is None]

# -- the population ------------------------------------------------------------------------------------------------


def population_of(graph, order, seed=0, index="myerson-taylor", **options):
    measures = dict(enumerate(FAMILIES[index].measures(order), start=1))
    return connected_population(graph, measures, seed, **options)


@given(st.integers(2, 8), st.integers(0, 300), st.integers(1, 3), st.sampled_from(GRAPH_INDICES))
def test_the_population_gives_the_exact_index(players, seed, order, index):
    graph = random_graph(players, 0.4, seed)
    game = random_game(players, graph, seed=seed)
    order = min(order, players)
    population = population_of(graph, order, seed, index)
    assert population.complete
    worths = game.worth_of_bits(population.members)
    values = population.boundary_values(worths)
    sampled = population.index(population.weights * worths)
    values[len(values) - len(sampled) :] += sampled
    exact = mage.interactions(game, index, order, "exact").values
    np.testing.assert_allclose(values, exact, atol=1e-11)


def test_influence_is_the_length_of_the_coefficients():
    graph = random_graph(7, 0.5, 3)
    for order, index in itertools.product((1, 2, 3), GRAPH_INDICES):
        population = population_of(graph, order, index=index)
        lengths = [np.linalg.norm(population.index(np.ones(1), np.array([row]))) for row in range(len(population))]
        np.testing.assert_allclose(population.influence(), lengths, rtol=1e-10)


def test_a_sampled_population_is_unbiased_and_knows_its_error():
    graph = mage.PlayerGraph(12, list(nx.barabasi_albert_graph(12, 2, seed=1).edges))
    game = smooth_game(graph, 2)
    exact = mage.interactions(game, method="exact").of_size(2)[1]
    from mage.indices.estimators.surrogate import population as module

    z = []
    before = module._SAMPLED
    module._SAMPLED = 4000
    try:
        for seed in range(40):
            population = population_of(graph, 2, seed, most_listed=10)
            assert not population.complete
            worths = game.worth_of_bits(population.members)
            estimate = population.index(population.weights * worths)
            z.append((estimate - exact) / np.sqrt((population.sampling_errors(worths) ** 2).sum(axis=0)))
    finally:
        module._SAMPLED = before
    assert 0.85 < np.sqrt(np.mean(np.square(z))) < 1.15
    assert np.abs(np.mean(z, axis=0)).max() < 4 / np.sqrt(40)


# -- the design ----------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60), st.integers(0, 60))
def test_inclusion_chances_add_up(importance, count):
    chances = inclusion(np.array(importance), count)
    assert ((chances >= 0) & (chances <= 1 + 1e-12)).all()
    assert chances.sum() == pytest.approx(min(count, len(importance)))


@settings(max_examples=50)
@given(st.lists(st.floats(1e-3, 10), min_size=2, max_size=40), st.integers(1, 20), st.integers(0, 10**6))
def test_draws_have_their_size(importance, count, seed):
    chances = inclusion(np.array(importance), count)
    rows = draw(chances, np.random.default_rng(seed))
    assert len(rows) == len(set(rows.tolist())) == min(count, len(importance))
    assert set(np.flatnonzero(chances >= 1 - 1e-12)) <= set(rows.tolist())


def test_draws_come_with_their_chances():
    chances = inclusion(np.array([5.0, 1.0, 1.0, 0.5, 0.2, 0.1]), 2)
    generator = np.random.default_rng(0)
    hits = np.zeros(6)
    for _ in range(20_000):
        hits[draw(chances, generator)] += 1
    np.testing.assert_allclose(hits / 20_000, chances, atol=0.012)


def test_small_and_whole_coalitions_are_always_asked_for():
    graph = mage.PlayerGraph(9, [(i, i + 1) for i in range(5)] + [(6, 7), (7, 8)])
    population = population_of(graph, 2)
    rows = essential(population, 1000)
    coalitions = {tuple(np.flatnonzero(row).tolist()) for row in packing.unpack(population.members[rows], 9)}
    assert {(i,) for i in range(9)} | {tuple(edge) for edge in graph.edges.tolist()} <= coalitions
    assert {(0, 1, 2, 3, 4, 5), (6, 7, 8), (0, 1, 2, 3, 4), (1, 2, 3, 4, 5), (6, 7), (7, 8)} <= coalitions
    assert (0, 1, 2) not in coalitions
    assert len(essential(population, 12)) == 12


# -- regressors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "least"), [("ridge", 0.9), ("trees", 0.8), ("mix", 0.9)])
def test_regressors_predict_what_they_have_not_seen(name, least):
    graph = mage.PlayerGraph(14, list(nx.barabasi_albert_graph(14, 2, seed=4).edges))
    game, population = smooth_game(graph, 1), population_of(graph, 2)
    members, neighbours = population.members, population.neighbours
    rows = np.random.default_rng(0).permutation(len(population))
    seen, unseen = rows[:500], rows[500:3000]
    model = make(name, graph)
    model.fit(members[seen], neighbours[seen], game.worth_of_bits(members[seen]))
    truth = game.worth_of_bits(members[unseen])
    guess = model.predict(members[unseen], neighbours[unseen])
    assert 1 - np.mean((guess - truth) ** 2) / truth.var() > least


# -- the estimate --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["myerson-taylor", "shapley-taylor"])
def test_a_large_enough_budget_gives_the_exact_index(index):
    graph = random_graph(6, 0.5, 1)
    game = random_game(6, graph, seed=1)
    estimate = mage.interactions(game, index, method="surrogate", budget=200)
    exact = mage.interactions(game, index, method="exact")
    np.testing.assert_allclose(estimate.values, exact.values, atol=1e-12)
    assert estimate.exact
    assert (estimate.std_error == 0).all()


@pytest.mark.parametrize(("order", "number"), [(1, 60), long_case(2, 200), long_case(3, 60)])
def test_intervals_cover_and_there_is_no_bias(order, number):
    """Seeded runs on a game that is learnt in part; the mean error must vanish and the errors be as claimed."""
    graph = mage.PlayerGraph(10, list(nx.barabasi_albert_graph(10, 2, seed=5).edges))
    game = smooth_game(graph, 3, noise=0.3)
    exact = mage.interactions(game, order=order, method="exact")
    top_order = slice(sum(1 for term in exact.coalitions if len(term) < order), None)
    runs = [
        mage.interactions(game, order=order, method="surrogate", budget=180, regressor="ridge", seed=seed)
        for seed in range(number)
    ]
    errors = np.array([run.values - exact.values for run in runs])[:, top_order]
    std_errors = np.array([run.std_error for run in runs])[:, top_order]
    covered = float(np.mean(np.abs(errors) <= 1.96 * std_errors))
    assert 0.92 <= covered <= 0.98
    # Bias: the mean over runs, in its own standard error, is a sample of standard normals.
    z = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    assert np.sqrt(np.mean(z**2)) < 1.5
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize(
    ("index", "listed", "order"),
    [
        case if case in {("myerson-k-sii", True, 2), ("myerson-faith-shap", False, 2)} else long_case(*case)
        for case in product(
            ["myerson-sii", "myerson-k-sii", "myerson-banzhaf", "myerson-faith-shap"], [True, False], [2, 3]
        )
    ],
)
def test_every_index_is_estimated_at_every_order(index, listed, order, monkeypatch):
    """All sizes have errors, also where not all coalitions are listed; those at the boundary always are."""
    from mage.indices.estimators.surrogate import estimator
    from mage.indices.estimators.surrogate import population as module

    if not listed:
        monkeypatch.setattr(module, "_SAMPLED", 3000)
        monkeypatch.setattr(estimator, "connected_population", lambda *problem: connected_population(*problem, 10))
    graph = mage.PlayerGraph(11, list(nx.barabasi_albert_graph(11, 2, seed=5).edges))
    game = smooth_game(graph, 3, noise=0.3)
    exact = mage.interactions(game, index, order, "exact")
    options = {"method": "surrogate", "budget": 200 * order, "regressor": "ridge"}
    runs = [mage.interactions(game, index, order, seed=seed, **options) for seed in range(10)]
    assert (runs[0].std_error > 0).all()
    assert runs[0].error_parts.shape[1] == len(exact)
    z = np.array([(run.values - exact.values) / run.std_error for run in runs])
    assert 0.75 < np.sqrt(np.mean(z**2)) < 1.25
    groups = [[0, 1, 2, 4], [3, 5, 6, 7, 8]]
    scores = [(run.group(g) - exact.group(g)) / run.group_error(g) for run in runs for g in groups]
    assert 0.5 < np.sqrt(np.mean(np.square(scores))) < 1.5


@pytest.mark.parametrize(
    ("method", "limit"), [long_case("surrogate", {"budget": 300}), ("permutation", {"permutations": 200})]
)
def test_errors_are_honest_with_the_default_regressors(method, limit):
    graph = mage.PlayerGraph(12, list(nx.barabasi_albert_graph(12, 2, seed=6).edges))
    game = smooth_game(graph, 4, noise=0.1)
    exact = mage.interactions(game, method="exact").of_size(2)[1]
    hits = []
    for seed in range(12):
        run = mage.interactions(game, method=method, seed=seed, **limit)
        _, values, errors = run.of_size(2)
        hits.append(np.abs(values - exact) <= 1.96 * errors)
        assert run.num_queries <= limit.get("budget", np.inf)
    assert 0.90 <= np.mean(hits) <= 0.99


@pytest.mark.long
def test_a_smaller_error_than_sampled_orderings_from_a_quarter_of_the_queries():
    graph = mage.PlayerGraph(18, [*nx.barabasi_albert_graph(18, 1, seed=2).edges, (3, 9), (5, 12)])
    game = smooth_game(graph, 5)
    exact = mage.interactions(game, method="exact").matrix
    sampled = [
        mage.interactions(smooth_game(graph, 5), method="permutation", permutations=200, seed=s) for s in range(3)
    ]
    queries = int(np.mean([run.num_queries for run in sampled]))
    learnt = [mage.interactions(game, method="surrogate", budget=queries // 4, seed=s) for s in range(3)]

    def error(runs):
        return np.mean([np.sqrt(np.mean((run.matrix - exact) ** 2)) for run in runs])

    assert error(learnt) < error(sampled)


@pytest.mark.long
def test_unlisted_populations_work_end_to_end(monkeypatch):
    from mage.indices.estimators.surrogate import estimator
    from mage.indices.estimators.surrogate import population as module

    graph = mage.PlayerGraph(12, list(nx.barabasi_albert_graph(12, 2, seed=1).edges))
    game = smooth_game(graph, 2)
    exact = mage.interactions(game, method="exact").of_size(2)[1]
    monkeypatch.setattr(module, "_SAMPLED", 3000)
    monkeypatch.setattr(estimator, "connected_population", lambda *problem: connected_population(*problem, 10))
    z = []
    for seed in range(15):
        run = mage.interactions(game, method="surrogate", budget=400, regressor="ridge", seed=seed)
        assert not run.exact
        z.append((run.of_size(2)[1] - exact) / run.of_size(2)[2])
    assert 0.75 < np.sqrt(np.mean(np.square(z))) < 1.25


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_in_another_process():
    program = """
import numpy as np, networkx as nx, mage
graph = mage.PlayerGraph(12, list(nx.barabasi_albert_graph(12, 2, seed=1).edges))
weights = np.random.default_rng(0).normal(size=12)
game = mage.Game(lambda m: np.tanh(m @ weights), 12, graph)
run = mage.interactions(game, method="surrogate", budget=250, seed=7)
print(run.values.tobytes().hex(), run.std_error.tobytes().hex())
"""
    outputs = {
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    }
    assert len(outputs) == 1


def test_too_small_budgets_and_wrong_names_are_refused():
    game = smooth_game(random_graph(14, 0.3, 0), 0)
    with pytest.raises(ValueError, match="budget: 50 is too small; a surrogate of order 2 needs at least 115 here"):
        mage.interactions(game, method="surrogate", budget=50)
    with pytest.raises(ValueError, match="regressor must be one of auto, ridge, trees, mix"):
        mage.interactions(game, method="surrogate", regressor="forest")
    with pytest.raises(ValueError, match="permutations needs method='permutation'"):
        mage.interactions(game, method="surrogate", permutations=10)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    game = smooth_game(random_graph(14, 0.3, 0), 0)
    with pytest.raises(ImportError, match=r"pip install 'mage-explain\[surrogate\]'"):
        mage.interactions(game, method="surrogate", budget=300)
    assert mage.interactions(game, method="surrogate", budget=300, regressor="ridge").method == "surrogate"


# -- auto ----------------------------------------------------------------------------------------------------------


def test_auto_says_what_it_takes_and_why(caplog):
    caplog.set_level("INFO", logger="mage")
    graph = mage.PlayerGraph(16, list(nx.barabasi_albert_graph(16, 2, seed=1).edges))
    count = graph.count_connected()
    assert count > 5000
    exact = mage.interactions(smooth_game(graph, 1))
    assert exact.method == "exact"
    assert exact.reason == f"{count:,} connected coalitions, limit 100,000"
    assert f"takes exact: {exact.reason}" in caplog.text
    estimate = mage.interactions(smooth_game(graph, 1), budget=300)
    assert (estimate.method, estimate.reason) == ("surrogate", f"{count:,} connected coalitions, limit 300")
    assert f"takes surrogate: {estimate.reason}" in caplog.text
    with pytest.raises(ValueError, match="budget: 60 is too small"):
        mage.interactions(smooth_game(graph, 1), budget=60)
    reason = f"{count:,} connected coalitions, limit 60; not surrogate: budget: 60"
    assert f"takes permutation: {reason}" in caplog.text
    sampled = mage.interactions(smooth_game(graph, 1), permutations=4)
    assert (sampled.method, sampled.reason) == ("permutation", "permutations is given")
    assert mage.interactions(smooth_game(graph, 1), method="exact").reason == "named in the request"


def learning(method):
    return {"regressor": "ridge"} if method == "surrogate" else {}


# -- stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [long_case("surrogate"), "permutation"])
def test_tolerance_stops_as_soon_as_it_is_met(method):
    graph = mage.PlayerGraph(14, list(nx.barabasi_albert_graph(14, 2, seed=4).edges))
    errors = []
    options = {"method": method, "budget": 5000, **learning(method)}
    free = mage.interactions(
        smooth_game(graph, 1), callback=lambda estimate: errors.append(estimate.std_error.max()), **options
    )
    assert free.stopped == "budget"
    target = errors[1]
    estimate = mage.interactions(smooth_game(graph, 1), tolerance=target, **options)
    assert estimate.stopped == "tolerance"
    assert estimate.std_error.max() <= target
    assert estimate.num_queries < free.num_queries
    # Not before: the look before this one was still above it.
    assert min(errors[: errors.index(estimate.std_error.max())], default=np.inf) > target


@pytest.mark.parametrize(
    ("method", "limit"), [("surrogate", {"budget": 2000}), ("permutation", {"permutations": 9000})]
)
def test_motifs_stable_stops_with_the_right_motif(method, limit):
    graph = mage.PlayerGraph(13, list(nx.barabasi_albert_graph(13, 2, seed=4).edges))
    carrier = np.zeros(13, bool)
    carrier[[0, 2, 3]] = True
    game = mage.Game(lambda m: (m | ~carrier).all(axis=1) + 0.01 * m.sum(axis=1), 13, graph)
    estimate = mage.interactions(game, method=method, until="motifs stable", **learning(method), **limit)
    assert estimate.stopped == "until"
    assert estimate.num_queries < 1800 or estimate.num_permutations < 9000
    best = mage.find_motifs(estimate)
    assert best.nodes == mage.find_motifs(mage.interactions(game, method="exact")).nodes


@pytest.mark.parametrize("method", ["surrogate", "permutation"])
def test_cancelling_and_interrupting_keep_what_there_is(method):
    graph = mage.PlayerGraph(14, list(nx.barabasi_albert_graph(14, 2, seed=4).edges))
    options = {"method": method, "budget": 4000, **learning(method)}
    estimate = mage.interactions(smooth_game(graph, 1), callback=lambda _: True, **options)
    assert (estimate.stopped, estimate.partial) == ("cancelled", True)
    assert "cancelled" in repr(estimate)
    assert np.isfinite(estimate.values).all()

    game = smooth_game(graph, 1)
    answer = game.value_fn

    def interrupted(masks):
        if game.num_queries > 3000:
            raise KeyboardInterrupt
        return answer(masks)

    game.value_fn = interrupted
    partial = mage.interactions(game, callback=lambda _: None, **options)
    assert partial.stopped == "interrupted"
    assert (partial.std_error[14:] > 0).any()
    game.value_fn = lambda masks: (_ for _ in ()).throw(KeyboardInterrupt)
    fresh = smooth_game(graph, 1)
    fresh.value_fn = game.value_fn
    with pytest.raises(KeyboardInterrupt):
        mage.interactions(fresh, **options)


def test_partial_results_survive_on_disk(tmp_path):
    graph = mage.PlayerGraph(14, list(nx.barabasi_albert_graph(14, 2, seed=4).edges))
    estimate = mage.interactions(smooth_game(graph, 1), method="surrogate", budget=400, callback=lambda _: True)
    estimate.save(tmp_path / "partial.mage")
    again = mage.Interactions.load(tmp_path / "partial.mage")
    assert (again.stopped, again.method) == ("cancelled", "surrogate")
    assert again.partial


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"tolerance": 0}, "tolerance must be a positive number"),
        ({"until": "bored"}, "until must be a function or one of motifs stable"),
        ({"until": 3}, "until must be a function of the interactions"),
        ({"callback": 3}, "callback must be a function"),
    ],
)
def test_wrong_conditions_are_refused(argument, message):
    with pytest.raises(ValueError, match=message):
        mage.interactions(smooth_game(random_graph(8, 0.4, 0), 0), **argument)
