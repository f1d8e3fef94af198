import functools
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv

from mage._core.fingerprint import _Contents, graph_fingerprint, model_fingerprint, update
from mage.explainers.graphs import fingerprint
from mage.explainers.request import ExplainRequest
from mage.games.request import GraphRequest
from tests.helpers.fingerprints import Apply, everything, scaled

SOURCE = """
FACTOR = {factor}
def helper(x):
    return {helper}
class Edited(nn.Module):
    kind = {kind}
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(2)
    def inner(self, x):
        return helper(x) * FACTOR
    def forward(self, x, edge_index, batch):
        return {forward}
"""
BEFORE = {"factor": 1, "helper": "x", "kind": "'a'", "forward": "self.inner(x).tanh()"}


class Holder(nn.Module):
    def __init__(self, name, value):
        super().__init__()
        setattr(self, name, value)


def edited(**changes):
    room = {"nn": nn, "torch": torch, "__name__": "user_model"}
    exec(SOURCE.format(**(BEFORE | changes)), room)  # noqa: S102
    return room["Edited"]()


def key(value):
    return fingerprint(nn.Identity(), Data(x=torch.zeros(2, 1)), {"forward": value})


@pytest.mark.parametrize(
    "changes",
    [
        {"forward": "self.inner(x).relu()"},
        {"forward": "2 * self.inner(x).tanh()"},
        {"forward": "(lambda y: y.tanh())(self.inner(x))"},
        {"helper": "x + 1"},
        {"factor": 3},
        {"kind": "'b'"},
    ],
)
def test_edited_classes_are_other_models(changes):
    assert model_fingerprint(edited()) == model_fingerprint(edited())
    assert model_fingerprint(edited(**changes)) != model_fingerprint(edited())


def long_tensor(last):
    values = torch.zeros(5000)
    values[2500] = last
    return values


@pytest.mark.parametrize("name", ["setting", "_setting"])
@pytest.mark.parametrize(
    "make",
    [
        float,
        str,
        long_tensor,
        lambda k: long_tensor(k).to(torch.bfloat16),
        lambda k: long_tensor(k).to_sparse(),
        lambda k: {"deep": [(k, torch.tensor(float(k)))]},
        lambda k: {"a", k},
        lambda k: np.array([k, None], dtype=object),
        lambda k: functools.partial(torch.add, alpha=k),
        lambda k: lambda x: k * x,
        lambda k: [lambda x: 3 * x, lambda x: 4 * x][k - 1],
        lambda k: lambda x, factor=k: factor * x,
        lambda k: lambda x, *, factor=k: factor * x,
        lambda k: [torch.tanh, torch.relu][k - 1],
        lambda k: ["ab".upper, "cd".upper][k - 1],
        lambda k: SimpleNamespace(k=k),
        Apply,
        lambda k: Apply(k).__call__,
        lambda k: [nn.LeakyReLU(k / 4)],
        lambda k: Data(x=long_tensor(k)),
    ],
)
def test_settings_of_all_kinds_count(make, name):
    first, again, other = (model_fingerprint(Holder(name, make(k))) for k in (1, 1, 2))
    assert first == again
    assert first != other


def test_buffers_that_are_not_saved_count():
    def network(value):
        module = nn.Identity()
        module.register_buffer("table", torch.tensor(value), persistent=False)
        return model_fingerprint(module)

    assert network(1.0) == network(1.0) != network(2.0)


def test_functions_given_as_options_are_told_apart():
    functions = [
        scaled(1),
        scaled(3),
        lambda model, data: model(data.x).tanh(),
        lambda model, data: model(data.x).relu(),
        lambda model, data, power=1: model(data.x) ** power,
        lambda model, data, power=2: model(data.x) ** power,
        lambda model, data: [row.tanh() for row in model(data.x)],
        lambda model, data: [row.relu() for row in model(data.x)],
    ]
    assert len({key(function) for function in functions}) == len(functions)
    assert key(scaled(3)) == key(scaled(3))


def test_a_pass_through_the_model_does_not_change_it():
    x, edge_index = torch.rand(3, 2), torch.tensor([[0, 1], [1, 2]])
    for layer in (GCNConv(2, 2, cached=True), GATConv(2, 2)):
        before = model_fingerprint(layer)
        layer(x, edge_index)
        assert model_fingerprint(layer) == before


class Odd:
    @property
    def detach(self):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


def test_odd_objects_do_not_fail():
    circle = []
    circle.append({"again": circle})
    deep = []
    for _ in range(100_000):
        deep = [deep]
    itself = nn.Identity()
    itself.owner = (itself,)
    for value in (circle, deep, Odd(), itself, sys, object(), (n for n in range(3)), torch.Generator(), os.environ):
        assert key(value) == key(value)
        assert model_fingerprint(Holder("value", value)) == model_fingerprint(Holder("value", value))


def test_arrays_are_hashed_as_before():
    import hashlib

    digest, expected = hashlib.sha256(), hashlib.sha256()
    update(digest, torch.arange(3))
    expected.update(b"int64(3,)" + np.arange(3).tobytes())
    assert digest.hexdigest() == expected.hexdigest()
    assert graph_fingerprint(Data(x=torch.ones(2))) != graph_fingerprint(Data(x=torch.zeros(2)))


@pytest.mark.long
def test_the_same_in_every_process():
    command = "from tests.helpers.fingerprints import everything; print(everything())"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        printed = subprocess.run(
            [sys.executable, "-c", command], capture_output=True, text=True, check=True, env=environment
        )
        assert printed.stdout.strip() == everything()


def test_the_library_itself_is_not_looked_into():
    """Its code leads to all of it, and a corpus has a request for each graph."""
    contents = _Contents()
    request = ExplainRequest.of(GraphRequest, None, max_nodes=5)
    assert contents.hash(request) == _Contents().hash(ExplainRequest.of(GraphRequest, None, max_nodes=5))
    assert contents.hash(request) != _Contents().hash(ExplainRequest.of(GraphRequest, None, max_nodes=6))
    assert len(contents._known) < 100
