"""Values that people pass by mistake, and a small model and graph to pass them with."""

import itertools
import math
import re
import traceback
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GraphConv, global_mean_pool

import mage

HERE = str(Path(mage.__file__).parent)
PATH = [(0, 1), (1, 2), (2, 3), (3, 4)]
ODD = {
    "nan": math.nan,
    "infinity": math.inf,
    "minus one": -1,
    "zero": 0,
    "one and a half": 1.5,
    "text of a number": "2",
    "empty text": "",
    "text": "nope",
    "bytes": b"x",
    "true": True,
    "empty list": [],
    "list": [0],
    "list of lists": [[0, 1], [2]],
    "list of None": [None, None],
    "dictionary": {"a": 1},
    "set": {1},
    "a billion": 10**9,
    "a googol": 10**100,
    "complex": 1j,
    "object": object(),
    "class": dict,
    "array": np.array([0.5, math.nan]),
    "tensor": torch.tensor([1, 2, 3]),
    "number in a tensor": torch.tensor(1),
    "number in an array": np.array(3),
    "sparse tensor": torch.eye(5).to_sparse(),
    "tensor without values": torch.ones(5, device="meta"),
    "small integer": np.int8(1),
    "half of a character": "\ud800",
    "zero byte": "a\0b",
    "more numbers than memory": range(10**9),
    "numbers without end": itertools.count(),
    "graph with types": HeteroData(),
}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.head = GraphConv(3, 4), nn.Linear(4, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_mean_pool(self.layer(x, edge_index).tanh(), batch))


def graph(**changes):
    edges = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])
    generator = torch.Generator().manual_seed(0)
    plain = {"x": torch.rand(5, 3, generator=generator), "edge_index": torch.cat([edges, edges.flip(0)], dim=1)}
    return Data(**plain | changes)


VALUES = ODD | {
    "None": None,
    "half": 0.5,
    "range": range(3),
    "function": lambda *_: 1,
    "texts": ["a", "b"],
    "whole numbers": np.arange(4),
    "decisions": np.array([True, False, True, False]),
    "cube": np.zeros((2, 2, 2)),
    "nothing of nothing": [[]],
    "graph": graph(),
}


def check_outcome(call, *names):
    """What a call returns; an error must name an argument, and must be raised by mage itself."""
    try:
        return call()
    except (ValueError, TypeError, KeyError) as caught:
        error = caught
    assert any(re.search(rf"\b{name}\b", str(error)) for name in names), f"{error} names none of {names}"
    assert traceback.extract_tb(error.__traceback__)[-1].filename.startswith(HERE)
    return None
