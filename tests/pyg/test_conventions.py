"""What PyG asks of its own explanation algorithms: every mask, mode, level, return type and index it knows."""

import itertools

import pytest
import torch
from torch import nn
from torch_geometric.explain import Explainer, unfaithfulness
from torch_geometric.nn import AttentiveFP, ChebConv, GCNConv, TransformerConv, global_add_pool

from mage.pyg import MAGEExplainer
from tests.helpers.pyg_models import long_but_some

RETURNED = {
    "binary_classification": ("raw", "probs"),
    "multiclass_classification": ("raw", "probs", "log_probs"),
    "regression": ("raw",),
}
INDICES = {"all": None, "one": 2, "several": torch.arange(3)}
NODES, CLASSES = 8, 7
LINKS = torch.tensor([[0, 1, 2], [3, 4, 5]])


class LevelNet(nn.Module):
    """Two layers and a head for nodes, links or the graphs of a batch, with the scores that a configuration names."""

    def __init__(self, conv, mode, level, returned):
        super().__init__()
        self.mode, self.level, self.returned = mode, level, returned
        self.first, self.second = conv(3, 16), conv(16, CLASSES if mode.startswith("multi") else 1)

    def forward(self, x, edge_index, batch=None, edge_label_index=None):
        x = self.second(self.first(x, edge_index).relu(), edge_index)
        if self.level == "graph":
            x = global_add_pool(x, batch)
        elif self.level == "edge":
            x = x[edge_label_index[0]] * x[edge_label_index[1]]
        if self.returned == "raw":
            return x
        if self.mode.startswith("binary"):
            return x.sigmoid()
        return x.softmax(dim=-1) if self.returned == "probs" else x.log_softmax(dim=-1)


class Untrained(nn.Module):
    """One number for everything that it is given, without a batch."""

    def forward(self, x, edge_index):
        return x.mean().view(-1)


def path():
    """A path of eight nodes, cut into three graphs by a batch that ignores its edges."""
    ends = torch.stack([torch.arange(NODES - 1), torch.arange(1, NODES)])
    return torch.randn(NODES, 3), torch.cat([ends, ends.flip(0)], dim=1), torch.tensor([0, 0, 0, 1, 1, 2, 2, 2])


def explained(model, x, edge_index, mode, level, returned, *, masks, kind="model", threshold=None, **kwargs):
    explain = Explainer(
        model,
        algorithm=MAGEExplainer(num_motifs=1, max_nodes=3, order=2),
        explanation_type=kind,
        node_mask_type=masks[0],
        edge_mask_type=masks[1],
        model_config={"mode": mode, "task_level": level, "return_type": returned},
        threshold_config=threshold,
    )
    explanation = explain(x, edge_index, **kwargs)
    assert explain.algorithm.node_mask is None
    assert explain.algorithm.edge_mask is None
    return explain, explanation


def check(explanation, x, edge_index, masks):
    shapes = {
        "object": (len(x), 1),
        "attributes": tuple(x.shape),
        "common_attributes": (1, x.size(1)),
    }
    assert explanation.validate()
    for name, shape in (("node_mask", shapes.get(masks[0])), ("edge_mask", masks[1] and (edge_index.size(1),))):
        if shape is None:
            assert name not in explanation
        else:
            assert tuple(explanation[name].shape) == shape
            assert 0 <= float(explanation[name].min()) <= float(explanation[name].max()) <= 1


def settings():
    """All settings that PyG's tests of its algorithms go through."""
    masks = list(itertools.product(("object", "common_attributes", "attributes"), ("object", None)))
    masks.append((None, "object"))
    for conv, mode in itertools.product((GCNConv, TransformerConv), RETURNED):
        if conv is GCNConv or mode.startswith("binary"):
            for rest in itertools.product(RETURNED[mode], ("node", "edge", "graph"), ("model", "phenomenon"), masks):
                for index in INDICES:
                    yield (conv, mode, *rest, index)


def name_of(setting):
    conv, *rest, masks, index = setting
    return "-".join([conv.__name__, *rest, *map(str, masks), index])


EVERYTHING = list(settings())
SAMPLE = EVERYTHING[::29]


def check_setting(conv, mode, returned, level, kind, masks, index):
    x, edge_index, batch = path()
    model = LevelNet(conv, mode, level, returned)
    extras = {"batch": batch, "edge_label_index": LINKS}
    target = None
    if kind == "phenomenon":
        with torch.no_grad():
            out = model(x, edge_index, **extras)
        middle = 0.5 if returned == "probs" else 0.0
        target = {
            "binary_classification": (out > middle).long().view(-1),
            "multiclass_classification": out.argmax(dim=-1),
            "regression": out,
        }[mode]
    extras |= {"target": target, "index": INDICES[index]}
    _, explanation = explained(model, x, edge_index, mode, level, returned, masks=masks, kind=kind, **extras)
    check(explanation, x, edge_index, masks)
    rows = {"all": {"node": NODES, "edge": 3, "graph": 3}[level], "one": 1, "several": 3}[index]
    assert len(explanation.explanations) == rows


def test_the_number_of_settings():
    assert len(EVERYTHING) == (432 + 324 + 108) * 7 // 6  # six pairs of masks there, and edges alone


@pytest.mark.parametrize("setting", long_but_some(EVERYTHING, SAMPLE), ids=name_of)
def test_all_settings(setting):
    check_setting(*setting)


def test_a_layer_as_the_model():
    x, edge_index, _ = path()
    masks = ("object", "object")
    _, explanation = explained(
        ChebConv(3, 1, K=2), x, edge_index, "binary_classification", "node", "raw", masks=masks, index=None
    )
    check(explanation, x, edge_index, masks)


def test_rows_of_graphs_where_nodes_were_declared():
    x, edge_index, batch = path()
    model = AttentiveFP(3, 16, 1, edge_dim=5, num_layers=2, num_timesteps=2)
    extras = {"edge_attr": torch.randn(edge_index.size(1), 5), "batch": batch}
    for masks in (("object", "object"), (None, "object")):
        _, explanation = explained(model, x, edge_index, "binary_classification", "node", "raw", masks=masks, **extras)
        check(explanation, x, edge_index, masks)
        assert explanation.motif_row.max() <= 2


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
@pytest.mark.parametrize("target", [None, torch.randn(2, generator=torch.Generator().manual_seed(0))])
def test_targets_of_regressions(kind, target):
    x, edge_index, _ = path()
    arguments = (Untrained(), x, edge_index, "regression", "graph", None)
    if target is None and kind == "phenomenon":
        with pytest.raises(ValueError, match="'target' has to be provided"):
            explained(*arguments, masks=("attributes", None), kind=kind)
        return
    argument = target if kind == "phenomenon" else None
    _, explanation = explained(*arguments, masks=("attributes", None), kind=kind, target=argument)
    assert arguments[0].training
    assert {"x", "edge_index", "target"} <= set(explanation.keys())
    assert explanation.available_explanations == ["node_mask"]


@pytest.mark.parametrize("nodes", ["object", "attributes", "common_attributes"])
@pytest.mark.parametrize("count", [1, 5, 10])
@pytest.mark.parametrize("kind", ["topk", "topk_hard"])
def test_topk_keeps_that_many(kind, count, nodes):
    x, edge_index, _ = path()
    masks = (nodes, "object")
    _, explanation = explained(
        Untrained(), x, edge_index, "regression", "graph", None, masks=masks, threshold=(kind, count)
    )
    for name in ("node_mask", "edge_mask"):
        mask = explanation[name]
        inside = mask == 1 if kind == "topk_hard" else mask > 0
        assert int(inside.sum()) == min(mask.numel(), count)
        assert int((mask == 0).sum()) == mask.numel() - min(mask.numel(), count)


@pytest.mark.parametrize("value", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("nodes", ["object", "attributes"])
def test_hard_thresholds(value, nodes):
    x, edge_index, _ = path()
    _, explanation = explained(
        Untrained(), x, edge_index, "regression", "graph", None, masks=(nodes, "object"), threshold=("hard", value)
    )
    for name in ("node_mask", "edge_mask"):
        assert set(explanation[name].unique().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("top_k", [None, 2])
@pytest.mark.parametrize("kind", ["model", "phenomenon"])
@pytest.mark.parametrize("returned", RETURNED["multiclass_classification"])
@pytest.mark.parametrize("nodes", ["attributes", "common_attributes"])
def test_unfaithfulness_of_attribute_masks(nodes, returned, kind, top_k):
    x, edge_index, _ = path()
    model = LevelNet(GCNConv, "multiclass_classification", "node", returned)
    target = torch.arange(NODES) % CLASSES if kind == "phenomenon" else None
    explain, explanation = explained(
        *(model, x, edge_index, "multiclass_classification", "node", returned),
        masks=(nodes, "object"),
        kind=kind,
        target=target,
        index=torch.arange(4),
    )
    assert 0 <= unfaithfulness(explain, explanation, top_k) <= 1


def test_pictures_of_feature_importance(tmp_path):
    x, edge_index, _ = path()
    model = LevelNet(GCNConv, "regression", "graph", "raw")
    for nodes in ("attributes", "common_attributes"):
        _, explanation = explained(model, x, edge_index, "regression", "graph", None, masks=(nodes, "object"))
        explanation.visualize_feature_importance(str(tmp_path / f"{nodes}.png"), feat_labels=["a", "b", "c"], top_k=2)
        assert (tmp_path / f"{nodes}.png").stat().st_size > 1000
