"""Models as people write them, each with the way its author calls it on one graph."""

from types import SimpleNamespace

import torch
from torch import nn
from torch_geometric import nn as layers
from torch_geometric.data import Batch, Data
from torch_geometric.nn import aggr, global_add_pool
from torch_geometric.utils import to_dense_adj

from tests.helpers.layers import PLAIN, WITH_EDGES, Network
from tests.helpers.zoo_choices import CHOICES
from tests.helpers.zoo_graphs import (
    NODES,
    PAIRS,
    SECOND,
    WIDTH,
    Case,
    as_batch,
    both_ways,
    graph,
    hyperedges,
    matrix,
    plain,
    second_edges,
)
from tests.helpers.zoo_layers import LAYERS
from tests.helpers.zoo_models import (
    Convolution,
    DenseAdjacency,
    DensePool,
    Directed,
    Encoder,
    Ends,
    FunctionalDropout,
    GraphGym,
    Heads,
    HierarchicalPool,
    Hypergraph,
    Jumping,
    Lightning,
    LinkExample,
    ListReadout,
    LoopReadout,
    NodeOnly,
    OptionalWeights,
    OwnGraph,
    Passing,
    Pooled,
    PtrReadout,
    Relations,
    SparseConvolution,
    Transformer,
    TwoEdgeSets,
    UnbatchReadout,
    VirtualNode,
    Wide,
    WithNorm,
)
from tests.helpers.zoo_of_habits import HABITS
from tests.helpers.zoo_pools import POOLS


def near(pos, batch):
    """All atoms of one molecule that are near each other, as SchNet's own graph of interactions."""
    distance = torch.cdist(pos, pos)
    joined = (distance < 2.0) & (batch[:, None] == batch[None])
    ends = torch.nonzero(joined.fill_diagonal_(False)).T
    return ends, distance[ends[0], ends[1]]


def atoms():
    generator = torch.Generator().manual_seed(1)
    return Data(z=torch.tensor([6, 6, 8, 1, 1, 7, 1]), pos=torch.randn(NODES, 3, generator=generator))


def end_rows(model, part, call):
    """The row of a link between nodes 0 and 3, wherever these are now."""
    place = [part.nodes.tolist().index(node) for node in (0, 3)]
    return call(model, part, torch.tensor([[place[0]], [place[1]]]))


def node_row(model, part):
    return model(part.x, part.edge_index)[part.nodes.tolist().index(3)]


def lightgcn_row(model, part, link):
    """LightGCN's own sum over layers, with the embeddings of the nodes that are there."""
    x = model.embedding.weight[part.nodes]
    out = x * model.alpha[0]
    for i in range(model.num_layers):
        x = model.convs[i](x, part.edge_index)
        out = out + x * model.alpha[i + 1]
    return (out[link[0]] * out[link[1]]).sum(dim=-1)


def linkx_row(model, part):
    """LINKX with the weights of the nodes that are there."""
    twin = layers.LINKX(part.num_nodes, WIDTH, 5, 2, 1)
    state = {key: value[part.nodes] if key == "edge_lin.weight" else value for key, value in model.state_dict().items()}
    twin.double().eval().load_state_dict(state)
    return twin(part.x, part.edge_index)[part.nodes.tolist().index(3)]


def select_case(wrap, select=None, refusal=""):
    return Case(
        lambda: Heads(wrap),
        lambda model, part: Convolution.forward(model, part.x, part.edge_index, as_batch(part)),
        options={"target": 0, "output": "logit", "select": select},
        refusal=refusal,
    )


def pooled(readout, **changes):
    return Case(lambda: Pooled(readout()), plain, **changes)


def log_odds(chances):
    return float(torch.log(chances[0, 0]) - torch.log(1 - chances[0, 0]))


def traced(model):
    data = graph()
    return torch.jit.trace(model.double().eval(), (data.x, data.edge_index, as_batch(data)), check_trace=False)


def closed_over(model):
    def call(x, edge_index, batch):
        return model(x, edge_index, batch)

    return call


LINK = {"edge": (0, 3), "output": "logit"}
NODE = {"node": 3, "target": 0, "output": "logit"}
LABEL = {"column": 1, "task": "binary", "target": 1, "output": "logit"}
NUMBER = {"column": 2, "output": "logit"}
TARGETED = {"target": 0, "output": "log-odds"}

ZOO: dict[str, Case] = {
    **{
        name: Case(
            lambda make=make: Network(make),
            lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
        )
        for name, make in PLAIN.items()
    },
    **{
        name: Case(
            lambda make=make: Network(make, edge_features=True),
            lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
        )
        for name, make in WITH_EDGES.items()
    },
    **LAYERS,
    **POOLS,
    **HABITS,
    **CHOICES,
    # Readouts.
    "Set2Set": Case(lambda: Wide(aggr.Set2Set(WIDTH, 2), 2 * WIDTH), plain),
    "SortAggregation": Case(lambda: Wide(aggr.SortAggregation(3), 3 * WIDTH), plain),
    "LSTM readout": pooled(lambda: aggr.LSTMAggregation(WIDTH, WIDTH), warning="depends on the rest of the batch"),
    "median": pooled(aggr.MedianAggregation),
    "quantile": pooled(lambda: aggr.QuantileAggregation(0.3)),
    "loop over graphs": Case(LoopReadout, plain, warning="no finite output for an empty graph"),
    "unbatch": Case(UnbatchReadout, plain, warning="no finite output for an empty graph"),
    "to_data_list": Case(ListReadout, lambda model, part: model(Batch.from_data_list([part]))),
    "ptr and num_nodes": Case(
        PtrReadout,
        lambda model, part: model(part.x, part.edge_index, torch.tensor([0, part.num_nodes]), part.num_nodes),
    ),
    "TopKPooling": Case(lambda: HierarchicalPool(layers.TopKPooling(WIDTH)), plain),
    "SAGPooling": Case(lambda: HierarchicalPool(layers.SAGPooling(WIDTH)), plain),
    "ASAPooling": Case(
        lambda: HierarchicalPool(layers.ASAPooling(WIDTH)),
        plain,
        lambda: Data(x=graph().x.float(), edge_index=both_ways(PAIRS)),
    ),
    "EdgePooling": Case(lambda: HierarchicalPool(layers.EdgePooling(WIDTH)), plain, warning="EdgePooling breaks ties"),
    "DiffPool": Case(DensePool, plain),
    # Normalisations and global context.
    "GraphNorm with batch": Case(lambda: WithNorm(layers.GraphNorm(WIDTH), True), plain),
    "PairNorm without batch": Case(
        lambda: WithNorm(layers.PairNorm(), False), plain, warning="depends on the rest of the batch"
    ),
    "BatchNorm": Case(lambda: WithNorm(layers.BatchNorm(WIDTH), False), plain),
    "virtual node": Case(VirtualNode, plain),
    "GPS": Case(Transformer, plain),
    "jumping knowledge": Case(Jumping, plain),
    "AttentiveFP": Case(
        lambda: layers.AttentiveFP(WIDTH, 5, 2, 2, 2, 2),
        lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
    ),
    "RGCN": Case(
        Relations,
        lambda model, part: model(part.x, part.edge_index, part.edge_type, as_batch(part)),
        lambda: graph(edge_type=torch.arange(2 * len(PAIRS)) % 3),
    ),
    # Structure that is not edge_index.
    **{
        f"two edge sets, {masking}": Case(
            TwoEdgeSets,
            lambda model, part: model(part.x, part.edge_index, part.edge_index_2, part.edge_weight_2, as_batch(part)),
            lambda: graph(edge_index_2=both_ways(SECOND), edge_weight_2=torch.rand(10).double()),
            cut=second_edges,
            masking=masking,
        )
        for masking in ("remove", "split")
    },
    **{
        f"hyperedges, {masking}": Case(
            Hypergraph,
            lambda model, part: model(part.x, part.hyperedge_index, as_batch(part)),
            lambda: graph(hyperedge_index=torch.tensor([[0, 1, 2, 2, 3, 4, 5, 6, 6], [0, 0, 0, 1, 1, 1, 2, 2, 0]])),
            cut=hyperedges,
            masking=masking,
        )
        for masking in ("remove", "split")
    },
    **{
        f"adj_t, {masking}": Case(
            SparseConvolution,
            lambda model, part: model(part.x, part.adj_t, as_batch(part)),
            lambda: Data(
                x=graph().x, adj_t=torch.sparse_coo_tensor(both_ways(PAIRS), torch.ones(16).double()).to_sparse_csr()
            ),
            cut=matrix,
            masking=masking,
        )
        for masking in ("remove", "split")
    },
    "dense adjacency": Case(
        DenseAdjacency,
        data=lambda: graph(adj=to_dense_adj(both_ways(PAIRS))[0].double()),
        refusal="data: adj has a row",
    ),
    "edges of another name": Case(
        lambda: lambda x, bonds, batch: global_add_pool(x[bonds[0]], batch[bonds[1]]),
        data=lambda: graph(bonds=both_ways(SECOND)),
        refusal="data: bonds looks like edges",
    ),
    "graph inside the model": Case(OwnGraph, refusal="carries a graph inside"),
    # What comes back.
    "tuple": select_case(lambda loss, out: (loss, out), refusal="pass select="),
    "tuple, named": select_case(lambda loss, out: (loss, out), 1),
    "tuple of one": select_case(lambda loss, out: (out,)),
    "dictionary": select_case(lambda loss, out: {"loss": loss, "logits": out}, refusal="select='loss'"),
    "dictionary, named": select_case(lambda loss, out: {"loss": loss, "logits": out}, "logits"),
    "list of heads": select_case(lambda loss, out: [out, out[:, :2]], refusal="several things"),
    "list of heads, named": select_case(lambda loss, out: [-out, out], 1),
    "object": select_case(lambda loss, out: SimpleNamespace(loss=loss, logits=out), "logits"),
    "nested": select_case(lambda loss, out: {"heads": [out, loss]}, ("heads", 0)),
    "softmax inside": Case(lambda: Ends(lambda out: out.softmax(dim=1)), plain, options=TARGETED, readout=log_odds),
    "softmax inside, as logit": Case(
        lambda: Ends(lambda out: out.softmax(dim=1)), refusal="output='logit' cannot be had"
    ),
    "log_softmax inside": Case(
        lambda: Ends(lambda out: out.log_softmax(dim=1)),
        plain,
        options=TARGETED,
        readout=lambda row: log_odds(row.exp()),
    ),
    "sigmoid inside": Case(
        lambda: Ends(torch.sigmoid, 1), plain, options={"target": 1, "output": "log-odds"}, readout=log_odds
    ),
    "labels": Case(
        lambda: Ends(torch.sigmoid, 5), options={"target": 0, "output": "log-odds"}, refusal="labels and not classes"
    ),
    "one label": Case(lambda: Convolution(5), plain, options=LABEL, readout=lambda row: float(row[0, 1])),
    "19 numbers": Case(lambda: Convolution(19), plain, options=NUMBER, readout=lambda row: float(row[0, 2])),
    "19 numbers with their truth": Case(
        lambda: Convolution(19), data=lambda: graph(y=torch.randn(1, 19)), options={}, refusal="pass column="
    ),
    # How it is called.
    "GraphGym": Case(
        GraphGym,
        lambda model, part: model(Batch.from_data_list([part.clone()]))[0],
        lambda: graph(y=torch.tensor([1])),
        options={"target": 0, "output": "logit", "select": 0},
    ),
    "GraphGym without select": Case(GraphGym, data=lambda: graph(y=torch.tensor([1])), refusal="pass select="),
    "Lightning": Case(Lightning, lambda model, part: model(Batch.from_data_list([part]))),
    "compiled": Case(lambda: torch.compile(Convolution()), lambda model, part: plain(model._orig_mod, part)),
    "DataParallel": Case(lambda: nn.DataParallel(Convolution()), lambda model, part: plain(model.module, part)),
    "AveragedModel": Case(lambda: torch.optim.swa_utils.AveragedModel(Convolution()), plain),
    "wrapper": Case(lambda: Passing(Convolution()), plain),
    "PyG's Sequential": Case(
        lambda: layers.Sequential(
            "x, edge_index, edge_attr, batch",
            [
                (layers.GATConv(WIDTH, 4, edge_dim=2), "x, edge_index, edge_attr -> x"),
                (global_add_pool, "x, batch -> x"),
                nn.Linear(4, 2),
            ],
        ),
        lambda model, part: model(part.x, part.edge_index, part.edge_attr, as_batch(part)),
    ),
    "closure": Case(
        lambda: closed_over(Convolution().double().eval()),
        plain,
    ),
    "optional weights": Case(
        OptionalWeights, data=lambda: graph(edge_weight=torch.rand(16).double()), refusal="inputs=\\('x', 'edge_index'"
    ),
    "optional weights, given": Case(
        OptionalWeights,
        lambda model, part: model(part.x, part.edge_index, part.edge_weight, as_batch(part)),
        lambda: graph(edge_weight=torch.rand(16).double()),
        options={"target": 0, "output": "logit", "inputs": ("x", "edge_index", "edge_weight")},
    ),
    "optional weights, left out": Case(
        OptionalWeights,
        lambda model, part: model(part.x, part.edge_index, None, as_batch(part)),
        lambda: graph(edge_weight=torch.rand(16).double()),
        options={"target": 0, "output": "logit", "inputs": ("x", "edge_index")},
    ),
    "functional dropout": Case(FunctionalDropout, refusal="differently each time"),
    "traced": Case(lambda: traced(Convolution()), plain, warning="one by one"),
    # Nodes and links.
    "node level": Case(NodeOnly, node_row, options=NODE),
    "directed, both ways": Case(
        Directed, node_row, lambda: Data(x=graph().x, edge_index=torch.tensor(PAIRS).T), options=NODE
    ),
    **{
        name: Case(lambda make=make: make(WIDTH, 5, 2, 3, act="tanh"), node_row, options=NODE)
        for name, make in {
            "PyG's GCN": layers.GCN,
            "PyG's GIN": layers.GIN,
            "PyG's GAT": layers.GAT,
            "PyG's GraphSAGE": layers.GraphSAGE,
        }.items()
    },
    "LINKX": Case(lambda: layers.LINKX(NODES, WIDTH, 5, 2, 1), linkx_row, options=NODE),
    "LightGCN": Case(
        lambda: layers.LightGCN(NODES, 4, 2),
        lambda model, part: end_rows(model, part, lightgcn_row),
        options=LINK,
    ),
    "GAE": Case(
        lambda: layers.GAE(Encoder()),
        lambda model, part: end_rows(
            model, part, lambda model, part, link: model.decode(model.encode(part.x, part.edge_index), link)
        ),
        options=LINK,
    ),
    "VGAE": Case(
        lambda: layers.VGAE(Encoder(True)),
        lambda model, part: end_rows(
            model, part, lambda model, part, link: model.decode(model.encode(part.x, part.edge_index), link)
        ),
        options=LINK,
    ),
    "PyG's link example": Case(
        LinkExample,
        lambda model, part: end_rows(
            model, part, lambda model, part, link: model.decode(model.encode(part.x, part.edge_index), link)
        ),
        options=LINK,
    ),
    "link example as a graph": Case(LinkExample, refusal="pass edge= to explain a link"),
    # Atoms.
    "SchNet": Case(
        lambda: layers.SchNet(8, 8, 1, 6, 2.0, interaction_graph=near),
        lambda model, part: model(part.z, part.pos, as_batch(part)),
        atoms,
        options={"output": "logit"},
        cut=lambda data, present, masking: Data(z=data.z[present], pos=data.pos[present]),
    ),
    "SchNet, split": Case(
        lambda: layers.SchNet(8, 8, 1, 6, 2.0, interaction_graph=near),
        data=atoms,
        masking="split",
        options={},
        refusal="use masking='remove'",
    ),
    "DimeNet without torch-cluster": Case(
        lambda: layers.DimeNet(8, 1, 1, 2, 2, 2), data=atoms, options={}, refusal="fails on data itself"
    ),
}
