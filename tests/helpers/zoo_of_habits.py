"""The cases of models with habits: how their authors call them, and what is said to their users."""

import torch
from torch_geometric import nn as layers
from torch_geometric.data import Data

from tests.helpers import zoo_habits as habits
from tests.helpers.zoo_graphs import NODES, PAIRS, WIDTH, Case, as_batch, few_kinds, graph, plain

NODE, ONE_BY_ONE = habits.NODE, habits.ONE_BY_ONE


def copied(model, part):
    return model(part.x.clone(), part.edge_index, as_batch(part))


def own_row(model, part):
    """The rows of a table go with their nodes."""
    return habits.Convolution.forward(model, part.x + model.table.weight[part.nodes], part.edge_index, as_batch(part))


def of_graph(model, part):
    return model(part.x, part.edge_index, part.u, as_batch(part))


def zeroed(data, kept, masking):
    part = data.clone()
    part.x = data.x * kept[:, None, None]
    part.nodes = torch.arange(NODES)
    return part


HABITS: dict[str, Case] = {
    "states of edges": Case(
        habits.EdgeUpdates, lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part))
    ),
    "random walks inside": Case(habits.Walks, plain),
    "random walks inside, equal nodes": Case(habits.Walks, plain, few_kinds, masking="split"),
    "random walks of a node": Case(habits.NodeWalks, habits.node_row, options=NODE),
    "spectrum inside": Case(habits.Spectrum, plain),
    **{
        f"triangles, {masking}": Case(habits.Triangles, plain, few_kinds, masking=masking)
        for masking in ("remove", "split")
    },
    "sparse products": Case(habits.SparseProduct, habits.node_row, options=NODE),
    "sometimes global": Case(habits.SometimesGlobal, habits.node_row, options=NODE, warning=ONE_BY_ONE),
    **{
        f"{name}, {masking}": Case(make, habits.as_new, options=options, masking=masking)
        for name, make, options in (
            ("own cache", habits.OwnCache, {"target": 0, "output": "logit"}),
            ("own cache of a node", habits.OwnNodeCache, NODE),
            ("own cache by size", habits.CacheBySize, {"target": 0, "output": "logit"}),
        )
        for masking in ("remove", "split")
    },
    "own cache, full": Case(
        lambda: habits.filled(habits.OwnCache(), torch.zeros(NODES, dtype=torch.long)),
        masking="split",
        refusal="carries a graph inside",
    ),
    "own cache of a node, full": Case(
        lambda: habits.filled(habits.OwnNodeCache()), options=NODE, masking="split", refusal="carries a graph inside"
    ),
    **{
        f"changes its input, {masking}": Case(habits.ChangesInput, copied, masking=masking)
        for masking in ("remove", "split")
    },
    "gradient inside": Case(habits.Gradient, plain),
    "seeded noise": Case(habits.SeededNoise, plain, warning=ONE_BY_ONE),
    "statistics of the batch": Case(habits.BatchStatistics, plain, warning=ONE_BY_ONE),
    **{f"nearest features, {masking}": Case(habits.Nearest, plain, masking=masking) for masking in ("remove", "split")},
    "without isolated nodes": Case(habits.WithoutIsolated, plain),
    "unique edges": Case(habits.UniqueEdges, plain),
    "mean with padding": Case(habits.Unmasked, plain, warning=ONE_BY_ONE),
    "mean with padding, split": Case(habits.Unmasked, plain, masking="split"),
    **{
        f"labels as features, {masking}": Case(
            habits.LabelsAsFeatures, habits.as_data, habits.labelled, masking=masking
        )
        for masking in ("remove", "split")
    },
    "graphs of a batch by number": Case(habits.OneByOneOfData, habits.as_data),
    **{
        f"faces, {masking}": Case(
            habits.Faces,
            lambda model, part: model(part.x, part.edge_index, part.face, as_batch(part)),
            lambda: graph(face=torch.tensor([[0, 3], [1, 4], [2, 5]])),
            cut=habits.faces,
            masking=masking,
        )
        for masking in ("remove", "split")
    },
    # Numbers of nodes that nobody renumbers.
    **{
        f"triplets, {masking}": Case(
            habits.Triplets,
            data=lambda: graph(triplets=torch.tensor([[0, 3, 1, 2], [1, 4, 2, 3], [2, 5, 0, 4]])),
            masking=masking,
            refusal="data: triplets looks like edges",
        )
        for masking in ("remove", "split")
    },
    "number of a root": Case(
        habits.Root, data=lambda: graph(root=torch.tensor([2])), refusal="data: root holds numbers of nodes"
    ),
    "number of a root, split": Case(
        habits.Root,
        lambda model, part: model(part.x, part.edge_index, part.root, torch.tensor([0, NODES])),
        lambda: graph(root=torch.tensor([2])),
        masking="split",
    ),
    **{
        f"parents, {masking}": Case(
            habits.Parents,
            data=lambda: graph(parent=habits.PARENTS),
            masking=masking,
            refusal="data: parent holds numbers of nodes",
        )
        for masking in ("remove", "split")
    },
    "nodes of edges": Case(
        habits.Middles,
        data=lambda: graph(middle=torch.arange(2 * len(PAIRS)) % NODES),
        refusal="data: middle holds numbers of nodes",
    ),
    **{
        f"pair of graphs of {NODES} and {count}": Case(
            habits.Pair,
            data=lambda count=count: graph(
                x_t=torch.ones(count, WIDTH).double(), edge_index_t=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
            ),
            refusal="data: edge_index_t joins nodes of a second graph",
        )
        for count in (4, NODES, 9)
    },
    "features of the graph": Case(habits.GraphFeatures, of_graph, lambda: graph(u=habits.U)),
    "features of the graph, flat": Case(
        habits.GraphFeatures, of_graph, lambda: graph(u=habits.U[0]), warning=ONE_BY_ONE
    ),
    "table by position": Case(lambda: habits.Positions(NODES), own_row),
    "larger table by position": Case(lambda: habits.Positions(100), plain, warning=ONE_BY_ONE),
    "series": Case(habits.Recurrent, habits.node_row, habits.series, options=NODE),
    "series, zero": Case(habits.Recurrent, habits.node_row, habits.series, options=NODE, masking="zero", cut=zeroed),
    "networks in an object": Case(habits.Networks, habits.in_evaluation),
    "types of nodes and edges": Case(
        habits.TypesOfNodes,
        lambda model, part: model(
            part.x, part.edge_index, part.node_type, part.edge_type, part.edge_attr, as_batch(part)
        ),
        lambda: graph(node_type=torch.arange(NODES) % 2, edge_type=torch.arange(2 * len(PAIRS)) % 3),
    ),
    "hooks": Case(habits.hooked, plain),
    "quantized": Case(habits.quantized, plain, habits.single, tolerance=1e-4, warning=ONE_BY_ONE),
    "scripted": Case(lambda: torch.jit.script(habits.Convolution().double().eval()), plain),
    "no features of edges": Case(
        lambda: layers.Sequential(
            "x, edge_index, edge_attr, batch",
            [(layers.GraphConv(WIDTH, 3), "x, edge_index, edge_attr -> x"), (habits.global_add_pool, "x, batch -> x")],
        ),
        lambda model, part: model(part.x, part.edge_index, None, as_batch(part)),
        lambda: Data(x=graph().x, edge_index=graph().edge_index, edge_attr=None),
        refusal="edge_attr",
    ),
}
