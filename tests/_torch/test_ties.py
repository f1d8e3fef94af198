"""Choices between equal nodes are seen, and run alone."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import ASAPooling, SAGPooling, TopKPooling

from mage._torch.ties import selections, tied_graphs

EDGES = torch.tensor([[0, 1, 3, 4], [1, 2, 4, 5]])
BATCH = torch.tensor([0, 0, 0, 1, 1, 1])


def tied(x, ratio=0.5, min_score=None, dtype=torch.float32):
    torch.manual_seed(0)
    pool = TopKPooling(x.size(1), ratio, min_score).to(dtype)
    with tied_graphs(selections([pool])) as graphs, torch.no_grad():
        pool(x.to(dtype), EDGES, batch=BATCH)
    assert not pool.select._forward_pre_hooks
    return graphs


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_only_graphs_where_rounding_decides_are_named(dtype):
    apart = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    assert tied(apart, dtype=dtype) == set()
    equal = apart.clone()
    equal[3:] = 4.0
    assert tied(equal, dtype=dtype) == {1}
    # One unit in the last place apart: a batch of another size may turn them round.
    equal[4] = torch.nextafter(equal[4], torch.tensor(9.0))
    assert tied(equal, dtype=torch.float32) == {1}


def test_equal_nodes_that_all_stay_do_not_matter():
    assert tied(torch.ones(6, 1), ratio=3) == set()
    assert tied(torch.ones(6, 1), ratio=2) == {0, 1}
    assert tied(torch.ones(6, 1), min_score=0.1) == set()


def test_the_layers_that_choose_are_found():
    pools = nn.ModuleList([TopKPooling(2), SAGPooling(2), ASAPooling(2), nn.Linear(2, 2)])
    assert len(selections([pools])) == 3
    assert selections([nn.Linear(2, 2)]) == []


def test_errors_leave_no_hooks():
    pool = TopKPooling(1)
    with pytest.raises(RuntimeError), tied_graphs(selections([pool])):
        raise RuntimeError
    assert not pool.select._forward_pre_hooks
