"""Keys and colours: hashes that must tell apart exactly what colour refinement tells apart."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage._torch.graph_input import GraphInput
from mage._torch.masking import MASKINGS
from mage.games.colouring import Colouring
from mage.games.participants import Participants
from mage.graph import PlayerGraph, packing
from tests.helpers.layers import EDGES, graph
from tests.helpers.suites import few_or_many_examples


def refined(data, present, masking, rounds, with_degrees):
    """Colours as nested tuples, by the definition."""
    absent = set() if masking in ("zero", "mean") else {v for v in range(len(present)) if not present[v]}
    edges = [
        (i, j, tuple(attributes))
        for (i, j), attributes in zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True)
        if i not in absent and j not in absent
    ]
    two_way = Counter(_all_edges(data)) == Counter((j, i, attributes) for i, j, attributes in _all_edges(data))
    carried = [tuple(row) for row in data.x.tolist()]
    if masking == "zero":
        carried = [row if present[v] else (0.0,) * len(row) for v, row in enumerate(carried)]
    colours = dict(enumerate(carried))

    def messages(v, colour_of):
        incoming = [("in", attributes, colour_of(i)) for i, j, attributes in edges if j == v]
        outgoing = [] if two_way else [("out", attributes, colour_of(j)) for i, j, attributes in edges if i == v]
        return tuple(sorted(incoming + outgoing, key=repr))

    if with_degrees:
        colours = {v: (colour, messages(v, lambda _: 0)) for v, colour in colours.items()}
    for _ in range(rounds):
        before = dict(colours)
        colours = {v: (before[v], messages(v, before.get)) for v in before}
    return colours, absent


def _all_edges(data):
    pairs = zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True)
    return [(i, j, tuple(attributes)) for (i, j), attributes in pairs]


def the_colouring(data, masking, rounds, with_degrees):
    import torch

    given_graph = GraphInput.of(data)
    participants = Participants.of(given_graph, torch.empty(0, dtype=torch.long))
    colouring = Colouring.of(participants, given_graph, MASKINGS[masking], rounds)
    return colouring if with_degrees else colouring.without_degrees()


@few_or_many_examples(12, 60)
@given(
    st.sampled_from(EDGES),
    st.sampled_from(["split", "remove", "zero"]),
    st.integers(0, 3),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_hashes_are_equal_exactly_where_colours_are(edges, masking, rounds, with_degrees, seed):
    data = graph(edges, seed, nodes=6, density=0.4)
    colouring = the_colouring(data, masking, rounds, with_degrees)
    masks = (np.arange(1, 64)[:, None] >> np.arange(6)) & 1 > 0
    bits = packing.pack(masks)
    hashes, keys = colouring.of_nodes(bits), colouring.keys(bits)
    by_colour, by_graph = {}, {}
    for row, present in enumerate(masks):
        colours, absent = refined(data, present, masking, rounds, with_degrees)
        whole = []
        for v, colour in colours.items():
            if v in absent:
                assert hashes[row, v] == 0
                whole += [("gone", tuple(data.x[v].tolist()))] if masking == "split" else []
            else:
                by_colour.setdefault(repr(colour), set()).add(hashes[row, v])
                whole.append(("there", colour))
        by_graph.setdefault(repr(sorted(whole, key=repr)), set()).add(keys[row])
    for classes in (by_colour, by_graph):
        assert all(len(words) == 1 for words in classes.values())
        assert len(set.union(*classes.values())) == len(classes)


def test_keys_of_targets_are_what_targets_know():
    data = graph(seed=3)
    colouring = the_colouring(data, "split", 2, True)
    members = np.concatenate([block.members for block in PlayerGraph.of(data.edge_index, 9).blocks()])
    with_two = members[packing.unpack(members, 9)[:, 2]]
    keys = colouring.keys(with_two, np.array([2]))
    colours = colouring.of_nodes(with_two)[:, 2]
    assert len(np.unique(keys)) == len(np.unique(colours)) == len(np.unique(np.stack([keys, colours]), axis=1).T)


def test_isolated_nodes_have_no_edges_not_even_to_themselves():
    data = graph("loops", seed=1, kinds=1)
    colouring = the_colouring(data, "split", 2, False)
    lone = colouring.of_isolated_nodes()
    assert len(np.unique(lone)) == 1
    alone = colouring.of_nodes(packing.pack(np.eye(9, dtype=bool))).diagonal()
    assert [v for v in range(9) if alone[v] != lone[v]] == [1, 4]


@pytest.mark.parametrize("rounds", [0, 3])
def test_rounds_end_with_the_last(rounds):
    data = graph(seed=5)
    colouring = the_colouring(data, "remove", rounds, True)
    bits = packing.pack(np.random.default_rng(0).random((20, 9)) < 0.6)
    by_round = colouring.by_round(bits)
    assert len(by_round) == rounds + 1
    assert np.array_equal(by_round[-1], colouring.of_nodes(bits))
    shorter = the_colouring(data, "remove", max(rounds - 1, 0), True)
    assert np.array_equal(by_round[max(rounds - 1, 0)], shorter.of_nodes(bits))


def test_a_node_is_not_taken_for_three_neighbours():
    """One node of a kind with three neighbours of another, and the other way round, beside a neighbour of one kind."""
    stars = PlayerGraph(10, [(0, 1), (0, 2), (0, 3), (0, 4), (5, 6), (5, 7), (5, 8), (5, 9)])
    kinds = np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 0])
    colours = Colouring.of_players(stars, kinds, 1, False).of_nodes(packing.pack(np.ones((1, 10), dtype=bool)))[0]
    assert colours[0] != colours[5]
    assert colours[1] != colours[6]
    assert len(set(colours[2:5])) == len(set(colours[6:])) == 1
