"""The unit of worths and the masking, where they are left open."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_add_pool, global_mean_pool

import mage
from mage.games import ModelGame


class Biased(nn.Module):
    """Says its class with a given log-odds without any edge."""

    def __init__(self, bias, scale=1.0):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.bias, self.scale = GCNConv(2, 1), bias, scale

    def forward(self, x, edge_index, batch):
        moved = self.scale * global_mean_pool(self.conv(x, edge_index) - self.conv(x, edge_index[:, :0]), batch)
        return torch.cat([torch.zeros_like(moved), moved + self.bias], dim=1)


class Sets(nn.Module):
    """Takes no edges."""

    def forward(self, x, batch):
        return global_add_pool(x, batch)


def graph():
    torch.manual_seed(1)
    edges = torch.tensor([[0, 1, 2, 3, 1], [1, 2, 3, 4, 3]])
    return Data(x=torch.randn(5, 2), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


@pytest.mark.parametrize(
    ("bias", "output"), [(0.0, "probability"), (4.5, "probability"), (4.7, "log-odds"), (-4.7, "log-odds")]
)
def test_saturated_probabilities_give_way_to_log_odds(bias, output):
    game = ModelGame(Biased(bias).eval(), graph(), target=1)
    assert game.output == output
    queries = game.num_queries
    assert game.baseline == pytest.approx(bias if output == "log-odds" else 1 / (1 + np.exp(-bias)), rel=1e-5)
    assert game.num_queries == queries  # it is known already


def test_a_saturated_prediction_explains_itself_in_words():
    explanation = mage.explain(Biased(12.0, 0.1).eval(), graph(), output="probability", class_names=["no", "yes"])
    assert "the model gives yes a probability of 1.000 with every node absent" in repr(explanation)
    assert explanation.to_dict()["saturation"] == explanation.saturation
    plain = mage.explain(Biased(12.0, 5.0).eval(), graph(), class_names=["no", "yes"])
    assert plain.output == "log-odds"
    assert plain.all_motifs  # log-odds have no limit


def test_probabilities_that_saturate_for_some_nodes_give_way_too():
    """Nothing is certain without edges, but much is with some of them."""
    assert ModelGame(Biased(0.0, 1.0).eval(), graph(), target=1).output == "probability"
    assert ModelGame(Biased(0.0, 1000.0).eval(), graph(), target=1).output == "log-odds"


class Crowd(Biased):
    """Has many classes; two of them compete."""

    def forward(self, x, edge_index, batch):
        two = super().forward(x, edge_index, batch)
        return torch.cat([two, torch.zeros(len(two), 3)], dim=1)


def test_log_odds_of_many_classes_are_bounded():
    model = Crowd(-7.0, 1000.0).eval()
    game = ModelGame(model, graph(), target=1)
    assert game.output == "bounded-log-odds"
    plain = ModelGame(model, graph(), target=1, output="log-odds")
    masks = np.random.default_rng(0).random((200, 5)) < 0.5
    low, high = sorted([plain.baseline, plain.baseline + plain.total])
    width = max(high - low, 2.0)
    expected = np.clip(plain.worth(masks) + plain.baseline, low - width, high + width)
    np.testing.assert_allclose(game.worth(masks) + game.baseline, expected, atol=1e-6)
    assert game.baseline == pytest.approx(plain.baseline)
    assert ModelGame(model, graph(), target=1, output="bounded-log-odds").readout == game.readout
    values, chances = game.outcomes(masks)
    np.testing.assert_allclose(chances, 1 / (1 + np.exp(-plain.worth(masks) - plain.baseline)), atol=1e-6)
    assert len(values) == len(masks)


def test_a_baseline_needs_a_unit():
    with pytest.raises(ValueError, match="baseline: say with output="):
        ModelGame(Biased(0.0).eval(), graph(), baseline=0.5)
    assert ModelGame(Biased(0.0).eval(), graph(), baseline=0.5, output="probability").baseline == 0.5


def test_the_masking_follows_the_model():
    assert ModelGame(Biased(0.0).eval(), graph()).masking == "split"
    assert ModelGame(Sets(), graph(), target=0).masking == "remove"
    lonely = Data(x=torch.randn(3, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))
    assert ModelGame(Sets(), lonely, target=0).masking == "remove"
    with pytest.raises(ValueError, match="use masking='remove'"):
        ModelGame(Sets(), graph(), target=0, masking="split")
