from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import mage
from mage.explainers import RandomNodes, get
from mage.explainers.random_nodes import random_connected
from mage.graph import PlayerGraph
from mage.models import GCN
from mage.testing.explainers import check_explainer


def path(size):
    edges = torch.tensor([range(size - 1), range(1, size)])
    torch.manual_seed(0)
    return Data(x=torch.rand(size, 3), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


@st.composite
def graphs_and_sizes(draw):
    count = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    graph = PlayerGraph(count, draw(st.lists(pairs, max_size=20)))
    return graph, draw(st.integers(1, count)), draw(st.integers(0, 1000))


@given(graphs_and_sizes())
@settings(deadline=None)
def test_sets_have_their_size_and_hang_together_where_they_can(case):
    graph, size, seed = case
    nodes = random_connected(graph, size, np.random.default_rng(seed))
    assert len(nodes) == len(set(nodes)) == size
    assert set(nodes) <= set(range(graph.num_players))
    assert nodes == random_connected(graph, size, np.random.default_rng(seed))
    # A second piece is begun only after all of the graph's part that the first lies in is taken.
    whole_parts = [set(part) for part in graph.components()]
    unfinished = [part for part in whole_parts if set(nodes) & part and not part <= set(nodes)]
    assert len(unfinished) <= 1
    for part in unfinished:
        assert len(graph.components(sorted(part & set(nodes)))) == 1


def test_all_connected_sets_are_met():
    graph = PlayerGraph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    generator = np.random.default_rng(0)
    counts = Counter(tuple(random_connected(graph, 2, generator)) for _ in range(1000))
    assert set(counts) == {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)}
    # By symmetry each has one chance in five; five standard deviations either side.
    assert all(abs(count - 200) < 5 * (1000 * 0.2 * 0.8) ** 0.5 for count in counts.values())


@pytest.mark.parametrize("connected", [True, False, None])
def test_it_conforms(connected):
    model = GCN(3, 2, 4)
    explanation = check_explainer(RandomNodes(connected), model, path(9), max_nodes=4, connected=connected is not False)
    assert explanation is not None
    assert len(explanation.motifs.nodes) == 4
    assert explanation.method == "Random nodes"
    assert len(explanation.motifs) == 1 or connected is False


def test_it_is_registered_and_its_parameter_is_checked():
    assert isinstance(get("random", connected=False), RandomNodes)
    with pytest.raises(ValueError, match="connected must be True, False or None"):
        RandomNodes("yes")


def test_scattered_nodes_are_scattered():
    parts = [len(RandomNodes(False).explain(GCN(3, 2, 4), path(30), max_nodes=8, seed=s).motifs) for s in range(5)]
    assert max(parts) > 1
    explanation = RandomNodes(None).explain(GCN(3, 2, 4), path(30), max_nodes=8, connected=False)
    assert explanation.motifs.nodes == RandomNodes(False).explain(GCN(3, 2, 4), path(30), max_nodes=8).motifs.nodes


def test_mage_beats_it_where_there_is_something_to_find():
    def worth(masks):
        return masks[:, 2:4].all(axis=1) * 1.0

    game = mage.Game(worth, 8, [(i, i + 1) for i in range(7)])
    best = mage.find_motifs(mage.interactions(game, progress=False), num_motifs=1, max_nodes=2).nodes
    generator = np.random.default_rng(0)
    hits = [tuple(random_connected(game.graph, 2, generator)) == best for _ in range(50)]
    assert best == (2, 3)
    assert 0 < sum(hits) < 25
