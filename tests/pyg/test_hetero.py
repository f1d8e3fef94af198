"""Graphs with types of nodes through PyG's ``Explainer``."""

import itertools
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.explain import Explainer, HeteroExplanation
from torch_geometric.nn import GATConv, HANConv, HeteroConv, HGTConv, SAGEConv, to_hetero

import mage
from mage.pyg import MAGEExplainer, MAGEHeteroExplanation
from tests.helpers.pyg_models import long_but_some
from tests.helpers.typed_graphs import COUNTS, WIDTHS, Link, Pooled, Sage, ready, typed_graph

OPTIONS = {"num_motifs": 1, "max_nodes": 3, "order": 2}
TWO = ("x_dict", "edge_index_dict")
INDICES = {"all": None, "one": 2, "several": torch.arange(3)}
LAYERS = {layer.__name__: layer for layer in (HGTConv, HANConv, HeteroConv)}
ATTENTION = [(layer, index) for layer in LAYERS for index in INDICES]


class Papers(nn.Module):
    """Scores of papers, with the return type that a configuration names."""

    def __init__(self, metadata, returned="raw", outputs=3):
        super().__init__()
        self.inner, self.returned = to_hetero(Sage(outputs), metadata), returned

    def forward(self, x_dict, edge_index_dict, additional=None):
        x = self.inner(x_dict, edge_index_dict)["paper"]
        if self.returned == "raw":
            return x
        return x.softmax(dim=-1) if self.returned == "probs" else x.log_softmax(dim=-1)


def explained(model, data, level="node", *, masks=("object", "object"), returned="raw", threshold=None, **kwargs):
    explain = Explainer(
        model,
        algorithm=MAGEExplainer(**OPTIONS, **kwargs.pop("fields", {})),
        explanation_type=kwargs.pop("kind", "model"),
        node_mask_type=masks[0],
        edge_mask_type=masks[1],
        model_config={
            "mode": kwargs.pop("mode", "multiclass_classification"),
            "task_level": level,
            "return_type": returned,
        },
        threshold_config=threshold,
    )
    return explain(data.x_dict, data.edge_index_dict, **kwargs)


def check(explanation, data, masks):
    assert isinstance(explanation, HeteroExplanation)
    assert explanation.validate(raise_on_error=True)
    for kind, x in data.x_dict.items():
        if masks[0] is None:
            assert "node_mask" not in explanation[kind]
            continue
        shape = {"object": (len(x), 1), "attributes": tuple(x.shape), "common_attributes": (1, x.size(1))}[masks[0]]
        mask = explanation[kind].node_mask
        assert tuple(mask.shape) == shape
        assert 0 <= float(mask.min()) <= float(mask.max()) <= 1
    for kind, edges in data.edge_index_dict.items():
        if masks[1] is None:
            assert "edge_mask" not in explanation[kind]
        else:
            assert tuple(explanation[kind].edge_mask.shape) == (edges.size(1),)
            assert 0 <= float(explanation[kind].edge_mask.min()) <= float(explanation[kind].edge_mask.max()) <= 1


EVERYTHING = list(
    itertools.product(
        ("object", "common_attributes", "attributes"),
        ("object", None),
        ("model", "phenomenon"),
        ("node", "edge", "graph"),
        ("log_probs", "probs", "raw"),
        INDICES,
    )
)
SAMPLE = EVERYTHING[::23]


def check_setting(nodes, edges, kind, level, returned, index):
    data = typed_graph()
    model = ready(Papers(data.metadata(), returned), data, *TWO)
    extras = {}
    if kind == "phenomenon":
        with torch.no_grad():
            extras["target"] = model(data.x_dict, data.edge_index_dict).argmax(dim=-1)
    masks = (nodes, edges)
    explanation = explained(
        model, data, level, masks=masks, kind=kind, returned=returned, index=INDICES[index], **extras
    )
    check(explanation, data, masks)
    assert len(explanation.explanations) == {"all": 5, "one": 1, "several": 3}[index]


def test_the_number_of_settings():
    assert len(EVERYTHING) == 324


@pytest.mark.parametrize("setting", long_but_some(EVERYTHING, SAMPLE), ids=str)
def test_all_settings(setting):
    check_setting(*setting)


class FirstCall(nn.Module):
    """A layer by attention, in a model that makes its other layers when it sees features."""

    def __init__(self, metadata, layer):
        super().__init__()
        self.inputs, self.head, self.ready = nn.ModuleDict(), None, False
        self.layer = (
            layer(8, 8, metadata, heads=2)
            if layer is not HeteroConv
            else HeteroConv({kind: GATConv((8, 8), 8, add_self_loops=False) for kind in metadata[1]})
        )

    def forward(self, x_dict, edge_index_dict):
        if not self.ready:
            for kind, x in x_dict.items():
                self.inputs[kind] = nn.Linear(x.size(1), 8).to(x)
            self.head, self.ready = nn.Linear(8, 3).to(x), True
        x_dict = {kind: self.inputs[kind](x).relu_() for kind, x in x_dict.items()}
        return self.head(self.layer(x_dict, edge_index_dict)["paper"])


@pytest.mark.parametrize("masks", [(None, "object"), ("attributes", "object")], ids=str)
@pytest.mark.parametrize("case", long_but_some(ATTENTION, [case for case in ATTENTION if "one" in case]), ids=str)
def test_layers_by_attention(case, masks):
    layer, index = case
    data = typed_graph()
    torch.manual_seed(0)
    model = FirstCall(data.metadata(), LAYERS[layer]).double()
    explanation = explained(model, data, masks=masks, index=INDICES[index])
    check(explanation, data, masks)
    assert len(explanation.explanations) == {"all": 5, "one": 1, "several": 3}[index]


@pytest.mark.parametrize("index", [1, torch.arange(2)], ids=str)
def test_typed_regressions_of_nodes(index):
    data = typed_graph()
    model = ready(Papers(data.metadata(), outputs=1), data, *TWO)
    fields = {"mode": "regression", "returned": None}
    check(explained(model, data, masks=("attributes", "object"), index=index, **fields), data, ("attributes", "object"))


def test_nodes_are_explained_as_by_themselves():
    data = typed_graph()
    model = ready(Papers(data.metadata()), data, *TWO)
    explanation = explained(model, data, index=torch.tensor([3, 1]))
    assert isinstance(explanation, MAGEHeteroExplanation)
    motifs, nodes = [], set()
    for ours, row in zip(explanation.explanations, (3, 1), strict=True):
        theirs = mage.explain(model, data, node=("paper", row), **OPTIONS)
        np.testing.assert_allclose(ours.interactions.values, theirs.interactions.values, atol=1e-9)
        for motif in theirs.motifs:
            kinds = [theirs.subject.types[v] for v in motif.nodes]
            first = {kind: theirs.subject.types.index(kind) for kind in kinds}
            members = [(kind, v - first[kind]) for kind, v in zip(kinds, motif.nodes, strict=True)]
            motifs.append((members, pytest.approx(motif.score, abs=1e-6)))
            if motif.sign > 0 or all(other.sign < 0 for other in theirs.motifs):
                nodes |= set(members)
    assert explanation.motifs == motifs
    for kind, count in COUNTS.items():
        for number in range(count):
            assert (explanation[kind].node_mask[number] > 0) == ((kind, number) in nodes)


def test_links_and_graphs():
    data = typed_graph()
    links = torch.tensor([[0, 1, 3], [1, 2, 4]])
    model = ready(Link(data.metadata()), data, *TWO, "edge_label_index")
    explanation = explained(model, data, "edge", mode="regression", index=1, edge_label_index=links)
    alone = mage.explain(model, data, edge=(("author", 1), ("paper", 2)), **OPTIONS)
    np.testing.assert_allclose(explanation.explanations[0].interactions.values, alone.interactions.values, atol=1e-9)
    model = ready(Pooled(data.metadata()), data, *TWO, "batch_dict")
    batch = {kind: torch.zeros(count, dtype=torch.long) for kind, count in COUNTS.items()}
    explanation = explained(model, data, "graph", batch_dict=batch, fields={"masking": "split"})
    alone = mage.explain(model, data, masking="split", **OPTIONS)
    np.testing.assert_allclose(explanation.explanations[0].interactions.values, alone.interactions.values, atol=1e-9)


def test_a_batch_that_is_left_out_costs_nothing():
    class Optional(Pooled):
        def forward(self, x_dict, edge_index_dict, batch_dict=None):
            if batch_dict is None:
                batch_dict = {kind: torch.zeros(len(x), dtype=torch.long) for kind, x in x_dict.items()}
            return super().forward(x_dict, edge_index_dict, batch_dict)

    data = typed_graph()
    model = ready(Optional(data.metadata()), data, *TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explained(model, data, "graph", fields={"masking": "split"}).motifs


def test_types_with_as_many_nodes_are_told_apart():
    counts = {"paper": 4, "author": 4, "venue": 1}
    data = typed_graph(counts=counts)

    class Authors(Papers):
        def forward(self, x_dict, edge_index_dict):
            return self.inner(x_dict, edge_index_dict)["author"]

    for network, kind in ((Papers, "paper"), (Authors, "author")):
        model = ready(network(data.metadata()), data, *TWO)
        explanation = explained(model, data, index=2)
        theirs = mage.explain(model, data, node=(kind, 2), **OPTIONS)
        np.testing.assert_allclose(
            explanation.explanations[0].interactions.values, theirs.interactions.values, atol=1e-9
        )

    class Nobody(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = SAGEConv(4, 3)

        def forward(self, x_dict, edge_index_dict):
            return torch.arange(12.0).view(4, 3).double() * x_dict["venue"].sum()

    with pytest.raises(ValueError, match="its rows may belong to paper and author"):
        explained(Nobody(), data, index=2)


def test_rows_that_no_type_has_are_refused():
    class Odd(Papers):
        def forward(self, x_dict, edge_index_dict):
            return super().forward(x_dict, edge_index_dict)[:3]

    data = typed_graph()
    with pytest.raises(ValueError, match="model returned 3 rows"):
        explained(ready(Odd(data.metadata()), data, *TWO), data)


@pytest.mark.parametrize("nodes", ["object", "attributes"])
@pytest.mark.parametrize("count", [1, 5, 10])
@pytest.mark.parametrize("kind", ["topk", "topk_hard"])
def test_topk_keeps_that_many_of_each_type(kind, count, nodes):
    data = typed_graph()
    model = ready(Papers(data.metadata()), data, *TWO)
    explanation = explained(model, data, masks=(nodes, "object"), threshold=(kind, count), index=0)
    for name in ("node_mask", "edge_mask"):
        for mask in explanation.collect(name).values():
            is_kept = mask == 1 if kind == "topk_hard" else mask > 0
            assert int(is_kept.sum()) == min(mask.numel(), count)
            assert int((mask == 0).sum()) == mask.numel() - min(mask.numel(), count)


@pytest.mark.parametrize("value", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("nodes", ["object", "attributes"])
def test_hard_thresholds_of_all_types(nodes, value):
    data = typed_graph()
    model = ready(Papers(data.metadata()), data, *TWO)
    explanation = explained(model, data, masks=(nodes, "object"), threshold=("hard", value), index=0)
    for name in ("node_mask", "edge_mask"):
        for mask in explanation.collect(name).values():
            assert set(mask.unique().tolist()) <= {0.0, 1.0}


class Whole(nn.Module):
    """One number for all papers, without a batch."""

    def forward(self, x_dict, edge_index_dict, *_):
        return x_dict["paper"].mean().view(-1)


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
@pytest.mark.parametrize("target", [None, torch.tensor([0.3, -1.2])])
def test_targets_of_typed_regressions(kind, target):
    data, model = typed_graph(), Whole()
    fields = {"masks": ("attributes", None), "kind": kind, "mode": "regression", "returned": None}
    if target is None and kind == "phenomenon":
        with pytest.raises(ValueError, match="'target' has to be provided"):
            explained(model, data, "graph", **fields)
        return
    explanation = explained(model, data, "graph", target=target if kind == "phenomenon" else None, **fields)
    assert model.training
    assert isinstance(explanation, HeteroExplanation)
    assert explanation.available_explanations == ["node_mask"]
    for name, x in data.x_dict.items():
        assert explanation[name].node_mask.shape == x.shape


def test_columns_of_all_types_share_what_features_add():
    data = typed_graph()
    model = ready(Papers(data.metadata()), data, *TWO)
    explanation = explained(
        model, data, masks=("common_attributes", None), index=2, fields={"target": 1, "output": "logit"}
    )
    with torch.no_grad():
        whole = model(data.x_dict, data.edge_index_dict)[2, 1]
        blank = model({kind: torch.zeros_like(x) for kind, x in data.x_dict.items()}, data.edge_index_dict)[2, 1]
    scores = explanation.collect("node_score")
    assert {kind: tuple(score.shape) for kind, score in scores.items()} == {k: (1, w) for k, w in WIDTHS.items()}
    assert sum(float(score.sum()) for score in scores.values()) == pytest.approx(float(whole - blank), abs=1e-4)


def test_pictures_and_subgraphs(tmp_path):
    data = typed_graph()
    model = ready(Papers(data.metadata()), data, *TWO)
    explanation = explained(model, data, index=2)
    explanation.visualize_graph(str(tmp_path / "graph.png"))
    assert (tmp_path / "graph.png").stat().st_size > 1000
    small = explanation.get_explanation_subgraph()
    assert small.motifs == explanation.motifs
    assert small["paper"].num_nodes == int(explanation["paper"].node_mask.sum())
    explained(model, data, masks=("attributes", None), index=2).visualize_feature_importance(
        str(tmp_path / "features.png"), top_k=3
    )
    assert (tmp_path / "features.png").stat().st_size > 1000


def test_tensors_and_dictionaries_do_not_mix():
    data = typed_graph()
    algorithm = MAGEExplainer()
    with pytest.raises(TypeError, match="two tensors, or two dictionaries"):
        algorithm(nn.Identity(), data.x_dict, torch.zeros(2, 0, dtype=torch.long))
