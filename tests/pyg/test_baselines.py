import logging

import pytest
from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import fidelity

from mage.explainers import get
from mage.pyg import BaselineExplainer
from tests.helpers.pyg_models import EdgeFeatureNet, GraphNet, NodeNet, graph

CHEAP = {
    "gradcam": {},
    "gnnexplainer": {"epochs": 5},
    "subgraphx": {"rollouts": 3, "samples": 5},
    "same": {"rollouts": 3, "samples": 5},
    "edgeshaper": {"num_samples": 5},
    "mage": {"permutations": 10},
}


def wrapped(model, algorithm, level="graph", mode="multiclass_classification"):
    return Explainer(
        model,
        algorithm=algorithm,
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": mode, "task_level": level, "return_type": "raw"},
    )


@pytest.mark.parametrize("name", CHEAP)
def test_explainers_behind_pygs_front_door(name):
    data, model = graph(), GraphNet().eval()
    explain = wrapped(model, BaselineExplainer(get(name, **CHEAP[name]), max_nodes=4))
    explanation = explain(data.x, data.edge_index)
    assert 0 < int(explanation.node_mask.sum()) <= 4
    assert explanation.edge_mask.shape == (data.num_edges,)
    assert 0 <= float(explanation.edge_mask.min()) <= float(explanation.edge_mask.max()) <= 1
    explanation.validate(raise_on_error=True)
    assert explanation.get_explanation_subgraph().num_nodes <= data.num_nodes
    assert all(0 <= value <= 1 for value in fidelity(explain, explanation))


def test_soft_scores_become_a_soft_mask():
    data, model = graph(), GraphNet().eval()
    explanation = wrapped(model, BaselineExplainer("gradcam"))(data.x, data.edge_index)
    assert len(explanation.edge_mask.unique()) > 2
    assert float(explanation.edge_mask.max()) == pytest.approx(1.0)


def test_edge_features_are_passed_on():
    import torch

    data, model = graph(), EdgeFeatureNet().eval()
    explain = wrapped(model, BaselineExplainer(get("edgeshaper", num_samples=5)), mode="binary_classification")
    explanation = explain(data.x, data.edge_index, edge_attr=torch.rand(data.num_edges, 2))
    assert explanation.edge_mask.shape == (data.num_edges,)


def test_explainers_that_are_made_already():
    data, model = graph(), GraphNet().eval()
    algorithm = get("edgeshaper", num_samples=5)
    assert wrapped(model, BaselineExplainer(algorithm))(data.x, data.edge_index).node_mask is not None
    with pytest.raises(TypeError, match="unknown option 'num_samples'"):
        BaselineExplainer("edgeshaper", num_samples=3)
    with pytest.raises(ValueError, match="there is no explainer 'nonsense'"):
        BaselineExplainer("nonsense")


def test_other_levels_are_refused_with_a_reason(caplog):
    with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="does not support"):
        wrapped(NodeNet().eval(), BaselineExplainer("gradcam"), level="node")
    assert "use MAGEExplainer" in caplog.text
