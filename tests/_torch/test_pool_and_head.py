"""Models cut at their pool: what follows is the model's own code."""

import pytest
import torch
from torch import nn
from torch_geometric import nn as layers
from torch_geometric.nn import aggr

from mage._torch.graph_input import GraphInput
from mage._torch.masked_model import MaskedModel
from mage._torch.masking import MASKINGS
from mage._torch.pool_and_head import NoPoolError, PoolAndHead
from tests.helpers.layers import graph


class Pooled(nn.Module):
    def __init__(self, pool, width=8, knowledge=None):
        super().__init__()
        self.first, self.second, self.pool, self.knowledge = (
            *(layers.GCNConv(6, 8), layers.GCNConv(8, 8), pool, knowledge),
        )
        self.head = nn.Sequential(nn.Linear(width, 5), nn.ReLU(), nn.Linear(5, 3))

    def forward(self, x, edge_index, batch):
        once = self.first(x, edge_index).relu()
        twice = self.second(once, edge_index).relu()
        if self.knowledge == "joined":
            return self.head(self.pool(torch.cat([once, twice], dim=1), batch))
        if self.knowledge == "pooled apart":
            return self.head(torch.cat([self.pool(once, batch), self.pool(twice, batch)], dim=1))
        return self.head(self.pool(twice, batch))


class WholeGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Pooled(layers.global_add_pool)

    def forward(self, data):
        return self.inner(data.x, data.edge_index, data.batch) / data.num_graphs


MODELS = {
    "sum": lambda: Pooled(layers.global_add_pool),
    "mean": lambda: Pooled(layers.global_mean_pool),
    "max": lambda: Pooled(layers.global_max_pool),
    "jumping knowledge": lambda: Pooled(layers.global_mean_pool, 16, "joined"),
    "a pool per layer": lambda: Pooled(layers.global_add_pool, 16, "pooled apart"),
    "softmax": lambda: Pooled(aggr.SoftmaxAggregation(learn=True)),
    "power mean": lambda: Pooled(aggr.PowerMeanAggregation()),
    "attention": lambda: Pooled(aggr.AttentionalAggregation(nn.Linear(8, 1))),
    "Set2Set": lambda: Pooled(aggr.Set2Set(8, 3), 16),
    "sorted": lambda: Pooled(aggr.SortAggregation(3), 24),
    "median": lambda: Pooled(aggr.MedianAggregation()),
    "several": lambda: Pooled(aggr.MultiAggregation(["mean", "max", "std"]), 24),
    "multiset transformer": lambda: Pooled(aggr.GraphMultisetTransformer(8, 4, heads=2)),
    "whole graph": WholeGraph,
}


def runner_of(model, data):
    return MaskedModel(model.double().eval(), GraphInput.of(data), "split", "graph")


@pytest.mark.parametrize("name", MODELS)
def test_the_rest_of_a_model_gives_its_output(name):
    torch.manual_seed(0)
    data = graph(seed=1)
    del data.edge_attr
    runner = runner_of(MODELS[name](), data)
    whole = GraphInput.of(data)
    masks = torch.rand(20, data.num_nodes) < 0.6
    with runner.evaluating():
        pool_and_head = PoolAndHead(runner, whole)
        union, _ = MASKINGS["split"](whole, masks)
        embeddings, outputs = pool_and_head.embeddings(union, 20)
        expected = runner.forward(union, 20)
        torch.testing.assert_close(outputs, expected)
        assert embeddings.shape == (20 * data.num_nodes, pool_and_head.width)
        if name not in ("whole graph", "median"):  # which count the graphs of a batch, or sort nodes across graphs
            first_seven = union.batch < 7
            torch.testing.assert_close(
                pool_and_head.outputs(embeddings[first_seven], union.batch[first_seven], 7), expected[:7]
            )
        torch.testing.assert_close(pool_and_head.outputs(embeddings, union.batch, 20), expected)


class Meeting(nn.Module):
    def __init__(self, before):
        super().__init__()
        self.first, self.second, self.before = layers.GraphConv(6, 6), layers.GraphConv(6, 2), before

    def forward(self, x, edge_index, batch):
        if self.before == "edges":
            return layers.global_add_pool(self.first(x, edge_index)[:, :2], batch[edge_index[1]][batch])
        x = layers.global_add_pool(x, batch)[batch] if self.before == "features" else self.first(x, edge_index)
        x = x + layers.global_add_pool(x, batch)[batch]
        return layers.global_add_pool(self.second(x, edge_index), batch)


@pytest.mark.parametrize(
    ("before", "message"),
    [("layers", "messages are passed after"), ("features", "as they are"), ("edges", "edges meet")],
)
def test_models_without_a_tail_are_refused(before, message):
    data = graph(seed=1)
    runner = runner_of(Meeting(before), data)
    with runner.evaluating(), pytest.raises(NoPoolError, match=message):
        PoolAndHead(runner, GraphInput.of(data))


def test_a_model_that_does_not_pool_has_no_tail():
    class Ignores(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layers.GraphConv(6, 2)

        def forward(self, x, edge_index, batch):
            return self.layer(x, edge_index)[:, :1].sum() * torch.ones(int(batch.max()) + 1, 2, dtype=x.dtype)

    data = graph(seed=1)
    runner = runner_of(Ignores(), data)
    with runner.evaluating(), pytest.raises(NoPoolError, match="no embeddings"):
        PoolAndHead(runner, GraphInput.of(data))
