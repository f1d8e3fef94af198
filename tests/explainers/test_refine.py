import math
import pickle

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

from mage.explainers.protocol import UnsupportedError
from mage.explainers.refine import (
    Keys,
    ReFine,
    best_subgraph,
    contrastive_loss,
    fidelity_loss,
)
from mage.models import GCN
from tests.helpers.baselines import (
    Toy,
    check_refuses,
    check_restores,
    check_seeds_of_training,
    check_training_restores,
    dataset,
    dataset_for,
    graph,
    input_of,
    models,
    quick,
    toy_graph,
)

FIRST, SECOND = [1.0, 0.0], [0.0, 1.0]


@pytest.mark.parametrize(
    ("embeddings", "expected"), [([FIRST, FIRST, SECOND], -(10 + math.log(3))), ([FIRST, FIRST, FIRST], -7.3775)]
)
def test_contrast(embeddings, expected):
    loss = contrastive_loss(3 * torch.tensor(embeddings), torch.tensor([0, 0, 1]))
    assert float(loss) == pytest.approx(expected, abs=1e-4)


def test_contrast_has_gradients_by_the_graphs_of_the_same_class_too():
    embeddings = torch.rand(4, 3, requires_grad=True)
    contrastive_loss(embeddings, torch.tensor([0, 0, 1, 1])).backward()
    assert (embeddings.grad.abs().sum(dim=1) > 0).all()


def test_fidelity():
    loss = fidelity_loss(torch.tensor([0.9, 0.6]), torch.full((6,), 0.5))
    assert float(loss) == pytest.approx(-1.49302, abs=1e-5)


def test_the_best_half_of_the_edges_of_each_graph():
    union = Batch(
        x=torch.arange(7.0)[:, None],
        edge_index=torch.tensor([[0, 1, 1, 2, 2, 3, 0, 4, 5], [1, 0, 2, 1, 3, 2, 3, 5, 6]]),
        edge_attr=torch.arange(9.0),
        batch=torch.tensor([0, 0, 0, 0, 1, 1, 1]),
    )
    mask = torch.tensor([0.1, 0.9, 0.2, 0.8, 0.1, 0.7, 0.1, 0.3, 0.4])
    part, is_kept = best_subgraph(union, mask, 0.5, Keys(("x",), ("edge_attr",), ()))
    assert is_kept.nonzero().flatten().tolist() == [1, 2, 3, 5, 8]  # 4 of 7, and 1 of 2
    assert part.x.flatten().tolist() == [0, 1, 2, 3, 5, 6]
    assert part.edge_index.tolist() == [[1, 1, 2, 3, 4], [0, 2, 1, 2, 5]]
    assert part.edge_attr.tolist() == [1, 2, 3, 5, 8]
    assert part.batch.tolist() == [0, 0, 0, 0, 1, 1]
    assert part.num_graphs == 2


def test_masks_reach_the_model():
    # In the released code they do not, and scorers learn from the regularisers alone.
    explainer, model = quick(), GCN(4, 2, width=8).eval()
    data = Batch.from_data_list([graph(seed) for seed in range(4)])
    mask = torch.rand(data.edge_index.size(1), requires_grad=True)
    explainer._loss(model, data, torch.tensor([0, 1, 0, 1]), mask, Keys(("x",), (), ())).backward()
    assert (mask.grad.abs() > 1e-4).float().mean() > 0.5


def test_learns_the_edge_that_matters():
    graphs = [toy_graph() for _ in range(36)]
    explainer = ReFine(epochs=30, batch_size=8, ratio=0.34)
    explainer.fit(Toy(), dataset(graphs), seed=0)
    explanation = explainer.explain(Toy(), toy_graph(), max_nodes=2)
    assert np.argmax(explanation.method_edge_scores) == 0
    assert explanation.motifs.nodes == (0, 1)


def test_refining_makes_the_target_likelier():
    model, data = GCN(4, 2, width=8), graph()
    explainer = quick()
    explainer.fit(model, dataset())
    scores = []
    for explainer.tuning_epochs, explainer.tuning_lr in ((0, 1e-4), (30, 1e-2)):
        explanation = explainer.explain(model, data)
        scores.append(torch.tensor(explanation.method_edge_scores, dtype=torch.float))
    target = explanation.target
    losses = []
    for mask in scores:
        keys = Keys(("x",), (), ())
        part, is_kept = best_subgraph(Batch.from_data_list([data]), mask, explainer.ratio, keys)
        set_masks(model, mask[is_kept], part.edge_index, apply_sigmoid=False)
        with torch.no_grad():
            losses.append(float(fidelity_loss(model(part.x, part.edge_index).softmax(dim=1)[:, target], mask[is_kept])))
        clear_masks(model)
    assert losses[1] < losses[0]


@pytest.mark.parametrize("name", list(models()))
def test_restores_and_counts(name):
    explainer, model = quick(), models()[name]
    explainer.fit(model, dataset_for(name))
    trained = explainer.explain(model, input_of(name)).target
    check_restores(explainer, model, input_of(name), fails_at=6)
    assert explainer.explain(model, input_of(name), target=trained).num_queries == 6 + 3


@pytest.mark.parametrize("name", list(models()))
def test_repeats(name):
    check_seeds_of_training(quick, name)


def test_learning_restores_the_model():
    check_training_restores(quick, fails_at=5)  # 3 to predict, then the second pass of the first step


def test_one_column_is_a_class_too():
    model, explainer = GCN(4, 1, width=8), quick()
    explainer.fit(model, dataset())
    explanation = explainer.explain(model, graph())
    assert explanation.target is None
    assert len(explanation.method_edge_scores) == 32


def test_refuses():
    model, explainer = GCN(4, 2, width=8), quick()
    with pytest.raises(UnsupportedError, match="call fit"):
        explainer.explain(model, graph())
    explainer.fit(model, dataset())
    check_refuses(pickle.loads(pickle.dumps(explainer)), model)  # noqa: S301
    with pytest.raises(UnsupportedError, match="call fit again"):
        explainer.explain(models()["edge features"], input_of("edge features"))

    class OneGraph(nn.Module):
        def __init__(self):
            super().__init__()
            self.network = GCN(4, 2, width=8)

        def forward(self, x, edge_index):
            return self.network(x, edge_index)

    with pytest.raises(UnsupportedError, match="batch="):
        explainer.fit(OneGraph(), dataset())


def test_a_class_that_no_graph_had():
    model = GCN(4, 2, width=8)
    with torch.no_grad():
        model.head.bias += torch.tensor([0.0, 100.0])
    explainer = quick()
    explainer.fit(model, dataset())
    with pytest.raises(UnsupportedError, match="no graph of class 0"):
        explainer.explain(model, graph(), target=0)
