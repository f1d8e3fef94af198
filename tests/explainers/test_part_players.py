"""Explanations by edges, by features, and of the features of a motif."""

import gc
import itertools
import math
import pickle

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv

import mage
from mage.explainers import get
from tests.helpers.model_game import Plain, make_data
from tests.helpers.suites import long_case
from tests.helpers.typed_graphs import model_on, typed_graph


def model_and_graph():
    torch.manual_seed(3)
    return Plain(GCNConv).double().eval(), make_data().apply(lambda t: t.double() if t.is_floating_point() else t)


def test_motifs_of_edges():
    model, data = model_and_graph()
    explanation = mage.explain(model, data, players="edges", target=1, max_nodes=4, order=2, noise_floor=0)
    assert explanation.player_kind == "edges"
    links = {frozenset(pair) for pair in data.edge_index.T.tolist()}
    assert {frozenset(nodes) for nodes in explanation.players} == links
    assert len(explanation.motifs) > 0
    for motif in explanation.motifs:
        assert motif.nodes == tuple(sorted({node for edge in motif.edges for node in edge}))
        players = explanation.motif_players(motif)
        assert explanation.interactions.group(players) == pytest.approx(motif.score)
        assert len(explanation.interactions.graph.components(players)) == 1
    edges = {frozenset(edge) for motif in explanation.motifs for edge in motif.edges}
    assert 0 < len(edges) <= 4
    columns = [frozenset(pair) in edges for pair in data.edge_index.T.tolist()]
    assert explanation.edge_mask.tolist() == np.array(columns, dtype=float).tolist()
    assert set(np.flatnonzero(explanation.node_mask)) == {node for edge in edges for node in edge}
    first = explanation.motifs[0].edges[0]
    assert f"{first[0]}–{first[1]}" in repr(explanation)
    assert "edges" in explanation._repr_html_() or "–" in explanation._repr_html_()
    scores = dict(zip(map(tuple, data.edge_index.T.tolist()), explanation.edge_scores.tolist(), strict=True))
    assert all(scores[pair] == scores[pair[::-1]] for pair in scores)
    assert sum(scores.values()) / 2 == pytest.approx(explanation.node_scores.sum())
    assert explanation.to_dict()["motifs"][0]["edges"] == [list(edge) for edge in explanation.motifs[0].edges]


def test_a_deleted_edge_is_what_the_model_is_asked_about():
    model, data = model_and_graph()
    explanation = mage.explain(
        model, data, players="edges", target=1, index="shapley", order=1, method="permutation", output="logit"
    )
    total = explanation.consequences.prediction.value - explanation.consequences.baseline.value
    assert explanation.interactions.values.sum() == pytest.approx(total)
    with torch.no_grad():
        nothing = model(data.x, data.edge_index[:, :0], torch.zeros(data.num_nodes, dtype=torch.long))
    assert explanation.consequences.baseline.value == pytest.approx(float(nothing[0, 1]))


def test_features_of_all_nodes_equal_shapley_values_by_definition():
    model, data = model_and_graph()
    explanation = mage.explain(
        model, data, players="features", target=1, order=1, names=["a", "b", "c", "d"], output="logit"
    )
    assert explanation.names == ("a", "b", "c", "d")
    assert explanation.num_nodes == 4
    assert explanation.edge_index.shape == (2, 0)

    def worth(columns):
        features = torch.zeros_like(data.x)
        features[:, list(columns)] = data.x[:, list(columns)]
        with torch.no_grad():
            return float(model(features, data.edge_index, torch.zeros(data.num_nodes, dtype=torch.long))[0, 1])

    expected = np.zeros(4)
    for order in itertools.permutations(range(4)):
        for place, column in enumerate(order):
            expected[column] += (worth(order[: place + 1]) - worth(order[:place])) / math.factorial(4)
    assert explanation.node_scores == pytest.approx(expected, abs=1e-9)


def test_features_of_a_motif():
    model, data = model_and_graph()
    explanation = mage.explain(model, data, target=1, max_nodes=4, noise_floor=0, output="logit", masking="remove")
    features = explanation.features(0)
    nodes = list(explanation.motifs[0].nodes)
    assert features.nodes == tuple(nodes)
    assert explanation.features(explanation.motifs[0]) is features
    blank = data.x.clone()
    blank[nodes] = 0
    with torch.no_grad():
        batch = torch.zeros(data.num_nodes, dtype=torch.long)
        change = model(data.x, data.edge_index, batch) - model(blank, data.edge_index, batch)
    assert features.exact
    assert sum(features.values) == pytest.approx(features.total) == pytest.approx(float(change[0, 1]))
    assert "feature" in repr(features)
    assert explanation.to_dict()["features"][0]["nodes"] == nodes
    sampled = explanation.features(0, method="permutation", permutations=6)
    assert not sampled.exact
    assert max(sampled.std_error) > 0
    assert sum(sampled.values) == pytest.approx(features.total)
    assert len(explanation.motif_features) == 1


def test_an_explanation_holds_neither_model_nor_graph(tmp_path):
    model, data = model_and_graph()
    explanation = mage.explain(model, data, target=1)
    explanation.features([0, 2])
    explanation.save(tmp_path / "kept.mage")
    loaded = mage.load(tmp_path / "kept.mage")
    assert loaded.motif_features == explanation.motif_features
    assert loaded.features([0, 2]) == explanation.features([0, 2])
    with pytest.raises(ValueError, match="pass features"):
        loaded.features([1])
    assert loaded.features([1], model, data) == explanation.features([1])
    assert pickle.loads(pickle.dumps(explanation)).motif_features == explanation.motif_features  # noqa: S301
    del model
    gc.collect()
    with pytest.raises(ValueError, match="model and data"):
        explanation.features([3])


@pytest.mark.parametrize("wrong", [7, [], [99], [-1]])
def test_wrong_motifs_are_named(wrong):
    model, data = model_and_graph()
    with pytest.raises(ValueError, match="motif"):
        mage.explain(model, data, target=1).features(wrong)


def test_the_features_of_features_are_refused():
    model, data = model_and_graph()
    with pytest.raises(ValueError, match="by features already"):
        mage.explain(model, data, target=1, players="features").features([0])


@pytest.mark.parametrize("players", [long_case("edges"), "features"])
def test_they_are_kept_drawn_and_repeated(players, tmp_path):
    model, data = model_and_graph()
    explanation = mage.explain(model, data, target=1, players=players, noise_floor=0)
    explanation.save(tmp_path / "kept.mage")
    loaded = mage.load(tmp_path / "kept.mage")
    assert repr(loaded) == repr(explanation)
    assert loaded.motifs == explanation.motifs
    assert mage.explain(model, data, like=loaded).motifs == explanation.motifs
    explanation.save_html(tmp_path / "page.html")
    assert explanation.players_noun in (tmp_path / "page.html").read_text()
    explanation.plot().savefig(tmp_path / "plot.png")
    again = get("mage").explain(model, data, target=1, players=players, noise_floor=0)
    assert again.motifs == explanation.motifs
    with pytest.raises(ValueError, match="players"):
        get("random").explain(model, data, players=players)


@pytest.mark.parametrize("players", [long_case("edges"), "features"])
def test_of_too_many_the_strongest_play(players):
    model, data = model_and_graph()
    explanation = mage.explain(model, data, target=1, players=players, max_players=3, order=1, output="logit", tau=1.0)
    whole = mage.explain(model, data, target=1, players=players, order=1, output="logit")
    assert len(explanation.players) == 3 < len(whole.players)
    assert explanation.players_cap.players == len(whole.players)
    assert f"3 of {len(whole.players)} {players} play" in explanation.notes[0]
    total = explanation.consequences.prediction.value - explanation.consequences.baseline.value
    assert explanation.interactions.values.sum() == pytest.approx(total)


def test_many_typed_graphs_are_kept_and_read_again(tmp_path):
    graphs = [typed_graph(seed) for seed in range(2)]
    model, fields = model_on("to_hetero", graphs[0])
    first = list(mage.explain_many(model, graphs, folder=tmp_path, **fields))
    again = list(mage.explain_many(model, graphs, folder=tmp_path, **fields))
    assert [e.seconds for e in first] == [e.seconds for e in again]  # read, not computed
    assert len(list(tmp_path.iterdir())) == 2
    assert first[0].request.graph.node == ("paper", 2)
    first[0].save_html(tmp_path / "page.html", "Typed")
    assert "paper 2" in (tmp_path / "page.html").read_text()
    assert first[0].plot().axes


def test_typed_graphs_too():
    data = typed_graph()
    model, fields = model_on("to_hetero", data)
    nodes = mage.explain(model, data, **fields, noise_floor=0, max_nodes=4)
    assert nodes.subject.kinds == ("paper", "author", "venue")
    features = nodes.features([nodes.subject.number("author", 2), nodes.subject.number("paper", 2)])
    assert {name.partition(" ")[0] for name in features.names} == {"author", "paper"}
    edges = mage.explain(model, data, **fields, players="edges", noise_floor=0)
    assert "author 2–" in " ".join(edges.interactions.names) or "–author 2" in " ".join(edges.interactions.names)
    columns = mage.explain(model, data, **fields, players="features", order=1)
    assert columns.num_nodes == 9
