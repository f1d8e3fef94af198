"""What of a graph belongs to its nodes, to its edges, or to itself."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_add_pool
from torch_geometric.transforms import ToSparseTensor
from torch_geometric.utils import subgraph

from mage._torch.graph_input import GraphInput
from mage.games import ModelGame

PAIR = torch.tensor([[0], [1]])
NO_EDGES = torch.zeros(2, 0, dtype=torch.long)


class WithContext(nn.Module):
    """Looks at nodes, edges and something about the whole graph."""

    def __init__(self):
        super().__init__()
        self.conv, self.head = GCNConv(3, 4), nn.Linear(6, 2)

    def forward(self, x, edge_index, edge_weight, u, batch):
        pooled = global_add_pool(self.conv(x, edge_index, edge_weight).relu(), batch)
        return self.head(torch.cat([pooled, u], dim=1))


def one_by_one(model, data, present, masking):
    """The first logit of one masked graph, made with PyG."""
    x, edge_index, weight = data.x, data.edge_index, data.edge_weight
    if masking in ("remove", "split"):
        removes = masking == "remove"
        edge_index, weight = subgraph(present, edge_index, weight, relabel_nodes=removes, num_nodes=data.num_nodes)
        x = x[present] if removes else x
    else:
        x = torch.where(present[:, None], x, 0.0 if masking == "zero" else x.mean(dim=0))
    with torch.no_grad():
        batch = torch.zeros(len(x), dtype=torch.long)
        pooled = global_add_pool(model.conv(x, edge_index, weight).relu(), batch, size=1)
        return float(model.head(torch.cat([pooled, data.u], dim=1))[0, 0])


@pytest.mark.parametrize("masking", ["remove", "split", "zero", "mean"])
@pytest.mark.parametrize(("nodes", "edges"), [(1, NO_EDGES), (1, torch.zeros(2, 1, dtype=torch.long)), (2, PAIR)])
def test_what_belongs_to_the_whole_of_a_tiny_graph(nodes, edges, masking):
    torch.manual_seed(0)
    model = WithContext().eval()
    data = Data(x=torch.randn(nodes, 3), edge_index=edges, edge_weight=torch.rand(edges.size(1)), u=torch.randn(1, 2))
    game = ModelGame(model, data, masking=masking, target=0, output="logit")
    for mask in itertools.product([False, True], repeat=nodes):
        expected = one_by_one(model, data, torch.tensor(mask), masking)
        assert game.worth(np.array([mask]))[0] + game.baseline == pytest.approx(expected, abs=1e-5)


def test_names_decide_where_one_row_could_be_anything():
    one_row = {key: torch.zeros(1, 2) for key in ("x", "pos", "node_type", "atom", "u", "edge_attr", "context")}
    one_row |= {"z": torch.zeros(1), "train_mask": torch.zeros(1, dtype=torch.bool)}
    alone = GraphInput.of(Data(edge_index=torch.zeros(2, 1, dtype=torch.long), num_nodes=1, **one_row))
    assert set(alone.node) == {"x", "pos", "node_type", "atom", "z", "train_mask"}
    assert set(alone.edge) == {"edge_attr"}
    assert set(alone.graph) == {"u", "context"}
    two = GraphInput.of(Data(x=torch.zeros(2, 1), anything=torch.zeros(2), edge_index=PAIR, u=torch.zeros(1, 2)))
    assert (set(two.node), set(two.graph)) == ({"x", "anything"}, {"u"})
    none = GraphInput.of(Data(x=torch.zeros(2, 1), edge_index=NO_EDGES, kind=torch.zeros(0, 3)))
    assert set(none.edge) == {"kind"}


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.uint8, torch.uint64, torch.int16, torch.bool])
def test_edges_are_whole_numbers(kind):
    with pytest.raises(ValueError, match=rf"edge_index must hold int64 numbers, got {kind}; convert it with .long\(\)"):
        GraphInput.of(Data(x=torch.zeros(2, 1), edge_index=PAIR.to(kind)))
    assert GraphInput.of(Data(x=torch.zeros(2, 1), edge_index=PAIR.int())).edge_index.tolist() == PAIR.tolist()


def test_edges_are_made_of_a_transposed_adjacency():
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    data = ToSparseTensor(layout=torch.sparse_csr)(Data(x=torch.zeros(3, 1), edge_index=edges))
    graph = GraphInput.of(data)
    assert {tuple(edge) for edge in graph.edge_index.T.tolist()} == {(0, 1), (1, 2), (2, 0)}
    assert (graph.from_matrix, list(graph.structures)) == ("adj_t", ["adj_t"])
