import json
import math

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mage
from mage.explainers._selection import best_nodes, nodes_of_best_edges
from mage.games import ModelGame
from mage.models import GIN

PATH = np.array([[0, 2, 1, 4], [1, 3, 2, 4]])


def test_edges_bring_at_most_m_nodes():
    # With three places, the second edge would need a fourth; the third fits.
    assert nodes_of_best_edges(PATH, np.array([0.9, 0.8, 0.7, 5.0]), 3) == [0, 1, 2]
    assert nodes_of_best_edges(PATH, np.array([0.9, 0.7, 0.8, 5.0]), 3) == [0, 1, 2]
    assert nodes_of_best_edges(PATH, np.array([0.9, 0.8, 0.7, 5.0]), 4) == [0, 1, 2, 3]
    assert nodes_of_best_edges(PATH, np.array([0.9, 0.8, 0.7, 5.0]), 1) == []


def test_zeros_and_loops_bring_nothing():
    assert nodes_of_best_edges(PATH, np.array([0.0, 0.0, 0.7, 5.0]), 4) == [1, 2]
    assert nodes_of_best_edges(PATH, np.zeros(4), 4) == []
    assert nodes_of_best_edges(PATH, np.array([-0.2, -0.1, 0.7, 5.0]), 3) == [1, 2, 3]


def test_equal_scores_go_by_position():
    assert nodes_of_best_edges(PATH, np.ones(4), 2) == [0, 1]
    assert best_nodes(np.array([0.5, 1.0, 0.5, 0.0]), 2) == [0, 1]
    assert best_nodes(np.array([0.5, 1.0, 0.0, 0.0]), 4) == [0, 1]


@pytest.fixture
def explained():
    edges = torch.tensor([[0, 1, 3, 4], [1, 2, 4, 5]])
    data = Data(x=torch.ones(7, 2), edge_index=torch.cat([edges, edges.flip(0)], dim=1), smiles="C")
    game = ModelGame(GIN(2, 2, 4).eval(), data, output="logit", masking="remove")
    scores = np.array([0.1, 0.4, 0.0, 0.9, 0.8, 0.0, 0.2])
    return data, mage.Explanation.from_nodes(
        *([0, 1, 3, 4, 6], game, data),
        method="Method",
        max_nodes=5,
        node_scores=scores,
        edge_scores=np.arange(8.0),
        num_queries=17,
    )


def test_motifs_are_connected_parts_strongest_first(explained):
    _, explanation = explained
    assert [motif.nodes for motif in explanation.motifs] == [(3, 4), (0, 1), (6,)]
    assert explanation.motifs[0].score == pytest.approx(1.7)
    assert explanation.num_queries == 17
    assert explanation.node_scores.tolist() == pytest.approx([0.1, 0.4, 0.0, 0.9, 0.8, 0.0, 0.2])
    assert explanation.edge_scores.tolist() == list(range(8))
    assert not explanation.motifs.optimal
    assert math.isinf(explanation.motifs.bound)


def test_explanations_of_other_methods_are_shown_and_kept(explained, tmp_path):
    _, explanation = explained
    assert "Method scores, 17 queries" in repr(explanation)
    assert "without a bound" in repr(explanation)
    assert "nan" not in repr(explanation)
    json.dumps(explanation.to_dict(), allow_nan=False)
    explanation.save(tmp_path / "e.mage")
    again = mage.load(tmp_path / "e.mage")
    assert again.motifs == explanation.motifs
    assert again.edge_scores.tolist() == explanation.edge_scores.tolist()
    explanation.save_html(tmp_path / "e.html")
    assert "Method scores" in (tmp_path / "e.html").read_text()


def test_without_scores_edges_between_chosen_nodes_count():
    edges = torch.tensor([[0, 1], [1, 2]])
    data = Data(x=torch.ones(3, 2), edge_index=edges)
    game = ModelGame(GIN(2, 2, 4).eval(), data, output="logit", masking="remove")
    explanation = mage.Explanation.from_nodes([0, 1], game, data, method="Set", max_nodes=2)
    assert explanation.edge_scores.tolist() == [1, 0]
    assert explanation.motifs.nodes == (0, 1)
    empty = mage.Explanation.from_nodes([], game, data, method="Set", max_nodes=2)
    assert empty.motifs.nodes == ()
    assert empty.num_queries == game.num_queries
