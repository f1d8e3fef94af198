import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import fidelity
from torch_geometric.nn import GATConv, GCNConv

from mage.pyg import MAGEExplainer, MAGEExplanation
from tests.helpers.pyg_models import EdgeFeatureNet, GraphNet, NodeNet, graph


def explainer(model, level="graph", mode="multiclass_classification", kind="model", **options):
    return Explainer(
        model,
        algorithm=MAGEExplainer(**{"num_motifs": 2, "max_nodes": 4, "tau": 0.5, **options}),
        explanation_type=kind,
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": mode, "task_level": level, "return_type": "raw"},
    )


@pytest.mark.parametrize("conv", [GCNConv, GATConv])
def test_graph_level(conv, tmp_path):
    data, model = graph(), GraphNet(conv=conv)
    batch = torch.zeros(data.num_nodes, dtype=torch.long)
    explanation = explainer(model)(data.x, data.edge_index, batch=batch)
    assert isinstance(explanation, MAGEExplanation)
    assert explanation.node_mask.shape == (9, 1)
    assert explanation.edge_mask.shape == (data.num_edges,)
    assert set(explanation.node_mask.unique().tolist()) <= {0.0, 1.0}
    assert explanation.validate()
    assert explanation.motifs
    assert len(explanation.motif_score) == len(explanation.motifs)
    assert sorted(explanation.available_explanations) == ["edge_mask", "node_mask"]
    explanation.visualize_graph(str(tmp_path / "graph.png"), backend="networkx")
    assert (tmp_path / "graph.png").stat().st_size > 1000
    assert model.training
    positive, negative = fidelity(explainer(model), explanation)
    assert 0 <= positive <= 1
    assert 0 <= negative <= 1


def test_signed_data_survive_subgraphs_thresholds_and_batches():
    data, model = graph(), GraphNet()
    batch = torch.zeros(data.num_nodes, dtype=torch.long)
    make = explainer(model)
    explanation = make(data.x, data.edge_index, batch=batch)
    motifs, values = explanation.motifs, explanation.interaction_value.clone()
    for subgraph in (explanation.get_explanation_subgraph(), explanation.get_complement_subgraph()):
        assert subgraph.motifs == motifs
        assert torch.equal(subgraph.interaction_value, values)
    thresholded = explanation.threshold("topk", 3)
    assert thresholded.motifs == motifs
    both = Batch.from_data_list([explanation, explanation])
    assert both.interaction_index.shape == (2, 2 * len(values))
    assert int(both.interaction_index[:, len(values) :].min()) >= 9
    first = len(explanation.motif_node_index)
    assert torch.equal(both.motif_node_index[first:], explanation.motif_node_index + 9)
    assert both[1].motifs == motifs
    assert len(both.motifs) == 2 * len(motifs)
    small = explanation.get_explanation_subgraph()
    assert set(small.node_id.tolist()) <= set(range(9))
    shifted = Batch.from_data_list([small, explanation])
    assert torch.equal(shifted.motif_node_index[first:], explanation.motif_node_index + 9)


def test_models_are_called_as_pyg_calls_them():
    class Odd(GraphNet):
        def forward(self, h, adjacency, **kwargs):
            return super().forward(h, adjacency, kwargs["batch"])

    data = graph()
    explanation = explainer(Odd())(data.x, data.edge_index, batch=torch.zeros(9, dtype=torch.long))
    assert explanation.motifs


def test_pairs_are_those_of_the_index():
    data, model = graph(), GraphNet().eval()
    import mage

    ours = mage.explain(model, data, num_motifs=2, max_nodes=4, tau=0.5)
    theirs = explainer(model)(data.x, data.edge_index, batch=torch.zeros(9, dtype=torch.long))
    for (i, j), value in zip(theirs.interaction_index.T.tolist(), theirs.interaction_value.tolist(), strict=True):
        assert value == pytest.approx(ours.interactions[(i, j) if i != j else i], abs=1e-5)
    assert theirs.motifs == [(list(m.nodes), pytest.approx(m.score, abs=1e-5)) for m in ours.motifs]


def test_edges_as_players_score_the_edges():
    import mage

    data, model = graph(7), GraphNet().eval()
    explanation = explainer(model, players="edges", order=2)(data.x, data.edge_index)
    scores = torch.as_tensor(mage.explain(model, data, players="edges", order=2).edge_scores).clamp(min=0)
    assert torch.allclose(explanation.edge_mask, (scores / scores.max()).float(), atol=1e-5)


def test_node_level():
    data = graph(nodes=20)
    explanation = explainer(NodeNet(), level="node")(data.x, data.edge_index, index=5)
    assert explanation.node_mask.shape == (20, 1)
    assert set(explanation.motif_row.tolist()) == {5}


def test_phenomena_edge_features_and_regression():
    data = graph()
    batch = torch.zeros(9, dtype=torch.long)
    phenomenon = explainer(GraphNet(), kind="phenomenon")(
        data.x, data.edge_index, target=torch.tensor([2]), batch=batch
    )
    assert int(phenomenon.target) == 2
    attributes = torch.randn(data.num_edges, 2)
    for mode in ("regression", "binary_classification"):
        explanation = explainer(EdgeFeatureNet(), mode=mode)(data.x, data.edge_index, edge_attr=attributes, batch=batch)
        assert explanation.edge_attr.shape == attributes.shape
        assert explanation.validate()


def test_wrong_options_fail_in_the_constructor():
    with pytest.raises(TypeError, match="unknown option 'max_node'; did you mean 'max_nodes'"):
        MAGEExplainer(max_node=3)
    with pytest.raises(ValueError, match="num_motifs"):
        MAGEExplainer(num_motifs=0)
    with pytest.raises(ValueError, match="node_mask_type='common_attributes'"):
        MAGEExplainer(players="features")
    with pytest.raises(ValueError, match="masking must be one of"):
        explainer(GraphNet(), masking="sideways")(graph().x, graph().edge_index)


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (20, "20 is not one of the model's 20 outputs"),
        (torch.tensor([0.5]), "index must hold whole numbers"),
        (torch.tensor([], dtype=torch.long), "index names no output"),
        (torch.ones(3, dtype=torch.bool), "a mask needs a value for each of 20 outputs, got 3"),
    ],
)
def test_wrong_indices_are_named(index, reason):
    data = graph(nodes=20)
    with pytest.raises(ValueError, match=reason):
        explainer(NodeNet(), level="node")(data.x, data.edge_index, index=index)


def test_wrong_targets_are_named():
    data = graph(nodes=20)
    explain = explainer(NodeNet(), level="node", kind="phenomenon")
    with pytest.raises(ValueError, match="a class for each of 20 outputs, got \\[3\\]"):
        explain(data.x, data.edge_index, target=torch.tensor([0, 1, 2]), index=0)
    with pytest.raises(ValueError, match="numbers of classes, got nan"):
        explain(data.x, data.edge_index, target=torch.full((20,), float("nan")), index=0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"x": [[1.0] * 4] * 9}, "x and edge_index must be two tensors"),
        ({"edge_index": [[0], [1]]}, "x and edge_index must be two tensors"),
        ({"edge_index": torch.tensor([[0], [9]])}, "edge_index names nodes outside 0 … 8"),
        ({"edge_index": torch.tensor([[0.0], [1.0]])}, "edge_index must hold int64 numbers"),
        ({"batch": torch.zeros(9)}, "batch must be an int64 tensor"),
        ({"batch": torch.zeros(3, dtype=torch.long)}, "the graph of each of 9 nodes, got torch.int64 \\[3\\]"),
        ({"batch": [0] * 9}, "batch must be an int64 tensor .* got list"),
        ({"batch": torch.full((9,), -1)}, "batch must number graphs from 0 on"),
        ({"target": 1}, "target must be a tensor, got int"),
        ({"target": torch.tensor([9])}, "target must be a class 0 … 2, got 9"),
        ({"target": torch.tensor([-1])}, "target must be the number of a class, got -1"),
        ({"index": "first"}, "index must be a number or a tensor of numbers, got 'first'"),
        ({"batch": torch.tensor([0] * 4 + [2] * 5), "index": 1, "target": torch.tensor([0, 0, 0])}, "has no nodes"),
    ],
)
def test_odd_inputs_are_named(changes, reason):
    data, explain = graph(), explainer(GraphNet().eval(), kind="phenomenon")
    call = {"x": data.x, "edge_index": data.edge_index[:, :0], "target": torch.tensor([1])} | changes
    with pytest.raises((ValueError, TypeError), match=reason):
        explain(**call)


def test_compiled_models_are_asked_without_compilation():
    class Compiled(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self._orig_mod, self.calls = model, 0

        def forward(self, x, edge_index, batch=None):
            self.calls += 1
            return self._orig_mod(x, edge_index, batch)

    data, model = graph(), Compiled(GraphNet().eval())
    explainer(model)(data.x, data.edge_index, batch=torch.zeros(9, dtype=torch.long))
    assert model.calls <= 3


def test_outputs_that_belong_to_nothing_are_refused():
    class Odd(NodeNet):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index)[:7]

    with pytest.raises(ValueError, match="model returned 7 rows for task_level='node'"):
        explainer(Odd(), level="node")(graph().x, graph().edge_index)
