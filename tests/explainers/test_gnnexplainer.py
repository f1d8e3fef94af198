import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.explain.algorithm import GNNExplainer as PyGAlgorithm
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import GCNConv, TopKPooling, global_add_pool

from mage.explainers.gnnexplainer import GNNExplainer
from mage.explainers.protocol import UnsupportedError
from mage.models import GAT, GCN
from tests.helpers.baselines import (
    PATH,
    Sum,
    assert_same,
    check_refuses,
    check_repeats,
    check_restores,
    graph,
    input_of,
    models,
    state,
)
from tests.helpers.precision import rounding


class Toy(nn.Module):
    """Logits [0, 6 h₁ − 3] with h the sum over neighbours: of all messages only 0 → 1 matters."""

    def __init__(self, columns=2):
        super().__init__()
        self.layer, self.columns = Sum(), columns

    def forward(self, x, edge_index, batch):
        logit = 6 * self.layer(x, edge_index)[1::4] - 3
        return logit if self.columns == 1 else torch.cat([torch.zeros_like(logit), logit], dim=1)


def toy_graph():
    return Data(x=torch.tensor([[1.0], [0.0], [0.0], [1.0]]), edge_index=PATH)


@pytest.mark.filterwarnings("ignore:the model's output for a graph depends")
@pytest.mark.parametrize(("columns", "target"), [(2, 1), (1, 1), (1, None)])
def test_oracle(columns, target):
    explanation = GNNExplainer().explain(Toy(columns), toy_graph(), target=target, max_nodes=2)
    scores = explanation.method_edge_scores
    assert scores[0] > 0.92
    assert (scores[1:] == 0).all()
    assert explanation.motifs.nodes == (0, 1)
    assert np.allclose(explanation.interactions.values, [scores[0] / 2, scores[0] / 2, 0, 0])
    if columns == 2:
        assert scores[0] == pytest.approx(0.96, abs=0.01)


@pytest.mark.filterwarnings("ignore:the model's output for a graph depends")
@pytest.mark.parametrize("seed", range(3))
def test_raw_weights_stop_where_the_prediction_is_sure_enough(seed):
    explainer = GNNExplainer(message_weights="raw")
    scores = explainer.explain(Toy(), toy_graph(), target=1, seed=seed).method_edge_scores
    assert 0.75 < scores[0] < 0.9  # θ has grown beyond 1 and the loss is flat there; with σ(θ) it ends above 0.92
    assert (scores[1:] == 0).all()


def test_unknown_weights_are_refused():
    with pytest.raises(ValueError, match="message_weights must be one of sigmoid, raw; got 'soft'"):
        GNNExplainer(message_weights="soft")


@pytest.mark.filterwarnings("ignore:the model's output for a graph depends")
def test_another_class_asks_for_other_edges():
    scores = GNNExplainer(epochs=200).explain(Toy(), toy_graph(), target=0).method_edge_scores
    assert scores[0] < 0.45  # less of the message makes class 0 likelier, and masks start about ½


@pytest.mark.parametrize("name", list(models()))
def test_the_same_as_by_hand_with_pyg(name):
    model, data = models()[name].eval(), input_of(name)
    explainer = Explainer(
        model,
        PyGAlgorithm(epochs=20, lr=0.01, edge_size=0.001, edge_ent=1e-5),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    extra = {"edge_attr": data.edge_attr} if name == "edge features" else {}
    scores = GNNExplainer(epochs=20).explain(model, data, seed=6).method_edge_scores
    torch.manual_seed(6)
    expected = explainer(data.x, data.edge_index, batch=torch.zeros(10, dtype=torch.long), **extra).edge_mask
    assert np.allclose(scores, expected.numpy(), atol=rounding())


@pytest.mark.parametrize("name", list(models()))
def test_restores_and_counts(name):
    explainer, model = GNNExplainer(epochs=5), models()[name]
    check_restores(explainer, model, input_of(name), fails_at=7)
    assert explainer.explain(model, input_of(name)).num_queries == 6 + 5


@pytest.mark.parametrize("name", list(models()))
def test_repeats(name):
    check_repeats(GNNExplainer(epochs=5), models()[name], input_of(name), random=True)


def test_the_mask_keeps_the_prediction():
    model, data = GCN(4, 2, width=8), graph()
    start, end = (
        GNNExplainer(epochs=epochs, edge_size=0.0).explain(model, data, target=1).method_edge_scores
        for epochs in (1, 200)
    )

    def likelihood(scores):
        set_masks(model, torch.tensor(scores, dtype=torch.float), data.edge_index, apply_sigmoid=False)
        with torch.no_grad():
            out = model(data.x, data.edge_index).softmax(dim=1)[0, 1]
        clear_masks(model)
        return float(out)

    assert likelihood(end) > likelihood(start)


def test_loops_whole_numbers_and_models_of_data():
    class OfData(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer, self.head = nn.Embedding(5, 4), GCNConv(4, 8), nn.Linear(8, 3)

        def forward(self, data):
            hidden = self.layer(self.table(data.kind), data.edge_index).relu()
            return self.head(global_add_pool(hidden, data.batch))

    data = graph()
    data = Data(kind=torch.arange(10) % 5, edge_index=torch.cat([data.edge_index, torch.tensor([[3], [3]])], dim=1))
    data.num_nodes = 10
    explanation = GNNExplainer(epochs=3).explain(OfData(), data, max_nodes=4)
    assert len(explanation.method_edge_scores) == data.edge_index.size(1)
    assert 0 < len(explanation.motifs.nodes) <= 4


def test_refuses():
    check_refuses(GNNExplainer(epochs=2), GAT(4, 2, heads=2, head_width=4))

    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = GCNConv(4, 4), nn.Linear(4, 2)

        def forward(self, x, edge_index, batch):
            return self.head(global_add_pool(x, batch))

    with pytest.raises(UnsupportedError, match="does not depend on messages"):
        GNNExplainer(epochs=2).explain(Unused(), graph())

    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.pool, self.second = GCNConv(4, 4), TopKPooling(4), GCNConv(4, 2)

        def forward(self, x, edge_index, batch):
            x, edge_index, _, batch, _, _ = self.pool(self.first(x, edge_index), edge_index, batch=batch)
            return global_add_pool(self.second(x, edge_index), batch)

    model = Pooled()
    before = state(model)
    with pytest.raises(UnsupportedError, match="cannot mask"):
        GNNExplainer(epochs=2).explain(model, graph())
    assert_same(before, state(model))
