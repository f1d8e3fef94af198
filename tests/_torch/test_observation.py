"""How far messages travel, and what a model's last step is, from one run."""

import pytest
import torch
from torch import nn
from torch_geometric import nn as layers

from mage._torch.observation import observing

X, EDGES = torch.randn(4, 5), torch.tensor([[0, 1, 2], [1, 2, 3]])


class Stack(nn.Module):
    """Two layers one after the other."""

    def __init__(self, make):
        super().__init__()
        self.first, self.norm, self.second = make(), nn.BatchNorm1d(5), make()

    def forward(self, x, edge_index):
        return self.second(self.norm(self.first(x, edge_index)).relu(), edge_index)


class Branches(nn.Module):
    """A short branch and a long one, side by side."""

    def __init__(self):
        super().__init__()
        self.long, self.short, self.norm = Stack(convolution), convolution(), nn.BatchNorm1d(5)

    def forward(self, x, edge_index):
        return self.long(x, edge_index) + self.norm(self.short(x, edge_index))


def convolution():
    return layers.GraphConv(5, 5)


@pytest.mark.parametrize(
    ("model", "hops"),
    [
        (Stack(convolution), 2),
        (Stack(lambda: layers.DirGNNConv(convolution())), 2),
        (Branches(), 2),
        (layers.TAGConv(5, 5, K=3), 3),
        (nn.Identity(), 0),
    ],
)
def test_layers_side_by_side_count_once(model, hops):
    with observing([model]) as run, torch.no_grad():
        model(X, EDGES) if hops else model(X)
    assert run.hops == hops


@pytest.mark.parametrize(
    ("last", "name"),
    [
        (lambda out: out.softmax(dim=1), "softmax"),
        (lambda out: torch.sigmoid(out).squeeze(), "sigmoid"),
        (lambda out: nn.functional.log_softmax(out, dim=1)[:, :2], "log_softmax"),
        (lambda out: out.sigmoid() + 1, "add"),
    ],
)
def test_the_last_step_is_seen_through_changes_of_shape(last, name):
    with observing([]) as run:
        out = last(X * 2)
    assert run.last_step(out) == name
