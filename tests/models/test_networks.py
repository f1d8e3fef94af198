import pytest
import torch

from mage.datasets import info
from mage.models import GAT, GCN, GIN, make_network

NODES, FEATURES, CLASSES = 7, 4, 3


@pytest.fixture
def graph():
    torch.manual_seed(3)
    edges = torch.tensor([(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)])
    return torch.randn(NODES, FEATURES), torch.cat([edges, edges.flip(1)]).T


def dense(edge_index):
    matrix = torch.zeros(NODES, NODES)
    matrix[edge_index[1], edge_index[0]] = 1
    return matrix


@pytest.mark.parametrize("normalize", [True, False])
def test_gcn_by_its_formula(graph, normalize):
    x, edge_index = graph
    model = GCN(FEATURES, CLASSES, width=6, normalize=normalize).eval()
    matrix = dense(edge_index) + torch.eye(NODES)
    if normalize:
        scale = matrix.sum(dim=1).rsqrt()
        matrix = scale[:, None] * matrix * scale
    h = x
    for layer in model.convolutions:
        h = (matrix @ h @ layer.lin.weight.T + layer.bias).relu()
    expected = model.head(h.mean(dim=0))
    assert torch.allclose(model(x, edge_index)[0], expected, atol=1e-5)


def test_gin_by_its_formula(graph):
    x, edge_index = graph
    model = GIN(FEATURES, CLASSES, width=6, readout="max")
    with torch.no_grad():
        for layer in model.convolutions:
            layer.eps.fill_(0.3)
    model.eval()
    h = x
    for layer in model.convolutions:
        h = layer.nn(1.3 * h + dense(edge_index) @ h)
    expected = model.head(h.amax(dim=0))
    assert torch.allclose(model(x, edge_index)[0], expected, atol=1e-5)


def test_gat_attends_to_neighbours_and_itself(graph):
    x, edge_index = graph
    model = GAT(FEATURES, CLASSES, heads=2, head_width=3, num_layers=1).eval()
    layer = model.convolutions[0]
    h = layer.lin(x).view(NODES, 2, 3)
    source, target = (h * layer.att_src).sum(-1), (h * layer.att_dst).sum(-1)
    scores = torch.nn.functional.leaky_relu(source[None] + target[:, None], 0.2)
    allowed = (dense(edge_index) + torch.eye(NODES)) > 0
    weights = scores.masked_fill(~allowed[..., None], -torch.inf).softmax(dim=1)
    h = torch.einsum("ijh,jhc->ihc", weights, h).reshape(NODES, 6) + layer.bias
    expected = model.head(h.relu().mean(dim=0))
    assert torch.allclose(model(x, edge_index)[0], expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["gcn", "gin", "gat"])
def test_graphs_of_a_batch_do_not_hear_each_other(graph, kind):
    x, edge_index = graph
    model = make_network(info("mutagenic").networks.architecture(kind, FEATURES, CLASSES)).eval()
    edges = torch.cat([edge_index, edge_index + NODES], dim=1)
    batch = torch.arange(2).repeat_interleave(NODES)
    logits = model(torch.cat([x, 2 * x]), edges, batch)
    assert torch.allclose(logits[0], model(x, edge_index)[0], atol=1e-5)
    assert torch.allclose(logits[1], model(2 * x, edge_index)[0], atol=1e-5)


@pytest.mark.parametrize("kind", ["gcn", "gin", "gat"])
@pytest.mark.parametrize("dataset", ["ba_2motifs", "spmotif", "benzene", "twitter", "ba_shapes"])
def test_architectures_make_themselves_again(kind, dataset):
    settings = info(dataset).networks.architecture(kind, FEATURES, CLASSES)
    network = make_network(settings)
    assert settings.items() <= network.architecture.items()
    again = make_network(network.architecture)
    assert again.architecture == network.architecture
    assert [p.shape for p in again.parameters()] == [p.shape for p in network.parameters()]


@pytest.mark.parametrize(
    ("dataset", "kind", "expected"),
    [
        ("ba_house_grid", "gcn", {"width": 20, "normalize": False, "readout": "mean"}),
        ("spmotif", "gcn", {"width": 128, "normalize": False}),
        ("benzene", "gcn", {"width": 128, "normalize": True}),
        ("spmotif", "gin", {"width": 20}),
        ("benzene", "gin", {"width": 32, "readout": "mean"}),
        ("mutagenic", "gin", {"width": 128, "readout": "max"}),
        ("mutagenic", "gcn", {"readout": "mean"}),
        ("graph_sst2", "gat", {"heads": 10, "head_width": 10, "readout": "max"}),
    ],
)
def test_sizes_are_the_papers(dataset, kind, expected):
    assert expected.items() <= info(dataset).networks.architecture(kind, FEATURES, CLASSES).items()


def test_without_a_readout_nodes_have_logits(graph):
    model = make_network(info("ba_shapes").networks.architecture("gcn", FEATURES, CLASSES))
    assert model(*graph).shape == (NODES, CLASSES)


def test_unknown_kinds_and_readouts_are_refused():
    with pytest.raises(ValueError, match="kind must be one of gcn, gin, gat; got 'mlp'"):
        make_network({"kind": "mlp"})
    with pytest.raises(ValueError, match="model: 'mlp' is none of"):
        info("benzene").networks.architecture("mlp", 1, 2)
    with pytest.raises(ValueError, match="readout: 'median' is none of mean, max, sum, none"):
        GCN(FEATURES, CLASSES, readout="median")
