import pytest
import torch
from torch_geometric.data import Batch, Data

from mage.datasets import load
from mage.experiments import make_plan
from mage.experiments.engines.serialization import pack, unpack
from tests.helpers.experiments import SmallInputs, small_experiment


def numbers_of(data):
    return sum(value.numel() * value.element_size() for value in data.to_dict().values() if torch.is_tensor(value))


def test_a_graph_travels_as_itself():
    dataset = load("ba_house_grid", count=300)
    graph = dataset[7]
    content = pack(graph)
    # Names and shapes of a handful of tensors take a kilobyte or so; the other 299 graphs are not there.
    assert len(content) < numbers_of(graph) + 2048
    again = unpack(content)
    assert set(again.to_dict()) == set(graph.to_dict())
    for name, value in graph.to_dict().items():
        assert torch.equal(again[name], value) if torch.is_tensor(value) else again[name] == value


def test_slices_of_other_peoples_datasets_too():
    whole = Batch.from_data_list([Data(x=torch.randn(9, 3), edge_index=torch.randint(9, (2, 20))) for _ in range(200)])
    view = Data(x=whole.x[18:27], edge_index=whole.edge_index[:, 40:60])
    assert len(pack(view)) < numbers_of(view) + 2048
    again = unpack(pack(view))
    assert torch.equal(again.x, view.x)
    assert torch.equal(again.edge_index, view.edge_index)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(12.0).reshape(3, 4).T,
        torch.arange(20)[3:15:2],
        torch.ones(1).expand(4),
        torch.zeros(0, 3),
        torch.tensor(2.5),
        torch.ones(3, dtype=torch.bfloat16)[1:],
        torch.ones(2, dtype=torch.complex64).conj(),
        torch.eye(3).to_sparse(),
        torch.ones(2, requires_grad=True),
    ],
    ids=["turned", "strided", "expanded", "empty", "scalar", "bfloat16", "conjugate", "sparse", "gradient"],
)
def test_all_kinds_of_tensors_come_back(tensor):
    again = unpack(pack(tensor))
    assert again.dtype == tensor.dtype
    assert again.layout == tensor.layout
    assert again.requires_grad == tensor.requires_grad
    assert torch.equal(again.to_dense(), tensor.to_dense())
    with torch.no_grad():
        again.to_dense().clone().zero_()


def test_one_tensor_in_two_places_stays_one():
    tensor = torch.arange(5)
    first, second = unpack(pack([tensor, tensor]))
    assert first is second
    network = torch.nn.LSTM(4, 5)
    again = unpack(pack(network))
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(network.parameters(), again.parameters(), strict=True))


def test_what_workers_share_does_not_grow_with_the_graphs():
    def size(limit):
        plan = make_plan(small_experiment(), SmallInputs(), limit)
        payload, batches = plan.payload(plan.batches)
        jobs = [job for batch in batches for job in plan.procedure.jobs(batch)]
        assert max(len(pack(job)) for job in jobs) < 8192
        return len(pack(payload))

    size(2)  # PyG keeps something in the first network of its kind
    assert size(20) == size(2)


def test_the_graph_of_nodes_travels_once():
    plan = make_plan(small_experiment(columns=[("ba_shapes", "gcn")]), NodeInputs(), 3)
    payload, batches = plan.payload(plan.batches)
    jobs = [job for batch in batches for job in plan.procedure.jobs(batch)]
    assert len(jobs) == 6
    assert all(job.data is None for job in jobs)
    assert payload.shared.wholes[0].num_nodes == 700


class NodeInputs(SmallInputs):
    def dataset(self, name):
        return load("ba_shapes")

    def model(self, dataset, name):
        from mage.models import GCN

        torch.manual_seed(0)
        return GCN(10, 4, 8, readout="none").eval()
