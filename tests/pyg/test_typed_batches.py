"""Several graphs with types of nodes in one batch: each is explained as it would be by itself."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.explain import Explainer
from torch_geometric.nn import global_add_pool, global_mean_pool, to_hetero

import mage
from mage.pyg import MAGEExplainer
from tests.helpers.typed_graphs import Link, Pooled, Sage, ready, typed_graph

OPTIONS = {"num_motifs": 1, "max_nodes": 3, "order": 2, "output": "logit", "masking": "split"}
COUNTS = ({"paper": 4, "author": 3, "venue": 1}, {"paper": 3, "author": 2, "venue": 2})


class WithGlobals(nn.Module):
    """A number per graph, and how many graphs there are, go into the output."""

    def __init__(self, metadata):
        super().__init__()
        self.inner, self.head = to_hetero(Sage(6), metadata), nn.Linear(6, 2)

    def forward(self, x_dict, edge_index_dict, batch_dict, u, num_graphs):
        papers = self.inner(x_dict, edge_index_dict)["paper"].tanh()
        return self.head(global_add_pool(papers, batch_dict["paper"], num_graphs)) * u


def explainer(model, level="graph", nodes="object", mode="multiclass_classification"):
    return Explainer(
        model,
        algorithm=MAGEExplainer(**OPTIONS),
        explanation_type="model",
        node_mask_type=nodes,
        edge_mask_type="object",
        model_config={"mode": mode, "task_level": level, "return_type": "raw"},
    )


def graphs():
    return [typed_graph(seed, counts=counts) for seed, counts in enumerate(COUNTS)]


def batches(batch):
    return {kind: batch[kind].batch for kind in batch.node_types}


def assert_equal(ours, theirs):
    np.testing.assert_allclose(ours.interactions.values, theirs.interactions.values, atol=1e-9)


@pytest.mark.parametrize("nodes", ["object", "attributes", "common_attributes"])
def test_typed_graphs_of_a_batch_are_explained_as_by_themselves(nodes):
    parts = graphs()
    batch = Batch.from_data_list(parts)
    model = ready(Pooled(parts[0].metadata()), parts[0], "x_dict", "edge_index_dict", "batch_dict")
    explain = explainer(model, nodes=nodes)
    merged = explain(batch.x_dict, batch.edge_index_dict, batch_dict=batches(batch))
    assert merged.validate(raise_on_error=True)
    assert len(merged.explanations) == 2
    for row, part in enumerate(parts):
        assert_equal(merged.explanations[row], mage.explain(model, part, **OPTIONS))
        one_graph = {kind: torch.zeros(len(x), dtype=torch.long) for kind, x in part.x_dict.items()}
        alone = explain(part.x_dict, part.edge_index_dict, batch_dict=one_graph)
        for kind in part.node_types:
            if nodes == "common_attributes":
                assert (merged[kind].node_mask >= alone[kind].node_mask - 1e-6).all()
            else:
                mine = batch[kind].batch == row
                torch.testing.assert_close(merged[kind].node_mask[mine], alone[kind].node_mask)
        for kind in part.edge_types:
            mine = batch[kind[0]].batch[batch[kind].edge_index[0]] == row
            torch.testing.assert_close(merged[kind].edge_mask[mine], alone[kind].edge_mask)
    second = explain(batch.x_dict, batch.edge_index_dict, batch_dict=batches(batch), index=1)
    assert [e.num_nodes for e in second.explanations] == [sum(COUNTS[1].values())]
    if nodes != "common_attributes":
        assert not any(second[kind].node_mask[batch[kind].batch == 0].any() for kind in batch.node_types)


def test_what_belongs_to_a_typed_graph_goes_with_it():
    parts = graphs()
    for number, part in enumerate(parts):
        part.u = torch.tensor([[1.5 + number]]).double()
    batch = Batch.from_data_list(parts)
    model = WithGlobals(parts[0].metadata()).double()
    one_graph = {kind: torch.zeros(len(x), dtype=torch.long) for kind, x in parts[0].x_dict.items()}
    model(parts[0].x_dict, parts[0].edge_index_dict, one_graph, parts[0].u, 1)  # fills lazy weights
    merged = explainer(model.eval())(
        batch.x_dict, batch.edge_index_dict, batch_dict=batches(batch), u=batch.u, num_graphs=2
    )
    for ours, part in zip(merged.explanations, parts, strict=True):

        def call(model, data, part=part):
            count = data.num_graphs
            return model(data.x_dict, data.edge_index_dict, data.collect("batch"), part.u.repeat(count, 1), count)

        assert_equal(ours, mage.explain(model, part, forward=call, **OPTIONS))


class Centred(nn.Module):
    """Nodes against the mean of their own graph."""

    def __init__(self, metadata):
        super().__init__()
        self.inner = to_hetero(Sage(3), metadata)

    def forward(self, x_dict, edge_index_dict, batch_dict):
        papers = self.inner(x_dict, edge_index_dict)["paper"]
        return papers - global_mean_pool(papers, batch_dict["paper"])[batch_dict["paper"]]


def test_nodes_of_typed_graphs_in_a_batch():
    parts = graphs()
    batch = Batch.from_data_list(parts)
    model = ready(Centred(parts[0].metadata()), parts[0], "x_dict", "edge_index_dict", "batch_dict")
    merged = explainer(model, level="node")(
        batch.x_dict, batch.edge_index_dict, batch_dict=batches(batch), index=torch.tensor([1, 5])
    )
    for ours, part in zip(merged.explanations, parts, strict=True):
        assert_equal(ours, mage.explain(model, part, node=("paper", 1), **OPTIONS))


def test_links_of_typed_graphs_in_a_batch():
    parts = graphs()
    batch = Batch.from_data_list(parts)
    model = ready(Link(parts[0].metadata()), parts[0], "x_dict", "edge_index_dict", "edge_label_index")

    class WithBatch(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = model

        def forward(self, x_dict, edge_index_dict, edge_label_index, batch_dict):
            return self.inside(x_dict, edge_index_dict, edge_label_index)

    links = torch.tensor([[1, 4], [2, 5]])
    merged = explainer(WithBatch().eval(), level="edge", mode="regression")(
        batch.x_dict, batch.edge_index_dict, edge_label_index=links, batch_dict=batches(batch)
    )
    for ours, part, link in zip(merged.explanations, parts, ((1, 2), (1, 1)), strict=True):
        assert_equal(ours, mage.explain(model, part, edge=(("author", link[0]), ("paper", link[1])), **OPTIONS))
    with pytest.raises(ValueError, match="a link between two graphs"):
        explainer(WithBatch().eval(), level="edge", mode="regression")(
            batch.x_dict, batch.edge_index_dict, edge_label_index=torch.tensor([[0], [5]]), batch_dict=batches(batch)
        )


def test_typed_batches_that_cannot_be_divided_are_refused():
    parts = graphs()
    batch = Batch.from_data_list(parts)
    model = ready(Pooled(parts[0].metadata()), parts[0], "x_dict", "edge_index_dict", "batch_dict")
    crossing = dict(batch.edge_index_dict)
    crossing["paper", "cites", "paper"] = torch.tensor([[0], [6]])
    with pytest.raises(ValueError, match="join two of its graphs"):
        explainer(model)(batch.x_dict, crossing, batch_dict=batches(batch))
    short = batches(batch) | {"author": torch.zeros(2, dtype=torch.long)}
    with pytest.raises(ValueError, match="graph of each of 5 nodes of type 'author'"):
        explainer(model).algorithm(model, batch.x_dict, batch.edge_index_dict, batch_dict=short)
