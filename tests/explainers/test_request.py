"""Requests at every entrance: accepted, kept with the explanation, and repeated from a file."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
import torch
from torch_geometric.explain import Explainer as PyGExplainer

import mage
from mage._core.conversion import NotStored
from mage.explainers import fields as fields_module
from mage.games.request import GraphRequest, ImageRequest, TextRequest
from mage.pyg import BaselineExplainer, MAGEExplainer
from tests.helpers.graph_models import Net, NodeNet, graph
from tests.helpers.pyg_models import GraphNet
from tests.helpers.pyg_models import graph as pyg_graph
from tests.helpers.sentences import EDGES, WORDS, Scores

SAMPLED = {"method": "permutation", "permutations": 6, "seed": 4, "tau": 0.4, "max_nodes": 3, "num_motifs": 2}
REQUESTS = (
    mage.IndexRequest(method="permutation", permutations=6, seed=4),
    mage.MotifRequest(tau=0.4, max_nodes=3, num_motifs=2),
)


def image():
    return torch.from_numpy(np.random.default_rng(0).uniform(size=(1, 8, 8))).float()


def image_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))


def net():
    torch.manual_seed(1)
    return Net().eval()


def explain_graph(*request, **options):
    return mage.explain(net(), graph(), request=request, progress=False, **options)


def explain_groups(*request, **options):
    groups = (
        {} if "like" in options else {"groups": [[0, 1, 2], [3, 4], [5, 6, 7], [8], [9, 10, 11]], "masking": "split"}
    )
    return mage.explain(net(), graph(), request=request, progress=False, **groups, **options)


def explain_node(*request, **options):
    torch.manual_seed(1)
    node = {} if "like" in options else {"node": 3}
    return mage.explain(NodeNet(4, 2).eval(), graph(), request=request, progress=False, **node, **options)


def explain_first_of_many(*request, **options):
    return next(mage.explain_many(net(), [graph()], request=request, **options))


def explain_sentence(*request, **options):
    edges = {} if "like" in options else {"edges": EDGES, "kind": "sentences"}
    return mage.explain_text(Scores(columns=2), WORDS, request=request, progress=False, **edges, **options)


def explain_picture(*request, **options):
    regions = {} if "like" in options else {"segments": np.arange(64).reshape(8, 8) // 6, "fill": image() / 2}
    return mage.explain_image(image_model(), image(), request=request, progress=False, **regions, **options)


def explain_by_method(*request, **options):
    return mage.explainers.get("mage").explain(net(), graph(), request, **options)


def explain_by_baseline(*request, **options):
    return mage.explainers.get("edgeshaper", num_samples=5).explain(net(), graph(), request, **options)


ENTRANCES = [
    explain_graph,
    explain_groups,
    explain_node,
    explain_first_of_many,
    explain_sentence,
    explain_picture,
    explain_by_method,
    explain_by_baseline,
]


def assert_same_numbers(one, other):
    assert one.motifs == other.motifs
    np.testing.assert_array_equal(one.interactions.values, other.interactions.values)
    np.testing.assert_array_equal(one.interactions.std_error, other.interactions.std_error)
    np.testing.assert_array_equal(one.prediction, other.prediction)
    np.testing.assert_array_equal(one.edge_scores, other.edge_scores)
    assert one.num_queries == other.num_queries


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_saved_explanation_is_repeated(entrance, tmp_path):
    first = entrance(**SAMPLED)
    first.save(tmp_path / "first.mage")
    again = entrance(like=mage.load(tmp_path / "first.mage"))
    assert_same_numbers(first, again)
    again.save(tmp_path / "again.mage")
    assert_same_numbers(first, entrance(like=mage.load(tmp_path / "again.mage").request))
    other = entrance(like=first, max_nodes=1)
    assert other.request.motifs.max_nodes == 1
    assert other.request.index == first.request.index
    assert len(other.motifs.nodes) <= 3 < len(first.players)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_requests_and_fields_are_two_ways_to_say_the_same(entrance):
    by_fields, by_requests = entrance(**SAMPLED), entrance(*REQUESTS)
    assert_same_numbers(by_fields, by_requests)
    for name in ("index", "motifs"):
        assert getattr(by_fields.request, name) == getattr(by_requests.request, name) in REQUESTS
    whole = mage.ExplainRequest(by_fields.request.model, *REQUESTS)
    assert_same_numbers(by_fields, entrance(whole))
    assert entrance(whole, tau=0.5).request.motifs.tau == 0.5


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_the_defaults_are_those_of_the_requests(entrance):
    request = entrance().request
    assert request.index == mage.IndexRequest()
    assert request.motifs == mage.MotifRequest()


def test_methods_keep_the_fields_of_their_own():
    method = mage.explainers.get("mage", permutations=5, method="permutation", tau=0.25)
    first = method.explain(net(), graph(), max_nodes=4, seed=3)
    assert (first.request.motifs.tau, first.request.motifs.max_nodes, first.request.index.permutations) == (0.25, 4, 5)
    assert_same_numbers(first, mage.explain(net(), graph(), like=first, progress=False))
    by_request = mage.explainers.get("mage", request=mage.IndexRequest(method="permutation", permutations=5, seed=3))
    assert by_request.explain(net(), graph(), max_nodes=4, tau=0.25).request == first.request


def pyg_explained(algorithm):
    torch.manual_seed(2)
    model, data = GraphNet().eval(), pyg_graph()
    explainer = PyGExplainer(
        model,
        algorithm=algorithm,
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    return explainer(data.x, data.edge_index, batch=torch.zeros(data.num_nodes, dtype=torch.long))


@pytest.mark.parametrize("make", [MAGEExplainer, lambda *a, **k: BaselineExplainer("mage", *a, **k)])
def test_pyg_repeats_too(make, tmp_path):
    torch.manual_seed(2)
    saved = mage.explain(GraphNet().eval(), pyg_graph(), progress=False, **SAMPLED)
    saved.save(tmp_path / "first.mage")
    first, by_requests = pyg_explained(make(**SAMPLED)), pyg_explained(make(REQUESTS))
    again = pyg_explained(make(like=mage.load(tmp_path / "first.mage")))
    assert first.motifs == again.motifs == by_requests.motifs
    assert torch.equal(first.interaction_value, again.interaction_value)
    assert pyg_explained(make(like=first)).motifs == first.motifs
    assert first.request.index == saved.request.index


def test_functions_must_be_given_again(tmp_path):
    def forward(model, data):
        return 2 * model(data.x, data.edge_index, data.batch)

    first = explain_graph(forward=forward, **SAMPLED)
    first.save(tmp_path / "first.mage")
    loaded = mage.load(tmp_path / "first.mage")
    assert isinstance(loaded.request.model.forward, NotStored)
    with pytest.raises(ValueError, match=r"forward: .*forward is not kept in files; pass forward= again"):
        explain_graph(like=loaded)
    assert_same_numbers(first, explain_graph(like=loaded, forward=forward))


def test_what_does_not_fit_is_refused():
    sentence = explain_sentence(**SAMPLED)
    with pytest.raises(TypeError, match="this input needs a GraphRequest, got a TextRequest"):
        explain_graph(like=sentence)
    assert explain_graph(sentence.request.index, sentence.request.motifs).request.index == sentence.request.index
    with pytest.raises(TypeError, match="like must be an explanation that keeps its request"):
        explain_graph(like="why.mage")
    with pytest.raises(TypeError, match="unknown option 'permutation'; did you mean 'permutations'"):
        explain_graph(permutation=3)
    with pytest.raises(TypeError, match="request must be GraphRequest, IndexRequest, MotifRequest or ExplainRequest"):
        explain_graph({"tau": 1})


@pytest.mark.parametrize(
    ("entrance", "kind", "typed"),
    [
        (mage.explain, GraphRequest, fields_module.OtherGraphFields),
        (mage.explain_text, TextRequest, fields_module.OtherTextFields),
        (mage.explain_image, ImageRequest, fields_module.OtherImageFields),
        (mage.explain_many, GraphRequest, fields_module.GraphFields),
        (mage.explainers.Explainer.explain, GraphRequest, fields_module.GraphFields),
        (mage.explainers.MAGE, GraphRequest, fields_module.GraphFields),
        (MAGEExplainer, GraphRequest, fields_module.GraphFields),
    ],
)
def test_entrances_take_every_field_once(entrance, kind, typed):
    arguments = set(inspect.signature(entrance).parameters)
    names = {field.name for part in (kind, mage.IndexRequest, mage.MotifRequest) for field in fields(part)}
    assert not arguments & typed.__annotations__.keys()
    not_fields = {"self", "model", "data", "sentence", "image", "graphs", "folder", "names", "class_names", "progress"}
    named = arguments - not_fields - {"request", "fields"}
    assert named | typed.__annotations__.keys() == names | {"like"}
    assert len(arguments - {"self", "model", "data", "sentence", "image", "request", "fields"}) <= 16
