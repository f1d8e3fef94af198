import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, SimpleConv, global_add_pool

import mage.datasets
from mage.datasets import GraphDataset
from mage.explainers import UnsupportedError
from mage.explainers.matchexplainer import MatchExplainer, _embedded, matched
from mage.models import GAT, GCN, GIN
from mage.testing.explainers import check_explainer


def column(*values):
    return np.array(values, dtype=np.float32)[:, None]


TARGET = column(0, 1, 5, 9)


def chain(values, **more):
    """A chain of nodes with one feature each, the class of which the classifiers below read off it."""
    count = len(values)
    one_way = torch.stack([torch.arange(count - 1), torch.arange(1, count)])
    edges = torch.cat([one_way, one_way.flip(0)], dim=1)
    return Data(x=torch.tensor(values)[:, None].float(), edge_index=edges, y=torch.tensor([1]), **more)


class Features(SimpleConv):
    """A layer without messages: embeddings are the features."""

    def forward(self, x, edge_index):
        return x


class HasFive(nn.Module):
    """Class 1 where a node with the feature 5 is there."""

    def __init__(self):
        super().__init__()
        self.layer = Features()

    def forward(self, x, edge_index, batch):
        fives = ((self.layer(x, edge_index) - 5).abs() < 0.5).float()
        yes = global_add_pool(fives, batch, int(batch.max()) + 1)
        return torch.cat([0.5 - yes, yes - 0.5], dim=1)


# -- oracles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "nodes", "total"), [(2, [1, 2], 0.3), (3, [1, 2, 3], 11.3)])
def test_greedy_matching(count, nodes, total):
    matches, distance = matched(TARGET, [column(0.9, 5.2, 20)], count)
    assert matches.tolist() == [nodes]
    assert distance[0] == pytest.approx(total, abs=1e-4)


def test_matching_is_greedy_rather_than_optimal():
    matches, distance = matched(column(0, 2), [column(1.1, 3.3)], 2)
    assert matches.tolist() == [[0, 1]]
    assert distance[0] == pytest.approx(0.9 + 3.3, abs=1e-4)


def test_counterparts_of_several_sizes_are_matched_as_if_alone(monkeypatch):
    generator = np.random.default_rng(0)
    embeddings = generator.normal(size=(9, 3)).astype(np.float32)
    others = [generator.normal(size=(size, 3)).astype(np.float32) for size in (5, 9, 4, 12)]
    together, distances = matched(embeddings, others, 4)
    for rows, nodes, distance in zip(others, together, distances, strict=True):
        apart = np.linalg.norm(embeddings[:, None].astype(float) - rows[None], axis=2)
        expected, total = [], 0.0
        for _ in range(4):
            i, j = np.unravel_index(apart.argmin(), apart.shape)
            total += apart[i, j]
            expected.append(int(i))
            apart[i], apart[:, j] = np.inf, np.inf
        assert nodes.tolist() == sorted(expected)
        assert distance == pytest.approx(total, abs=1e-4)
    monkeypatch.setattr("mage.explainers.matchexplainer._DISTANCES_AT_ONCE", 1)
    assert matched(embeddings, others, 4)[0].tolist() == together.tolist()


def test_equal_distances_go_by_position():
    embeddings = np.ones((5, 2), dtype=np.float32)
    noisy = embeddings * (1 + 1e-7 * np.arange(5, dtype=np.float32)[::-1, None])
    assert matched(embeddings, [noisy], 3)[0].tolist() == [[0, 1, 2]]


def fitted(*counterparts):
    explainer = MatchExplainer()
    explainer.counterparts = {1: [column(*rows) for rows in counterparts], 0: []}
    return explainer


def test_candidates_that_lose_the_class_lose():
    explainer = fitted([0, 1], [0.9, 5.2, 20])
    explanation = explainer.explain(HasFive(), chain([0, 1, 5, 9]), max_nodes=2)
    assert explanation.target == 1
    assert explanation.motifs.nodes == (1, 2)
    assert explanation.diagnostics["distance"] == pytest.approx(0.3, abs=1e-4)
    assert fitted([0, 1]).explain(HasFive(), chain([0, 1, 5, 9]), max_nodes=2).motifs.nodes == (0, 1)


def test_order_of_counterparts_does_not_matter():
    first = fitted([0, 1], [0.9, 5.2, 20], [5.1, 9.4])
    last = fitted([5.1, 9.4], [0.9, 5.2, 20], [0, 1])
    for explainer in (first, last):
        # Two candidates keep the class equally well; the nearer match is taken.
        assert explainer.explain(HasFive(), chain([0, 1, 5, 9]), max_nodes=2).motifs.nodes == (1, 2)


def test_small_counterparts_are_passed_over():
    explainer = fitted([5, 9], [0.9, 5.2, 20])
    explanation = explainer.explain(HasFive(), chain([0, 1, 5, 9]), max_nodes=3)
    assert explanation.motifs.nodes == (1, 2, 3)
    assert explanation.diagnostics["counterparts"] == 1
    with pytest.raises(UnsupportedError, match=r"class 1 with 4 nodes or more.*max_nodes="):
        explainer.explain(HasFive(), chain([0, 1, 5, 9]), max_nodes=4)


def test_a_graph_does_not_match_itself():
    explanation = fitted([0, 1, 5, 9], [0.9, 5.2, 20]).explain(HasFive(), chain([0, 1, 5, 9]), max_nodes=2)
    assert explanation.diagnostics["counterparts"] == 1
    assert explanation.motifs.nodes == (1, 2)


# -- fitting ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def house_grid():
    return mage.datasets.load("ba_house_grid", count=40)


MODELS = {
    "gcn": lambda width: GCN(width, 2, 8, 2),
    "gcn not normalised": lambda width: GCN(width, 2, 8, 2, normalize=False),
    "gin": lambda width: GIN(width, 2, 8, 2),
    "gat": lambda width: GAT(width, 2, 2, 4, 2),
}


@pytest.mark.parametrize("kind", MODELS)
def test_counterparts_are_embeddings_by_predicted_class(kind, house_grid):
    model = MODELS[kind](house_grid.num_node_features).eval()
    explainer = MatchExplainer()
    explainer.fit(model, house_grid, seed=1)
    order = np.random.default_rng(1).permutation(house_grid.split.train)
    expected = {0: [], 1: []}
    with torch.no_grad():
        for position in order:
            data = house_grid[int(position)]
            label = int(model(data.x, data.edge_index).argmax())
            expected[label].append(model.embed(data.x, data.edge_index).numpy())
    for label, rows in expected.items():
        assert len(explainer.counterparts[label]) == len(rows)
        for embedding, alone in zip(explainer.counterparts[label], rows, strict=True):
            np.testing.assert_allclose(embedding, alone, atol=1e-4, rtol=1e-4)
    assert "embed" not in vars(model)


def test_the_sample_is_seeded_and_limited(house_grid):
    model = GIN(house_grid.num_node_features, 2, 8, 2)
    limited = [MatchExplainer(max_graphs=3) for _ in range(3)]
    for explainer, seed in zip(limited, (0, 0, 1), strict=True):
        explainer.fit(model, house_grid, seed=seed)
    sizes = [[len(rows) for label in (0, 1) for rows in explainer.counterparts[label]] for explainer in limited]
    assert max(len(rows) for rows in limited[0].counterparts.values()) == 3
    assert sizes[0] == sizes[1] != sizes[2]


class WithBonds(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(GINEConv(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), edge_dim=1) for _ in range(2))
        self.head = nn.Linear(2, 2)

    def forward(self, x, edge_index, edge_attr, batch=None):
        for layer in self.layers:
            x = layer(x, edge_index, edge_attr)
        return self.head(global_add_pool(x, batch))


@pytest.fixture(scope="module")
def bonded():
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for size in range(5, 25):
        data = chain([1.0] * size)
        data.x = torch.rand(size, 2, generator=generator)
        data.edge_attr = torch.rand(data.edge_index.size(1), 1, generator=generator)
        data.y = torch.tensor([size % 2])
        graphs.append(data)
    return GraphDataset.from_graphs("chains", graphs)


def test_other_models_give_what_their_last_layer_returns(bonded):
    model, data = WithBonds().eval(), bonded[0]
    union = bonded.batch([0])
    out, embeddings = _embedded(model, union, 1)
    with torch.no_grad():
        hidden = model.layers[1](
            model.layers[0](data.x, data.edge_index, data.edge_attr), data.edge_index, data.edge_attr
        )
        expected = model(data.x, data.edge_index, data.edge_attr)
    torch.testing.assert_close(embeddings, hidden)
    torch.testing.assert_close(out, expected)
    assert not any(layer._forward_hooks for layer in model.layers)


@pytest.mark.parametrize("kind", [*MODELS, "bonds"])
def test_it_conforms(kind, house_grid, bonded):
    dataset = bonded if kind == "bonds" else house_grid
    model = WithBonds() if kind == "bonds" else MODELS[kind](dataset.num_node_features)
    data = dataset[int(dataset.split.test[0])]
    for max_nodes in (4, 0.2):
        settings = {"max_nodes": max_nodes, "seeds": (0,), "dataset": dataset}
        explanation = check_explainer(MatchExplainer(), model, data, **settings)
        assert len(explanation.motifs.nodes) == (4 if max_nodes == 4 else max(1, int(0.2 * data.num_nodes)))


def test_what_cannot_be_is_refused(house_grid, bonded):
    model, data = GIN(house_grid.num_node_features, 2, 8, 2), house_grid[0]
    with pytest.raises(UnsupportedError, match=r"call fit\(model, dataset\) first"):
        MatchExplainer().explain(model, data)
    explainer = MatchExplainer()
    explainer.fit(model, house_grid)
    with pytest.raises(UnsupportedError, match="fitted to embeddings of width 8, and this model has 4"):
        explainer.explain(GIN(house_grid.num_node_features, 2, 4, 2), data, target=_class_with_some(explainer))
    with pytest.raises(UnsupportedError, match="regression has none"):
        explainer.explain(GIN(house_grid.num_node_features, 1, 8, 2), data)
    with pytest.raises(UnsupportedError, match="no message-passing layer"):
        MatchExplainer().fit(lambda x, edge_index, batch: global_add_pool(x, batch), house_grid)
    with pytest.raises(ValueError, match="max_graphs"):
        MatchExplainer(max_graphs=0)


def _class_with_some(explainer):
    return next(label for label, rows in explainer.counterparts.items() if rows)
