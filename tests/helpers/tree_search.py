"""Models, graphs and rewards that the tree searches share."""

import pickle

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, global_mean_pool

import mage
from mage.explainers._tree_search import LocalShapley
from mage.models import GIN


def reward(game, nodes, hops=3, samples=None, seed=0):
    return float(LocalShapley(game, hops, samples, seed)(game.graph.masks([nodes]))[0])


def connected_graph(generator, size):
    tree = [(int(generator.integers(i)), i) for i in range(1, size)]
    return mage.PlayerGraph(size, tree + [tuple(generator.integers(size, size=2).tolist()) for _ in range(2)])


def graph(nodes=12, seed=0):
    generator = np.random.default_rng(seed)
    edges = torch.from_numpy(connected_graph(generator, nodes).edges.copy()).T
    directed = torch.cat([edges, edges.flip(0)], dim=1)
    x = torch.from_numpy(generator.normal(size=(nodes, 4))).float()
    return Data(x=x, edge_index=directed, edge_attr=torch.linspace(-1, 1, directed.size(1))[:, None])


class EdgeNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GINEConv(torch.nn.Linear(4, 8), edge_dim=1)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x, edge_index, edge_attr, batch):
        return self.head(global_mean_pool(self.conv(x, edge_index, edge_attr).relu(), batch))


def network(kind):
    torch.manual_seed(0)
    return (kind() if kind is EdgeNet else kind(4, 2, 8)).eval()


class Spy(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.graphs = model, 0

    def forward(self, x, edge_index, batch):
        self.graphs += int(batch.max()) + 1
        return self.model(x, edge_index, batch)


def check_query_count(explainer, masking):
    """The number of queries is that of the graphs which the model saw."""
    spy = Spy(network(GIN))
    assert explainer.explain(spy, graph(), max_nodes=4, masking=masking).num_queries == spy.graphs


def check_seeds(explainer, result_of):
    """One seed gives one result, also after pickling; another seed gives another."""
    twin = pickle.loads(pickle.dumps(explainer))  # noqa: S301 (made here)
    cases = ((explainer, 7), (twin, 7), (explainer, 8))
    first, second, other = (
        result_of(case.explain(network(GIN), graph(), max_nodes=4, seed=seed)) for case, seed in cases
    )
    assert first == second
    assert first != other
