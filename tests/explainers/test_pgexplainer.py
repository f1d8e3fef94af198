import pickle
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.explain.algorithm import PGExplainer as PyGAlgorithm

from mage.datasets import load
from mage.explainers.pgexplainer import PGExplainer, both_ways, log_odds_both_ways, unsaturated
from mage.explainers.protocol import UnsupportedError
from mage.models import GCN
from tests.helpers.baselines import (
    Spy,
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
    toy_graph,
)


@pytest.mark.parametrize("seed", [0, 1])
def test_learns_the_edge_that_matters(seed):
    explainer = PGExplainer(epochs=30, lr=0.01, edge_size=0.05)
    explainer.fit(Toy(), dataset([toy_graph() for _ in range(14)]), seed)  # 10 to train on: 300 steps
    explanation = explainer.explain(Toy(), toy_graph(), max_nodes=2)
    scores = explanation.method_edge_scores
    assert scores == pytest.approx([1, 1, 0, 0, 0, 0], abs=0.05)
    assert np.array_equal(scores[::2], scores[1::2])
    assert explanation.motifs.nodes == (0, 1)


@pytest.mark.parametrize(
    ("epochs", "epoch", "expected"), [(20, 0, 5), (20, 10, 2.2361), (20, 19, 1.0838), (10, 9, 1.1746)]
)
def test_temperatures(epochs, epoch, expected):
    algorithm = PGExplainer(epochs)._new_algorithm("multiclass_classification")
    assert algorithm._get_temperature(epoch) == pytest.approx(expected, abs=1e-4)


def test_samples(monkeypatch):
    monkeypatch.setattr(torch, "rand_like", lambda logits: torch.full_like(logits, 0.5))
    algorithm = PGExplainer()._new_algorithm("multiclass_classification")
    logits = torch.tensor([2.0, -1.0, 0.5])
    assert torch.allclose(algorithm._concrete_sample(logits, 2.5), logits / 2.5, atol=1e-5)


def test_loss():
    algorithm = PGExplainer()._new_algorithm("multiclass_classification")
    loss = algorithm._loss(torch.zeros(1, 2), torch.tensor([1]), torch.zeros(2))
    assert float(loss) == pytest.approx(0.69849, abs=1e-5)


def test_both_directions_share_their_mean():
    mask = torch.tensor([2.0, -2.0]).sigmoid()
    assert both_ways(mask, torch.tensor([[0, 1], [1, 0]])).tolist() == pytest.approx([0.5, 0.5])
    ends = torch.tensor([[0, 1, 2, 3], [1, 0, 0, 3]])  # a pair, an edge of one direction and a loop
    assert both_ways(torch.tensor([1.0, 0.0, 0.25, 0.75]), ends).tolist() == [0.5, 0.5, 0.25, 0.75]


def test_settings_stay_with_their_object():
    before = dict(PyGAlgorithm.coeffs)
    first = PGExplainer(edge_size=7.0)._new_algorithm("multiclass_classification")
    second = PGExplainer(edge_size=8.0)._new_algorithm("multiclass_classification")
    assert (first.coeffs["edge_size"], second.coeffs["edge_size"]) == (7.0, 8.0)
    assert before == PyGAlgorithm.coeffs


@pytest.mark.parametrize("name", list(models()))
def test_restores_and_counts(name):
    explainer, model = PGExplainer(epochs=1), models()[name]
    explainer.fit(model, dataset_for(name))
    check_restores(explainer, model, input_of(name), fails_at=5)
    assert explainer.explain(model, input_of(name)).num_queries == 6 + 1


@pytest.mark.parametrize("name", list(models()))
def test_repeats(name):
    check_seeds_of_training(partial(PGExplainer, epochs=2), name)


def test_learning_restores_the_model():
    check_training_restores(partial(PGExplainer, epochs=2), fails_at=12)  # 8 to predict, then the fourth step


def test_learns_from_a_sample_of_the_training_part():
    spy = Spy(GCN(4, 2, width=8))
    PGExplainer(epochs=3, max_graphs=5).fit(spy, dataset())
    assert spy.graphs == 5 + 3 * 5


def test_one_column_is_a_class_too():
    model, explainer = GCN(4, 1, width=8), PGExplainer(epochs=1)
    explainer.fit(model, dataset())
    assert explainer.explain(model, graph(), target=0).target == 0


def test_refuses():
    model, explainer = GCN(4, 2, width=8), PGExplainer(epochs=1)
    with pytest.raises(UnsupportedError, match="call fit"):
        explainer.explain(model, graph())
    explainer.fit(model, dataset())
    check_refuses(pickle.loads(pickle.dumps(explainer)), model)  # noqa: S301
    with pytest.raises(UnsupportedError, match="fit saw 8"):
        explainer.explain(GCN(4, 2, width=6), graph())
    with pytest.raises(UnsupportedError, match="MessagePassing"):
        explainer.fit(nn.Linear(4, 2), dataset())


def test_sure_masks_keep_their_order():
    ends = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    small = torch.tensor([0.5, -1.0, 2.0, 2.0, -3.0, 0.0])
    assert log_odds_both_ways(small, ends).sigmoid() == pytest.approx(both_ways(small.sigmoid(), ends).numpy())
    sure = torch.tensor([40.0, 40.0, 60.0, 60.0, 50.0, 50.0])
    assert len(both_ways(sure.sigmoid(), ends).unique()) == 1
    scores = unsaturated(log_odds_both_ways(sure, ends))
    assert scores.argsort(descending=True, stable=True).tolist() == [2, 3, 4, 5, 0, 1]
    assert ((scores > 0) & (scores < 1)).all()


def test_steps_after_each_graph_or_epoch(monkeypatch):
    graphs = load("ba_house_grid", count=30)
    model = GCN(1, 2, 4).eval()
    counts = {}
    for steps in ("graph", "epoch"):
        calls = []
        step = torch.optim.Adam.step
        monkeypatch.setattr(torch.optim.Adam, "step", lambda self, _c=calls, _s=step: (_c.append(1), _s(self))[1])
        explainer = PGExplainer(epochs=3, max_graphs=6, steps=steps)
        explainer.fit(model, graphs)
        monkeypatch.undo()
        counts[steps] = len(calls)
        assert explainer.explain(model, graphs[0], max_nodes=5).motifs.nodes
    assert counts == {"graph": 18, "epoch": 3}
    with pytest.raises(ValueError, match="steps"):
        PGExplainer(steps="never")
