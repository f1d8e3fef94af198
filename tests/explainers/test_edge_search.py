import itertools
import pickle

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mage.explainers import MAGE, Explainer, UnsupportedError, registry
from mage.explainers.edge_search import EdgeSearch, pair_matrix
from mage.explainers.edgeshaper import EdgeSHAPer
from mage.explanation import Explanation
from mage.games import ModelGame
from mage.graph import PlayerGraph
from mage.models import GAT, GCN, GIN
from mage.testing.explainers import check_explainer

BONDS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 6), (6, 4)]


def graph():
    edges = torch.tensor(BONDS).T
    return Data(x=torch.ones(7, 2), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


class Fixed(Explainer):
    """Scores that are given."""

    title = "Fixed"
    needs_training = True

    def __init__(self, scores=None):
        self.values = scores
        self.fitted = None

    def fit(self, model, dataset, seed=0):
        self.fitted = (dataset, seed)

    def compute(self, model, data, request):
        game = ModelGame(model, data, request.graph)
        scores = None if self.values is None else np.asarray(self.values, dtype=float)
        return Explanation.from_nodes([0], game, data, method=self.title, edge_scores=scores)


def test_the_matrix_holds_the_mean_of_both_columns():
    edge_index = np.array([[0, 1, 1, 3, 2], [1, 0, 2, 3, 1]])
    matrix = pair_matrix(edge_index, np.array([1.0, 2.0, -4.0, 9.0, -2.0]), 4)
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 1.5
    expected[1, 2] = expected[2, 1] = -3.0
    np.testing.assert_array_equal(matrix, expected)
    one_way = pair_matrix(np.array([[2, 0], [0, 1]]), np.array([5.0, 1.0]), 3)
    assert one_way[0, 2] == one_way[2, 0] == 5.0


@pytest.mark.parametrize("num_motifs", [1, 2])
@pytest.mark.parametrize("max_nodes", [2, 3, 5])
def test_the_search_finds_the_best_connected_groups(num_motifs, max_nodes):
    scores = np.random.default_rng(5).normal(size=len(BONDS))
    explanation = EdgeSearch(Fixed(np.tile(scores, 2))).explain(
        GCN(2, 2, 4), graph(), max_nodes=max_nodes, num_motifs=num_motifs
    )
    players = PlayerGraph(7, BONDS)
    sets = [
        frozenset(nodes)
        for size in range(1, max_nodes + 1)
        for nodes in itertools.combinations(range(7), size)
        if len(players.components(list(nodes))) == 1
    ]
    worth = {
        nodes: sum(max(0.0, s) for (i, j), s in zip(BONDS, scores, strict=True) if i in nodes and j in nodes)
        for nodes in sets
    }
    best = max(worth.values())
    if num_motifs == 2:
        pairs = [
            worth[a] + worth[b]
            for a, b in itertools.combinations(sets, 2)
            if not a & b and len(a) + len(b) <= max_nodes
        ]
        best = max(best, *pairs)
    assert explanation.motifs.optimal
    assert explanation.motifs.objective == pytest.approx(best)
    assert len(explanation.motifs.nodes) <= max_nodes
    assert len(explanation.motifs) <= num_motifs


def test_explanations_carry_proof_pairs_and_binary_scores():
    scores = np.tile([3.0, 3.0, 3.0, 0.1, 0.1, 1.0, 1.0, 1.0], 2)
    explanation = EdgeSearch(Fixed(scores)).explain(GCN(2, 2, 4), graph(), max_nodes=3)
    assert explanation.motifs[0].nodes == (0, 1, 2)
    assert explanation.motifs[0].score == pytest.approx(9.0)
    assert explanation.motifs.optimal
    assert "proven optimal" in repr(explanation)
    assert "Fixed scores" in repr(explanation)
    assert explanation.edge_scores.tolist() == [1, 1, 1, 0, 0, 0, 0, 0] * 2
    assert explanation.method_edge_scores is None
    assert explanation.method == "EdgeSearch (Fixed)"
    assert explanation.interactions[0, 2] == 3.0
    assert explanation.interactions[0, 4] == 0.0
    assert explanation.interactions.first_order.tolist() == [0] * 7
    assert explanation.node_scores.sum() == pytest.approx(scores[:8].sum())
    two = EdgeSearch(Fixed(scores)).explain(GCN(2, 2, 4), graph(), max_nodes=6, num_motifs=2)
    assert [motif.nodes for motif in two.motifs] == [(0, 1, 2), (4, 5, 6)]


def test_groups_need_not_be_connected_if_asked():
    scores = np.tile([3.0, 0, 0, -1.0, 0, 3.0, 0, 0], 2)
    search = EdgeSearch(Fixed(scores))
    apart = search.explain(GCN(2, 2, 4), graph(), max_nodes=4, connected=False)
    assert apart.motifs[0].nodes == (0, 1, 4, 5)
    together = search.explain(GCN(2, 2, 4), graph(), max_nodes=4)
    assert together.motifs[0].nodes in {(0, 1), (4, 5)}


def test_nothing_positive_means_no_motif():
    explanation = EdgeSearch(Fixed(-np.ones(16))).explain(GCN(2, 2, 4), graph(), max_nodes=3)
    assert len(explanation.motifs) == 0
    assert not explanation.edge_scores.any()


@pytest.mark.parametrize("make", [lambda: GCN(2, 2, 4), lambda: GIN(2, 2, 4), lambda: GAT(2, 2, 2, 2)])
def test_it_conforms(make):
    assert check_explainer(EdgeSearch(EdgeSHAPer(4)), make(), graph(), max_nodes=4, num_motifs=2) is not None


def test_training_and_access_follow_the_scores():
    search = EdgeSearch(Fixed(np.ones(16)))
    assert search.needs_training
    assert not search.white_box
    search.fit(None, "dataset", 4)
    assert search.scores.fitted == ("dataset", 4)
    assert not EdgeSearch(EdgeSHAPer()).needs_training
    assert pickle.loads(pickle.dumps(search)).scores.fitted == ("dataset", 4)  # noqa: S301 (just pickled)


def test_scores_by_name(monkeypatch):
    monkeypatch.setitem(registry._EXPLAINERS, "edgeshaper", EdgeSHAPer)
    search = EdgeSearch("edgeshaper", num_samples=7)
    assert search.scores.num_samples == 7
    with pytest.raises(ValueError, match="there is no explainer 'edgeshapley'"):
        EdgeSearch("edgeshapley")
    with pytest.raises(ValueError, match="num_samples: an explainer that is given"):
        EdgeSearch(EdgeSHAPer(), num_samples=7)


def test_what_cannot_be_is_refused():
    with pytest.raises(UnsupportedError, match=r"MAGE does not score edges.*edgeshaper"):
        EdgeSearch(MAGE(permutations=2)).explain(GCN(2, 2, 4), graph())
    lonely = Data(x=torch.ones(3, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))
    with pytest.raises(UnsupportedError, match=r"no edges.*such as mage"):
        EdgeSearch(Fixed([])).explain(GCN(2, 2, 4), lonely)
