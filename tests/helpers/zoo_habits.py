"""Habits of people who write models: caches of their own, numbers of nodes, encodings inside ``forward``."""

import torch
from torch import nn
from torch.nn import functional
from torch_geometric import nn as layers
from torch_geometric.data import Batch
from torch_geometric.nn import MessagePassing, global_add_pool
from torch_geometric.utils import degree, remove_isolated_nodes, scatter, to_dense_adj, to_dense_batch

from tests.helpers.zoo_graphs import NODES, WIDTH, few_kinds, graph, part_of, plain
from tests.helpers.zoo_models import Convolution, NodeOnly

NODE = {"node": 3, "target": 0, "output": "logit"}
ONE_BY_ONE = "one by one"


class EdgeStates(MessagePassing):
    """Edges have states of their own."""

    def __init__(self):
        super().__init__(aggr="add")
        self.edges, self.nodes = nn.Linear(2 * WIDTH + 2, WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, edge_index, state):
        state = self.edge_updater(edge_index, x=x, state=state)
        received = self.propagate(edge_index, state=state, size=(len(x), len(x)))
        return self.nodes(torch.cat([x, received], dim=1)).tanh(), state

    def edge_update(self, x_i, x_j, state):
        return self.edges(torch.cat([x_i, x_j, state], dim=1)).tanh()

    def message(self, state):
        return state


class EdgeUpdates(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = EdgeStates(), nn.Linear(2 * WIDTH, 2)

    def forward(self, x, edge_index, edge_attr, batch):
        x, edges = self.layer(x, edge_index, edge_attr)
        nodes = global_add_pool(x, batch)
        return self.head(torch.cat([nodes, scatter(edges, batch[edge_index[0]], 0, dim_size=len(nodes))], dim=1))


class Walks(Convolution):
    """Random walk encodings, made inside."""

    def encoded(self, x, edge_index):
        steps = x.new_zeros(len(x), len(x))
        steps[edge_index[0], edge_index[1]] = 1
        steps = steps / steps.sum(dim=1, keepdim=True).clamp(min=1)
        powers = [steps]
        for _ in range(WIDTH):
            powers.append(powers[-1] @ steps)
        return x + torch.stack([power.diag() for power in powers[1:]], dim=1)

    def forward(self, x, edge_index, batch):
        return super().forward(self.encoded(x, edge_index), edge_index, batch)


class NodeWalks(Walks):
    def forward(self, x, edge_index):
        return self.head(self.first(self.encoded(x, edge_index), edge_index))


class Spectrum(Convolution):
    def forward(self, x, edge_index, batch):
        rows = []
        matrices = to_dense_adj(edge_index, batch, batch_size=int(batch.max()) + 1).to(x)
        for padded, size in zip(matrices, degree(batch).int().tolist(), strict=True):
            matrix = padded[:size, :size]
            values = torch.linalg.eigvalsh(torch.diag(matrix.sum(dim=1)) - matrix)
            rows.append(functional.pad(values, (WIDTH, 0))[-WIDTH:].expand(size, -1))
        return super().forward(x + torch.cat(rows), edge_index, batch)


class Triangles(Convolution):
    """More than messages can tell."""

    def forward(self, x, edge_index, batch):
        ones = x.new_zeros(len(x), len(x))
        ones[edge_index[0], edge_index[1]] = 1
        return self.head(global_add_pool(x * (ones @ ones @ ones).diag()[:, None], batch))


class SparseProduct(NodeOnly):
    """Three hops that are no message-passing layers."""

    def forward(self, x, edge_index):
        ones = torch.ones(edge_index.size(1), dtype=x.dtype)
        matrix = torch.sparse_coo_tensor(edge_index.flip(0), ones, (len(x), len(x)))
        for _ in range(3):
            x = torch.sparse.mm(matrix, x) * 0.3
        return self.head(x)


class SometimesGlobal(NodeOnly):
    """Looks at everybody where there are few edges."""

    def forward(self, x, edge_index):
        out = self.embed(x, edge_index)
        return self.head(out + x.sum(dim=0) if edge_index.size(1) < 6 else out)


class OwnCache(Convolution):
    """Keeps the first edges that it sees."""

    kept = None

    def forward(self, x, edge_index, batch):
        if self.kept is None:
            self.kept = edge_index
        return super().forward(x, self.kept, batch)


class OwnNodeCache(OwnCache):
    def forward(self, x, edge_index):
        if self.kept is None:
            self.kept = edge_index
        return self.head(self.embed(x, self.kept))


class CacheBySize(Convolution):
    """Takes graphs of the same size for the same graph."""

    def __init__(self):
        super().__init__()
        self.kept = {}

    def forward(self, x, edge_index, batch):
        degrees = self.kept.setdefault(len(x), degree(edge_index[0], len(x)).to(x))
        return super().forward(x * degrees[:, None], edge_index, batch)


class ChangesInput(Convolution):
    def forward(self, x, edge_index, batch):
        x.mul_(2.0).relu_()
        return super().forward(x, edge_index, batch)


class Gradient(Convolution):
    """Forces: the gradient of an energy, inside ``forward``."""

    def forward(self, x, edge_index, batch):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            energy = super().forward(x, edge_index, batch)
            (force,) = torch.autograd.grad(energy.sum(), x)
        return energy.detach() + global_add_pool(force, batch).sum(dim=1, keepdim=True)


class SeededNoise(Convolution):
    def forward(self, x, edge_index, batch):
        torch.manual_seed(0)
        return super().forward(x + torch.randn_like(x), edge_index, batch)


class BatchStatistics(Convolution):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(WIDTH, track_running_stats=False)

    def forward(self, x, edge_index, batch):
        return super().forward(self.norm(x) if len(x) > 1 else x, edge_index, batch)


class Nearest(Convolution):
    """Joins each node with the one of its graph whose features are nearest."""

    def forward(self, x, edge_index, batch):
        distance = torch.cdist(x, x).masked_fill(batch[:, None] != batch[None], 1e6).fill_diagonal_(1e6)
        least, nearest = distance.min(dim=1)
        more = torch.stack([nearest, torch.arange(len(x))])[:, least < 1e5]
        return super().forward(x, torch.cat([edge_index, more], dim=1), batch)


class WithoutIsolated(Convolution):
    def forward(self, x, edge_index, batch):
        edges, _, linked = remove_isolated_nodes(edge_index, num_nodes=len(x))
        return self.head(global_add_pool(self.embed(x[linked], edges), batch[linked], int(batch.max()) + 1))


class UniqueEdges(Convolution):
    def forward(self, x, edge_index, batch):
        return super().forward(x, torch.unique(torch.cat([edge_index, edge_index.flip(0)], dim=1), dim=1), batch)


class Unmasked(Convolution):
    """Its mean counts the padding."""

    def forward(self, x, edge_index, batch):
        return self.head(to_dense_batch(self.embed(x, edge_index), batch)[0].mean(dim=1))


class LabelsAsFeatures(Convolution):
    def __init__(self):
        super().__init__()
        self.labels = nn.Embedding(3, WIDTH)

    def forward(self, data):
        return super().forward(data.x + self.labels(data.y), data.edge_index, data.batch)


class OneByOneOfData(Convolution):
    def forward(self, data):
        graphs = [data[i] for i in range(data.num_graphs)]
        rows = [self.embed(each.x, each.edge_index).sum(dim=0) * each.num_edges for each in graphs]
        return self.head(torch.stack(rows))


class Triplets(Convolution):
    def forward(self, x, edge_index, triplets, batch):
        x = self.embed(x, edge_index)
        return self.head(global_add_pool(x.index_add(0, triplets[0], x[triplets[1]] * x[triplets[2]]), batch))


class Faces(Convolution):
    def forward(self, x, edge_index, face, batch):
        x = self.embed(x, edge_index)
        return self.head(global_add_pool(x.index_add(0, face[0], x[face[1]] * x[face[2]]), batch))


class Root(Convolution):
    """Reads the node whose number a graph carries."""

    def forward(self, x, edge_index, root, ptr):
        return self.head(self.embed(x, edge_index)[root + ptr[:-1]])


class Parents(Convolution):
    def forward(self, x, edge_index, parent, ptr, batch):
        return super().forward(x + x[parent + ptr[batch]], edge_index, batch)


class Middles(Convolution):
    def forward(self, x, edge_index, middle, batch):
        sent = scatter(x[middle], edge_index[1], 0, dim_size=len(x))
        return super().forward(x + sent, edge_index, batch)


class Pair(nn.Module):
    """Two graphs at once, as in PyG's guide to batches."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(), Convolution()

    def forward(self, x, edge_index, x_t, edge_index_t, batch):
        other = self.second(x_t, edge_index_t, torch.zeros(len(x_t), dtype=torch.long))
        return self.first(x, edge_index, batch) * other


class GraphFeatures(Convolution):
    def forward(self, x, edge_index, u, batch):
        return super().forward(x + u.view(-1, WIDTH)[batch], edge_index, batch)


class Positions(Convolution):
    """Knows nodes by their positions in the batch."""

    def __init__(self, rows):
        super().__init__()
        self.table = nn.Embedding(rows, WIDTH)

    def forward(self, x, edge_index, batch):
        return super().forward(x + self.table(torch.arange(len(x))), edge_index, batch)


class Recurrent(nn.Module):
    """Features are series of numbers [n, t, f]."""

    def __init__(self):
        super().__init__()
        self.series, self.layer = nn.GRU(2, WIDTH, batch_first=True), layers.GraphConv(WIDTH, 3)

    def forward(self, x, edge_index):
        return self.layer(self.series(x)[1][0], edge_index)


class Networks:
    """Not a module, but full of them, in training mode."""

    def __init__(self):
        self.members = [NoisyWhenTrained().double().train() for _ in range(2)]

    def __call__(self, x, edge_index, batch):
        return sum(member(x, edge_index, batch) for member in self.members)


class NoisyWhenTrained(Convolution):
    def forward(self, x, edge_index, batch):
        return super().forward(functional.dropout(x, 0.5, self.training), edge_index, batch)


class TypesOfNodes(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = layers.HEATConv(WIDTH, WIDTH, 2, 3, 4, 2, 4), nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, node_type, edge_type, edge_attr, batch):
        return self.head(global_add_pool(self.layer(x, edge_index, node_type, edge_type, edge_attr).tanh(), batch))


def hooked():
    model = Convolution()
    model.register_forward_hook(lambda module, inputs, output: output * 3 + 1)
    model.first.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2, inputs[1]))
    return model


def quantized():
    return torch.ao.quantization.quantize_dynamic(Convolution().float().eval(), {nn.Linear})


def filled(model, *arguments):
    """A model whose cache was filled before."""
    data = graph()
    model.double()(data.x, data.edge_index, *arguments)
    return model


def node_row(model, part):
    return model(part.x, part.edge_index)[part.nodes.tolist().index(3)]


def as_new(model, part):
    """A model that has seen nothing yet, and forgets what it sees."""
    row = node_row(model, part) if isinstance(model, OwnNodeCache) else plain(model, part)
    model.kept = {} if isinstance(model, CacheBySize) else None
    return row


def as_data(model, part):
    return model(Batch.from_data_list([part.clone()]))


def in_evaluation(model, part):
    for member in model.members:
        member.eval()
    return plain(model, part)


def faces(data, kept, masking):
    part = part_of(data, kept, masking)
    number = torch.cumsum(kept, 0) - 1 if masking == "remove" else torch.arange(NODES)
    part.face = number[data.face[:, kept[data.face].all(dim=0)]]
    return part


def labelled():
    data = few_kinds()
    data.y = torch.tensor([0, 1, 2, 0, 1, 2, 0])
    return data


def series():
    data = graph()
    data.x = torch.randn(NODES, 5, 2, generator=torch.Generator().manual_seed(5)).double()
    return data


def single():
    data = graph()
    data.x = data.x.float()
    return data


U = torch.randn(1, WIDTH, generator=torch.Generator().manual_seed(9)).double()
PARENTS = torch.tensor([1, 2, 2, 2, 3, 3, 5])
