"""Input of model games that is refused, and how."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import (
    GCNConv,
    global_add_pool,
)

from mage import ValueFunctionError
from mage.games import ModelGame
from tests.helpers.model_game import FEATURES, NodeModel, Plain, make_data


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        (lambda d: None, {"target": 3}, ValueError, r"class 0 … 2"),
        (lambda d: None, {"target": -1}, ValueError, "target"),
        (lambda d: None, {"output": "odds"}, ValueError, "logit, probability"),
        (lambda d: None, {"task": "ranking"}, ValueError, "task"),
        (lambda d: None, {"task": "regression"}, ValueError, "3 columns"),
        (lambda d: None, {"return_type": "odds"}, ValueError, "return_type"),
        (lambda d: None, {"masking": "blur"}, ValueError, "remove, split, zero, mean"),
        (lambda d: None, {"node": 3}, ValueError, "node= needs one row per node"),
        (lambda d: None, {"node": 99}, ValueError, "node 99 does not exist"),
        (lambda d: None, {"edge": (0,)}, ValueError, "pair"),
        (lambda d: None, {"node": 1, "edge": (0, 1)}, ValueError, "one of the two"),
        (lambda d: None, {"groups": [[0, 1]]}, ValueError, "in no group"),
        (lambda d: None, {"groups": [list(range(11)), [0]]}, ValueError, "must not overlap"),
        (lambda d: None, {"groups": [0, 1]}, ValueError, "label all 11 nodes"),
        (lambda d: d.__delitem__("x"), {}, ValueError, "forward needs x"),
        (lambda d: setattr(d, "x", d.atom), {"masking": "zero"}, ValueError, "data.x is torch.int64"),
        (lambda d: d.__delitem__("edge_index"), {}, ValueError, "edge_index is missing"),
        (lambda d: setattr(d, "edge_index", torch.tensor([[0], [99]])), {}, ValueError, "outside"),
    ],
)
def test_bad_input_is_named_first(change, options, error, message):
    data = make_data()
    change(data)
    with pytest.raises(error, match=message):
        ModelGame(
            Plain(GCNConv),
            data,
            **{"output": "logit", "masking": "remove", **options},
        )


def test_graphs_that_are_none():
    model = Plain(GCNConv)
    with pytest.raises(ValueError, match="no nodes"):
        ModelGame(model, HeteroData(), output="logit", masking="remove")
    with pytest.raises(ValueError, match="no nodes"):
        ModelGame(
            model,
            Data(x=torch.zeros(0, FEATURES), edge_index=torch.zeros(2, 0, dtype=torch.long)),
            output="logit",
            masking="remove",
        )
    with pytest.raises(ValueError, match="2 graphs or more"):
        ModelGame(model, Batch.from_data_list([make_data(), make_data()]), output="logit", masking="remove")
    with pytest.raises(ValueError, match="different devices"):
        ModelGame(model, make_data().to("meta"), output="logit", masking="remove")


def test_models_that_answer_nonsense():
    data = make_data()
    with pytest.raises(ValueError, match="one row per node; pass node="):
        ModelGame(NodeModel(), data, output="logit", masking="remove")
    with pytest.raises(TypeError, match="must return a tensor"):
        ModelGame(lambda x, edge_index, batch: "yes", data, output="logit", masking="remove")
    with pytest.raises(ValueError, match="shape"):
        ModelGame(lambda x, edge_index, batch: x[None, None], data, output="logit", masking="remove")
    nan = ModelGame(
        lambda x, edge_index, batch: global_add_pool(x, batch) / 0 * 0, data, target=0, output="logit", masking="remove"
    )
    with pytest.raises(ValueFunctionError, match="returned nan for"):
        nan.worth([{0}])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_features_that_are_no_numbers_are_named(number):
    data = make_data()
    data.x[1, 0] = number
    sums = lambda x, edge_index, batch: global_add_pool(x, batch)  # noqa: E731
    with pytest.raises(ValueError, match=r"data: x holds NaN or infinity.*nan_to_num"):
        ModelGame(sums, data, target=0, output="logit", masking="remove")
    # Some models know what to do with them.
    mended = ModelGame(
        lambda x, edge_index, batch: global_add_pool(x.nan_to_num(0, 0), batch),
        data,
        target=0,
        output="logit",
        masking="remove",
    )
    assert np.isfinite(mended.worth([{0, 1}])).all()


def test_far_sighted_models_are_not_cut_silently():
    class WithGlobalMean(NodeModel):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index) + x.mean()

    edges = torch.tensor(list(nx.path_graph(30).edges())).T
    data = Data(x=torch.randn(30, FEATURES), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    with pytest.raises(ValueError, match="looks further"):
        ModelGame(WithGlobalMean().eval(), data, node=15, output="logit", masking="remove")
    assert (
        ModelGame(WithGlobalMean().eval(), data, node=15, num_hops=2, output="logit", masking="remove").num_players == 5
    )
    with pytest.raises(ValueError, match="num_hops"):
        ModelGame(lambda x, edge_index: x + x.mean(), data, node=15, output="logit", masking="remove")
    assert ModelGame(lambda x, edge_index: x, data, node=15, output="logit", masking="remove").num_players == 1
