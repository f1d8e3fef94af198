"""What networks remember of a call is forgotten after it."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import Linear

import mage
from mage._torch.module_caches import restoring_caches
from tests.helpers.zoo_graphs import graph
from tests.helpers.zoo_habits import OwnCache


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.last, self.by_size, self.history, self.is_full = 0, None, {1: "one"}, ["first"], False
        self.register_buffer("matrix", None)
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        self.calls += 1
        self.last = self.extra = x
        self.by_size[len(x)] = x
        self.history.append(x)
        self.history[0] = x
        self.is_full = True
        self.matrix = x @ x.T
        return self.layer(x)


class FirstCall(nn.Module):
    """Makes its layers when it sees features."""

    def __init__(self):
        super().__init__()
        self.ready, self.layers = False, nn.ModuleList()

    def forward(self, x):
        if not self.ready:
            self.layers.append(nn.Linear(x.size(1), 1))
            self.ready = True
        return self.layers[0](x)


def test_a_call_leaves_no_trace():
    model = Remembers()
    containers = model.by_size, model.history
    with restoring_caches([model]):
        model(torch.ones(3, 2))
        assert model.calls == 1
    assert (model.last, model.matrix, model.is_full) == (None, None, False)
    assert not hasattr(model, "extra")
    assert containers == ({1: "one"}, ["first"])
    assert model.by_size is containers[0]
    assert model.history is containers[1]
    assert model.calls == 1  # who counts calls wants to know


def test_what_there_was_before_stays():
    model = Remembers()
    model(torch.ones(3, 2))
    last, matrix = model.last, model.matrix
    with restoring_caches([model]):
        model(torch.zeros(5, 2))
    assert model.calls == 2
    assert model.last is last
    assert model.matrix is matrix
    assert set(model.by_size) == {1, 3}


def test_layers_that_are_made_in_the_first_call_stay():
    model = FirstCall()
    with restoring_caches([model]):
        before = model(torch.ones(3, 2))
    assert model.ready
    torch.testing.assert_close(model(torch.ones(3, 2)), before)
    lazy = nn.Sequential(Linear(-1, 3))
    with restoring_caches([lazy]):
        lazy(torch.ones(4, 2))
    assert lazy[0].in_channels == 2


def test_an_error_leaves_no_trace_either():
    model = Remembers()
    with pytest.raises(RuntimeError), restoring_caches([model]):
        model(torch.ones(3, 5))
    assert model.last is None


def test_the_model_is_as_before_an_explanation():
    model, data = OwnCache().double(), graph()
    mage.explain(model, data, order=2)
    assert model.kept is None
