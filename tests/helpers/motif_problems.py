"""Motif problems small enough for exhaustive search, and what every answer must hold to."""

import pytest
from hypothesis import strategies as st

from mage import PlayerGraph, find_motifs
from mage.motifs import family_objective
from mage.testing import exhaustive_objective, random_interactions
from tests.helpers.strategies import graphs

TAUS = [0.0, 0.25, 0.3, 0.5, 0.75, 1.0]


@st.composite
def motif_problems(draw, max_players, orders, objectives=("paper", "signed", "balanced")):
    """Random interactions and a setting of the search; include and exclude among it."""
    graph = draw(graphs(max_players))
    n = graph.num_players
    index = random_interactions(
        graph, draw(st.sampled_from(orders)), draw(st.integers(0, 2**32 - 1)), rounded=draw(st.booleans())
    )
    nodes = draw(st.permutations(range(n)))
    required, forbidden = draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (2, 1), (0, 2), (3, 0)]))
    return index, {
        "num_motifs": draw(st.integers(1, 3)),
        "max_nodes": draw(st.integers(1, n)),
        "tau": draw(st.sampled_from(TAUS)),
        "objective": draw(st.sampled_from(objectives)),
        "noise_floor": draw(st.sampled_from([0.0, 0.1, 0.4])),
        "include": nodes[:required],
        "exclude": nodes[required : required + forbidden],
    }


def check_feasible(result, graph, include=(), exclude=()):
    """Each motif connected, disjoint, within m and M; signs are those of scores, the bound holds."""
    nodes = [node for motif in result for node in motif.nodes]
    assert len(nodes) == len(set(nodes)) <= result.max_nodes
    assert len(result) <= result.num_motifs
    assert set(include) <= set(nodes)
    assert not set(exclude) & set(nodes)
    assert all(graph.components(set(motif.nodes)) == [list(motif.nodes)] for motif in result)
    assert result.bound >= result.objective
    assert all(motif.sign == (1 if motif.score >= 0 else -1) for motif in result)


def check_against_exhaustive(problem, connected, solver):
    """The search finds and proves what looking at all families finds, and refuses where there is none."""
    index, options = problem
    graph = index.graph if connected else PlayerGraph.complete(index.num_players)
    best = exhaustive_objective(index, graph, **options)
    if best is None:
        with pytest.raises(ValueError, match="include"):
            find_motifs(index, connected=connected, solver=solver, **options)
        return
    result = find_motifs(index, connected=connected, solver=solver, **options)
    assert result.objective == pytest.approx(best, abs=1e-7)
    assert result.optimal
    assert result.bound == pytest.approx(best, abs=1e-6)
    assert family_objective(index, result) == pytest.approx(result.objective, abs=1e-9)
    check_feasible(result, graph, options["include"], options["exclude"])
    for motif in result:
        assert motif.score == pytest.approx(index.group(motif.nodes), abs=1e-9)
