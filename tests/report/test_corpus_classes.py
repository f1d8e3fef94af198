"""Classes of labelled graphs and recurring cores, against networkx and brute force."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import GraphMatcher, categorical_edge_match, categorical_node_match
from scipy.stats import binomtest

from mage.drawing.labelled_graphs import Catalogue, LabelledGraph, embedding, holds
from mage.report.corpus.cores import leading_cores, recurring_cores, wilson_bound

SAME_NODE, SAME_EDGE = categorical_node_match("label", None), categorical_edge_match("kind", None)


@st.composite
def labelled_graphs(draw, most=6, labels="AB", kinds="-="):
    count = draw(st.integers(1, most))
    pairs = list(combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    names = draw(st.lists(st.sampled_from(labels), min_size=count, max_size=count))
    return LabelledGraph.make(names, [(i, j, draw(st.sampled_from(kinds))) for i, j in edges])


def in_networkx(graph):
    graph_of_pattern = nx.Graph()
    for v, label in enumerate(graph.labels):
        graph_of_pattern.add_node(v, label=label)
    graph_of_pattern.add_edges_from((i, j, {"kind": kind}) for i, j, kind in graph.edges)
    return graph_of_pattern


def isomorphic(first, second):
    return nx.is_isomorphic(in_networkx(first), in_networkx(second), SAME_NODE, SAME_EDGE)


@given(st.lists(labelled_graphs(), min_size=1, max_size=6))
def test_classes_are_those_of_networkx(graphs):
    catalogue = Catalogue()
    numbers = [catalogue.number(graph) for graph in graphs]
    for (a, first), (b, second) in combinations(enumerate(graphs), 2):
        assert (numbers[a] == numbers[b]) == isomorphic(first, second)
    assert max(numbers) + 1 == len(catalogue.members) == len(set(numbers))


@given(labelled_graphs(most=8), st.randoms(use_true_random=False))
def test_a_graph_numbered_otherwise_is_in_the_same_class(graph, generator):
    order = list(range(len(graph)))
    generator.shuffle(order)
    catalogue = Catalogue()
    assert catalogue.number(graph) == catalogue.number(graph.induced(order)) == 0


def test_colours_do_not_tell_regular_graphs_apart_but_classes_do():
    def cycles(*lengths):
        joined = nx.disjoint_union_all([nx.cycle_graph(length) for length in lengths])
        return LabelledGraph.make([""] * len(joined), [(i, j, "") for i, j in joined.edges()])

    catalogue = Catalogue()
    assert catalogue.number(cycles(6)) != catalogue.number(cycles(3, 3))
    assert catalogue.number(cycles(3, 5)) == catalogue.number(cycles(5, 3))


@given(labelled_graphs(most=4), labelled_graphs(most=7))
def test_patterns_are_found_where_networkx_finds_them(pattern, host):
    matcher = GraphMatcher(in_networkx(host), in_networkx(pattern), SAME_NODE, SAME_EDGE)
    places = embedding(pattern, host)
    assert (places is not None) == matcher.subgraph_is_isomorphic() == holds(host, pattern)
    if places is not None:
        assert host.induced(places) == pattern


def test_a_search_that_takes_too_long_says_that_it_does_not_know():
    host = nx.complete_bipartite_graph(9, 9)
    big = LabelledGraph.make([""] * 18, [(i, j, "") for i, j in host.edges()])
    odd = LabelledGraph.make([""] * 9, [(i, (i + 1) % 9, "") for i in range(9)])
    assert holds(big, odd, most_steps=50) is None


def brute_force(motifs, least):
    """Connected subsets of all motifs, put into classes one by one: the graphs of each class."""
    classes = []
    for place, motif in motifs:
        whole = in_networkx(motif)
        for size in range(1, len(motif) + 1):
            for nodes in combinations(range(len(motif)), size):
                if not nx.is_connected(whole.subgraph(nodes)):
                    continue
                piece = motif.induced(nodes)
                entry_of_class = next((entry for entry in classes if isomorphic(entry[0], piece)), None)
                if entry_of_class is None:
                    entry_of_class = (piece, set())
                    classes.append(entry_of_class)
                entry_of_class[1].add(place)
    return [(piece, graphs) for piece, graphs in classes if len(graphs) >= least]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 3), labelled_graphs(most=5)), min_size=1, max_size=4), st.integers(1, 3))
def test_recurring_cores_are_all_that_brute_force_finds(motifs, least):
    cores, complete = recurring_cores(motifs, least)
    assert complete
    expected = brute_force(motifs, least)
    assert len(cores) == len(expected)
    for core in cores:
        matching = [graphs for piece, graphs in expected if isomorphic(piece, core.pattern)]
        assert matching == [set(core.graphs)]
        larger = [
            graphs
            for piece, graphs in expected
            if len(piece) == len(core.pattern) + 1 and embedding(core.pattern, piece) is not None
        ]
        assert core.closed == (not any(len(graphs) == len(core.graphs) for graphs in larger))


def test_motifs_with_too_many_pieces_are_told():
    star = LabelledGraph.make([""] * 12, [(0, v, "") for v in range(1, 12)])
    _, complete = recurring_cores([(0, star), (1, star)], most_pieces=100)
    assert not complete


@given(st.integers(1, 200), st.data())
def test_the_bound_is_wilsons(trials, data):
    successes = data.draw(st.integers(0, trials))
    interval = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_bound(successes, trials) == pytest.approx(interval.low, abs=1e-4)


def path(labels):
    return LabelledGraph.make(labels, [(i, i + 1, "-") for i in range(len(labels) - 1)])


def test_what_is_always_chosen_leads_and_its_neighbour_is_a_form_of_it():
    hosts = {place: path("CCNOCC") for place in range(10)} | {place: path("CCCC") for place in range(10, 14)}
    motifs = [(place, path("NO" if place % 2 else "CNO")) for place in range(10)]
    cores, _ = recurring_cores(motifs, 2)
    leading = leading_cores(cores, hosts)
    assert [sorted(core.pattern.labels) for core in leading] == [["N", "O"]]
    assert (len(leading[0].graphs), leading[0].present) == (10, 10)
    assert [sorted(form.pattern.labels) for form in leading[0].forms] == [["C", "N", "O"]]


def test_a_piece_counts_once_a_graph():
    twice = [(0, path("NO")), (0, path("NO")), (1, path("NO"))]
    cores, _ = recurring_cores(twice, 2)
    assert {len(core.graphs) for core in cores} == {2}
    assert recurring_cores(twice, 3)[0] == []
