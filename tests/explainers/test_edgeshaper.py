import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, global_add_pool

import mage
from mage.explainers import UnsupportedError
from mage.explainers.edgeshaper import EdgeGame, EdgeSHAPer, shapley_by_sampling
from mage.games import ModelGame
from mage.models import GAT, GCN, GIN
from mage.testing import check_game
from mage.testing.explainers import check_explainer
from tests.helpers.bonds import graph


class WithBonds(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = GINEConv(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), edge_dim=1)

    def forward(self, x, edge_index, edge_attr, batch):
        return global_add_pool(self.layer(x, edge_index, edge_attr), batch)


class SumOfWeights(nn.Module):
    """Worth of a graph: the weights of the edges that are there."""

    def forward(self, x, edge_index, edge_weight, batch):
        total = torch.zeros(int(batch.max()) + 1)
        return torch.stack([0 * total, total.index_add(0, batch[edge_index[0]], edge_weight)], dim=1)


MODELS = {
    "gcn": lambda: GCN(3, 2, 8, 2),
    "gcn not normalised": lambda: GCN(3, 2, 8, 2, normalize=False),
    "gin": lambda: GIN(3, 2, 8, 2),
    "gat": lambda: GAT(3, 2, 2, 4, 2),
}


# -- oracles ------------------------------------------------------------------------------------------------------


def test_additive_games_without_background_are_exact():
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    values, errors = shapley_by_sampling(mage.Game(lambda masks: masks @ weights, 4), 0.0, 5, seed=0)
    np.testing.assert_allclose(values, weights, atol=1e-12)
    np.testing.assert_allclose(errors, 0, atol=1e-12)


@pytest.mark.parametrize("density", [0.2, 0.7])
def test_background_shrinks_additive_games(density):
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    values, errors = shapley_by_sampling(mage.Game(lambda masks: masks @ weights, 4), density, 4000, seed=0)
    assert (np.abs(values - (1 - density) * weights) < 4 * errors).all()


@pytest.mark.parametrize(("density", "expected"), [(0.0, 0.5), (0.2, 0.48), (0.5, 0.375)])
def test_two_edges_that_need_each_other(density, expected):
    game = mage.Game(lambda masks: masks[:, :2].all(axis=1).astype(float), 4)
    values, errors = shapley_by_sampling(game, density, 6000, seed=1)
    assert (np.abs(values[:2] - expected) < 4 * errors[:2]).all()
    assert values[2:].tolist() == [0, 0]
    assert abs(values.sum() - (1 - density**2)) < 4 * np.linalg.norm(errors)


def test_a_background_of_everything_leaves_nothing():
    values, _ = shapley_by_sampling(mage.Game(lambda masks: masks.sum(axis=1), 3), 1.0, 4, seed=0)
    assert values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", MODELS)
def test_without_background_these_are_shapley_values(kind):
    model = MODELS[kind]()
    game = EdgeGame(ModelGame(model, graph(), target=1, output="logit", masking="remove"))
    exact = mage.interactions(game, "shapley", method="exact", progress=False).first_order
    explanation = EdgeSHAPer(1500, density=0.0).explain(model, graph(), target=1)
    errors = explanation.edge_std_error
    assert (np.abs(explanation.edge_scores - exact[game.player_of_column]) <= 4.5 * errors + 1e-6).all()
    assert game.total == pytest.approx(exact.sum())


def test_edge_features_go_with_their_edges():
    data = graph(edge_weight=torch.arange(12.0) - 4)
    explanation = EdgeSHAPer(3, density=0.0, undirected=False).explain(SumOfWeights(), data, target=1)
    np.testing.assert_allclose(explanation.edge_scores, np.arange(12.0) - 4, atol=1e-5)
    undirected_explanation = EdgeSHAPer(3, density=0.0).explain(SumOfWeights(), data, target=1)
    np.testing.assert_allclose(undirected_explanation.edge_scores, np.tile(np.arange(6.0) * 2 - 2, 2), atol=1e-5)
    assert undirected_explanation.node_scores.sum() == pytest.approx(np.arange(-4, 8).sum(), abs=1e-4)


# -- the game -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("undirected", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_the_edge_game_is_a_game(kind, undirected):
    check_game(EdgeGame(ModelGame(MODELS[kind](), graph(), output="logit", masking="remove"), undirected))


def test_the_edge_game_is_one_graph_at_a_time():
    model = WithBonds().eval()
    data = graph(edge_attr=torch.rand(12, 1))
    game = EdgeGame(ModelGame(model, data, target=0, output="logit", masking="remove"))
    masks = np.random.default_rng(0).random((8, game.num_players)) < 0.5
    worths = game.worth(masks) + game.baseline
    for mask, worth in zip(masks, worths, strict=True):
        presence = torch.from_numpy(mask[game.player_of_column])
        with torch.no_grad():
            alone = model(
                data.x, data.edge_index[:, presence], data.edge_attr[presence], torch.zeros(6, dtype=torch.long)
            )
        assert worth == pytest.approx(float(alone[0, 0]), abs=1e-5)


def test_players_are_bonds_or_columns():
    game = ModelGame(GCN(3, 2, 4), graph(), output="logit", masking="remove")
    bonds, columns = EdgeGame(game), EdgeGame(game, undirected=False)
    assert (bonds.num_players, columns.num_players) == (6, 12)
    assert bonds.player_of_column[:6].tolist() == bonds.player_of_column[6:].tolist()
    assert bonds.density == columns.density == pytest.approx(12 / 30)
    looped = graph()
    looped.edge_index = torch.cat([looped.edge_index, torch.tensor([[3], [3]])], dim=1)
    assert EdgeGame(ModelGame(GCN(3, 2, 4), looped, output="logit", masking="remove")).num_players == 7
    assert EdgeGame(ModelGame(GCN(3, 2, 4), looped, output="logit", masking="remove")).density == pytest.approx(12 / 30)


# -- the explainer ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("undirected", [True, False])
@pytest.mark.parametrize("kind", [*MODELS, "bonds"])
def test_it_conforms(kind, undirected):
    model, data = (WithBonds(), graph(edge_attr=torch.rand(12, 1))) if kind == "bonds" else (MODELS[kind](), graph())
    explanation = check_explainer(EdgeSHAPer(5, undirected=undirected), model, data, max_nodes=3)
    assert explanation is not None
    assert explanation.diagnostics["density"] == pytest.approx(0.4)
    if undirected:
        assert explanation.edge_scores[:6].tolist() == explanation.edge_scores[6:].tolist()


def test_queries_are_at_most_those_of_the_paper():
    explanation = EdgeSHAPer(2, undirected=False).explain(GCN(3, 2, 4), graph())
    assert explanation.num_queries <= 2 * 2 * 12 + 6  # the whole graph, the check of batches and the empty graph
    many = EdgeSHAPer(100).explain(GCN(3, 2, 4), graph())
    assert many.num_queries <= 2**6 + 6


def test_seeds_matter():
    one, other = (EdgeSHAPer(5).explain(GCN(3, 2, 4), graph(), seed=seed) for seed in (0, 1))
    assert one.edge_scores.tolist() != other.edge_scores.tolist()


def test_every_process_draws_the_same():
    # Whole tenths, so that rounding does not matter; a fresh process would take ten seconds to tell the same.
    game = mage.Game(lambda masks: masks[:, :3].all(axis=1).astype(float), 4)
    assert np.round(10 * shapley_by_sampling(game, 0.1, 10, seed=7)[0]).tolist() == [4, 2, 2, 0]


def test_what_cannot_be_is_refused():
    with pytest.raises(UnsupportedError, match=r"no edges.*such as mage"):
        EdgeSHAPer().explain(GCN(3, 2, 4), Data(x=torch.rand(3, 3), edge_index=torch.zeros(2, 0, dtype=torch.long)))
    with pytest.raises(ValueError, match="density must lie in"):
        EdgeSHAPer(density=1.5)
    with pytest.raises(ValueError, match="num_samples"):
        EdgeSHAPer(0)
    assert EdgeSHAPer(1).explain(GCN(3, 2, 4), graph()).edge_std_error is None
