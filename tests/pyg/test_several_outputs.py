"""Several graphs, nodes and links in one call: each is explained as it would be by itself."""

import itertools
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.explain import Explainer
from torch_geometric.nn import GCNConv, GINEConv, GraphNorm, global_add_pool, global_mean_pool

import mage
from mage.pyg import BaselineExplainer, MAGEExplainer
from tests.helpers.pyg_models import GraphNet, NodeNet, graph

OPTIONS = {"num_motifs": 2, "max_nodes": 3, "tau": 0.5, "order": 2, "output": "logit", "masking": "remove"}


def explainer(model, level="graph", mode="multiclass_classification", algorithm=None, nodes="object", **fields):
    return Explainer(
        model,
        algorithm=algorithm or MAGEExplainer(**{**OPTIONS, **fields}),
        explanation_type="model",
        node_mask_type=nodes,
        edge_mask_type="object",
        model_config={"mode": mode, "task_level": level, "return_type": "raw"},
    )


class EdgeNet(nn.Module):
    """Links by a product of node states; features of edges and of the whole graph."""

    def __init__(self):
        super().__init__()
        self.conv, self.head = GINEConv(nn.Linear(4, 8), edge_dim=2), nn.Linear(8, 2)

    def forward(self, x, edge_index, edge_attr, edge_label_index):
        x = self.conv(x, edge_index, edge_attr).relu()
        return self.head(x[edge_label_index[0]] * x[edge_label_index[1]])


class WithGlobals(nn.Module):
    """A number per graph goes into its output."""

    def __init__(self):
        super().__init__()
        self.conv, self.head = GINEConv(nn.Linear(4, 8), edge_dim=2), nn.Linear(8, 3)

    def forward(self, x, edge_index, edge_attr, u, batch):
        return self.head(global_mean_pool(self.conv(x, edge_index, edge_attr).relu(), batch)) * u


def test_graphs_of_a_batch_are_explained_as_by_themselves():
    graphs = [graph(nodes, seed) for nodes, seed in ((5, 0), (9, 1), (7, 2))]
    for seed, each in enumerate(graphs):
        each.edge_attr = torch.randn(each.num_edges, 2)
        each.u = torch.tensor([[0.5 + seed]])
    batch, model = Batch.from_data_list(graphs), WithGlobals().eval()
    merged = explainer(model)(batch.x, batch.edge_index, edge_attr=batch.edge_attr, u=batch.u, batch=batch.batch)
    motifs = []
    for row, (each, first) in enumerate(zip(graphs, batch.ptr.tolist(), strict=False)):
        alone = mage.explain(model, each, **OPTIONS)
        np.testing.assert_allclose(
            merged.explanations[row].interactions.values, alone.interactions.values, atol=1e-6, rtol=1e-5
        )
        motifs += [([v + first for v in motif.nodes], pytest.approx(motif.score, abs=1e-5)) for motif in alone.motifs]
        supporting = [motif for motif in alone.motifs if motif.sign > 0] or list(alone.motifs)
        expected = torch.zeros(each.num_nodes, 1)
        expected[[v for motif in supporting for v in motif.nodes]] = 1
        assert torch.equal(merged.node_mask[batch.batch == row], expected)
    assert merged.motifs == motifs
    explanation = explainer(model)(
        batch.x, batch.edge_index, edge_attr=batch.edge_attr, u=batch.u, batch=batch.batch, index=torch.tensor([2, 0])
    )
    assert [e.num_nodes for e in explanation.explanations] == [7, 5]
    assert not explanation.node_mask[batch.batch == 1].any()


def test_edges_between_the_graphs_of_a_batch_count():
    class Net(GraphNet):
        def forward(self, x, edge_index, batch):
            return self.head(global_add_pool(self.conv(x, edge_index).relu(), batch)) ** 2

    x, batch = torch.randn(6, 4), torch.tensor([0, 0, 1, 1, 1, 2])
    ends = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    edge_index, model = torch.cat([ends, ends.flip(0)], dim=1), Net().eval()
    for row in range(3):
        explanation = explainer(model, target=1)(x, edge_index, batch=batch, index=row).explanations[0]

        def worth(masks, row=row):
            values = []
            for mask in torch.as_tensor(masks):
                inside = mask[edge_index].all(dim=0)
                number = torch.cumsum(mask, 0) - 1
                with torch.no_grad():  # a last graph that always has a node keeps the others' rows in place
                    out = model(
                        torch.cat([x[mask], x[:1]]),
                        number[edge_index[:, inside]],
                        torch.cat([batch[mask], torch.tensor([3])]),
                    )
                values.append(float(out[row, 1]))
            return values

        oracle = mage.interactions(mage.Game(worth, 6, edge_index), order=2, method="exact")
        np.testing.assert_allclose(explanation.interactions.values, oracle.values, atol=1e-5)


def test_several_nodes_are_merged():
    data, model = graph(nodes=12), NodeNet().eval()
    rows = torch.tensor([3, 7])
    merged = explainer(model, level="node")(data.x, data.edge_index, index=rows)
    alone = [mage.explain(model, data, node=int(row), **OPTIONS) for row in rows]
    for ours, theirs in zip(merged.explanations, alone, strict=True):
        np.testing.assert_allclose(ours.interactions.values, theirs.interactions.values, atol=1e-6)
    singles = [explainer(model, level="node")(data.x, data.edge_index, index=int(row)) for row in rows]
    assert torch.equal(merged.node_mask, torch.maximum(singles[0].node_mask, singles[1].node_mask))
    assert torch.equal(merged.edge_mask, torch.maximum(singles[0].edge_mask, singles[1].edge_mask))
    assert merged.motif_row.tolist() == [
        row for row, explanation in zip(rows.tolist(), alone, strict=True) for _ in explanation.motifs
    ]
    is_row = torch.zeros(12, dtype=torch.bool)
    is_row[rows] = True
    for index in (is_row, rows - 12, [3, 7, 3]):
        again = explainer(model, level="node")(data.x, data.edge_index, index=index)
        assert torch.equal(again.node_mask, merged.node_mask)


def test_several_links_are_merged():
    data, model = graph(nodes=9), EdgeNet().eval()
    extras = {"edge_attr": torch.randn(data.num_edges, 2), "edge_label_index": torch.tensor([[0, 1, 2], [5, 6, 4]])}
    merged = explainer(model, level="edge")(data.x, data.edge_index, index=torch.tensor([0, 2]), **extras)
    data.edge_attr = extras["edge_attr"]
    for ours, link in zip(merged.explanations, ((0, 5), (2, 4)), strict=True):
        theirs = mage.explain(model, data, edge=link, **OPTIONS)
        np.testing.assert_allclose(ours.interactions.values, theirs.interactions.values, atol=1e-6)
        assert ours.target_nodes == link


def test_labels_and_numbers_of_a_regression_are_outputs_of_their_own():
    data, model = graph(), GraphNet(classes=3).eval()
    batch = torch.zeros(9, dtype=torch.long)
    for mode, task in (("binary_classification", "binary"), ("regression", "regression")):
        merged = explainer(model, mode=mode)(data.x, data.edge_index, batch=batch)
        assert len(merged.explanations) == 3
        for column, ours in enumerate(merged.explanations):
            target = {} if task == "regression" else {"target": int(model(data.x, data.edge_index)[0, column] > 0)}
            theirs = mage.explain(model, data, column=column, task=task, **target, **OPTIONS)
            np.testing.assert_allclose(ours.interactions.values, theirs.interactions.values, atol=1e-6)
        one = explainer(model, mode=mode, column=1)(data.x, data.edge_index, batch=batch)
        assert len(one.explanations) == 1


def test_a_batch_that_is_left_out_costs_nothing():
    class Counting(GraphNet):
        calls = 0

        def forward(self, x, edge_index, batch=None):
            type(self).calls += 1
            return super().forward(x, edge_index, batch)

    data, model = graph(nodes=12), Counting().eval()
    results = []
    for extras in ({"batch": torch.zeros(12, dtype=torch.long)}, {"batch": None}, {}):
        Counting.calls = 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            results.append((explainer(model)(data.x, data.edge_index, **extras), Counting.calls))
    assert max(calls for _, calls in results) <= results[0][1] + 4
    for explanation, _ in results[1:]:
        assert torch.equal(explanation.interaction_value, results[0][0].interaction_value)


def test_a_batch_that_changes_the_answer_is_not_named():
    class Different(GraphNet):
        def forward(self, x, edge_index, batch=None):
            return super().forward(x, edge_index, batch) * (1 if batch is None else 2)

    data, model = graph(nodes=6), Different().eval()
    with pytest.warns(UserWarning, match="one by one"):
        explanation = explainer(model)(data.x, data.edge_index)
    np.testing.assert_allclose(
        explanation.explanations[0].prediction, model(data.x, data.edge_index)[0].detach(), rtol=1e-5
    )


def test_nodes_of_several_graphs_are_normalised_by_graph():
    class Normalised(NodeNet):
        def __init__(self):
            super().__init__()
            self.norm = GraphNorm(8)

        def forward(self, x, edge_index, batch):
            return self.second(self.norm(self.first(x, edge_index), batch).relu(), edge_index)

    graphs = [graph(5, 0), graph(5, 1)]
    batch, model = Batch.from_data_list(graphs), Normalised().eval()
    fields = {"num_hops": 4, "masking": "split"}
    merged = explainer(model, level="node", **fields)(batch.x, batch.edge_index, batch=batch.batch, index=6)
    assert {v for nodes, _ in merged.motifs for v in nodes} <= set(range(5, 10))


def test_outputs_that_depend_on_other_graphs_are_refused():
    class Mixed(GraphNet):
        def forward(self, x, edge_index, batch):
            return super().forward(x - x.mean(dim=0), edge_index, batch)

    batch = Batch.from_data_list([graph(5, 0), graph(6, 1)])
    with pytest.warns(UserWarning, match="one by one"), pytest.raises(ValueError, match="more than its own graph"):
        explainer(Mixed().eval())(batch.x, batch.edge_index, batch=batch.batch)


def test_baselines_explain_the_graphs_of_a_batch():
    graphs = [graph(5, 0), graph(6, 1)]
    batch = Batch.from_data_list(graphs)
    explain = explainer(GraphNet().eval(), algorithm=BaselineExplainer("gradcam", max_nodes=2))
    merged = explain(batch.x, batch.edge_index, batch=batch.batch)
    assert int(merged.node_mask[:5].sum()) in (1, 2)
    assert int(merged.node_mask[5:].sum()) in (1, 2)
    assert merged.edge_mask.shape == (batch.num_edges,)
    crossing = torch.cat([batch.edge_index, torch.tensor([[0], [7]])], dim=1)
    with pytest.raises(ValueError, match="edges join two of its graphs"):
        explain(batch.x, crossing, batch=batch.batch)


def test_what_a_model_is_told_about_sizes_fits_the_copies():
    class Told(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.head = GCNConv(4, 8), nn.Linear(8, 2)

        def forward(self, x, edge_index, batch, batch_size, num_nodes):
            assert len(x) == num_nodes
            return self.head(global_add_pool(self.conv(x, edge_index), batch, size=batch_size))

    data = graph()
    batch = torch.zeros(9, dtype=torch.long)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explainer(Told())(data.x, data.edge_index, batch=batch, batch_size=1, num_nodes=9)
        explanation = explainer(Told())(
            data.x, data.edge_index, batch=torch.tensor([0] * 4 + [1] * 5), batch_size=2, num_nodes=9
        )
    assert len(explanation.explanations) == 2


@pytest.mark.parametrize("order", list(itertools.permutations(range(3)))[::2])
def test_merged_explanations_survive_subgraphs_and_batches(order):
    data, model = graph(nodes=12), NodeNet().eval()
    explanation = explainer(model, level="node")(data.x, data.edge_index, index=torch.tensor(order))
    small = explanation.get_explanation_subgraph()
    assert small.motifs == explanation.motifs
    assert small.num_nodes == int(explanation.node_mask.sum())
    assert len(small.explanations) == 3
    batch = Batch.from_data_list([explanation, small])
    assert len(batch.motifs) == 2 * len(explanation.motifs)
    assert batch[0].motifs == explanation.motifs
    assert torch.equal(batch[0].motif_row, explanation.motif_row)
