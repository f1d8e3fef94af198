"""Odd inputs end in a right answer, or in an error that names the argument; none hangs or fails deep inside."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data, HeteroData
from typer.testing import CliRunner

import mage
from mage import Game, metrics
from mage.cli import app
from mage.explainers.fields import GraphFields
from mage.games import ModelGame
from mage.testing import random_game
from tests.helpers.odd_inputs import ODD, Net, check_outcome, graph

# Names and classes are given besides the fields of requests.
ARGUMENTS = [*GraphFields.__annotations__, "names", "class_names", "progress", "request"]


def test_there_are_many():
    assert len(ARGUMENTS) * len(ODD) > 900


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_arguments_of_explain(argument):
    plain = mage.explain(Net().eval(), graph(), progress=False)
    for value in ODD.values():
        call = {"progress": False} | {argument: value}
        explanation = check_outcome(lambda call=call: mage.explain(Net().eval(), graph(), **call), argument)
        if explanation is None:
            continue
        # Whatever was accepted is what it says: everything that the model adds up to is shared out.
        total = explanation.interactions.group(range(explanation.interactions.num_players))
        assert math.isfinite(total)
        first = int(value) if argument == "column" else 0
        assert explanation.prediction == pytest.approx(plain.prediction[first:][: len(explanation.prediction)])


GRAPHS = {
    "class": (Data, "data"),
    "None": (None, "data"),
    "text": ("graph", "data"),
    "list": ([graph()], "data"),
    "dictionary": (dict(graph().to_dict()), "data"),
    "hetero": (HeteroData(), "data"),
    "empty": (Data(), "data"),
    "edges as an array": (graph(edge_index=graph().edge_index.numpy()), "edge_index"),
    "edges as a list": (graph(edge_index=graph().edge_index.tolist()), "edge_index"),
    "sparse edges": (graph(edge_index=torch.eye(5).to_sparse()), "edge_index"),
    "edges as floats": (graph(edge_index=graph().edge_index.float()), "edge_index"),
    "edges transposed": (graph(edge_index=graph().edge_index.T), "edge_index"),
    "edges to nowhere": (graph(edge_index=torch.tensor([[0], [77]])), "edge_index"),
    "negative edges": (graph(edge_index=torch.tensor([[0], [-1]])), "edge_index"),
    "no edges": (graph(edge_index=None), "edge_index"),
    "flat edges": (graph(edge_index=torch.arange(4)), "edge_index"),
    "features as an array": (graph(x=np.ones((5, 3), dtype=np.float32)), "x"),
    "features as a list": (graph(x=[[1.0, 2.0, 3.0]] * 5), "x"),
    "sparse features": (graph(x=torch.ones(5, 3).to_sparse()), "x"),
    "features of too few": (graph(x=torch.ones(3, 3), num_nodes=5), "x"),
    "a single number": (graph(x=torch.tensor(1.0)), "x"),
    "too narrow": (graph(x=torch.ones(5, 2)), "model"),
    "whole numbers": (graph(x=torch.ones(5, 3, dtype=torch.long)), "model"),
    "more nodes than rows": (graph(num_nodes=8), "num_nodes"),
    "weights as a list": (graph(edge_weight=[1.0]), "edge_weight"),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name):
    data, argument = GRAPHS[name]
    assert check_outcome(lambda: mage.explain(Net().eval(), data), argument) is None
    assert check_outcome(lambda: list(mage.explain_many(Net().eval(), [data])), argument) is None
    assert check_outcome(lambda: ModelGame(Net().eval(), data, output="logit", masking="remove"), argument) is None


def test_an_attribute_with_the_name_of_python():
    data = graph()
    data["self"] = torch.ones(5)
    assert check_outcome(lambda: mage.explain(Net().eval(), data), "self") is None


MODELS = {
    "None": None,
    "number": 5,
    "class": Net,
    "linear": nn.Linear(3, 2),
    "decisions": lambda x, edge_index, batch: Net()(x, edge_index, batch) > 0,
    "complex": lambda x, edge_index, batch: Net()(x, edge_index, batch) * 1j,
    "nothing": lambda x, edge_index, batch: None,
    "text": lambda x, edge_index, batch: "yes",
    "empty": lambda x, edge_index, batch: x[:0],
    "cube": lambda x, edge_index, batch: x[None],
    "empty tuple": lambda x, edge_index, batch: (),
    "failing": lambda x, edge_index, batch: x @ x,
    "needing more": lambda x, edge_index, teapot, batch: x,
    "no forward": nn.Module(),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    assert check_outcome(lambda: mage.explain(MODELS[name], graph()), "model") is None
    assert check_outcome(lambda: ModelGame(MODELS[name], graph(), output="logit", masking="remove"), "model") is None


@pytest.mark.parametrize("value", [*ODD, "no function"])
def test_functions_of_the_user(value):
    odd_value = ODD.get(value)
    for argument in ("forward", "masking"):
        for function in (odd_value, lambda *_: odd_value):
            fields = {argument: function}
            check_outcome(lambda fields=fields: mage.explain(Net().eval(), graph(), **fields), argument, "model")


def by_size(masks):
    return masks.sum(axis=1)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("argument", ["num_players", "edges", "names", "value_fn", "baseline", "batch_size"])
def test_games(argument, value):
    fields = {"value_fn": by_size, "num_players": 4} | {argument: ODD[value]}
    game = check_outcome(lambda: Game(**fields), argument)
    if game is not None and game.num_players < 100 and argument != "value_fn":
        assert game.worth(np.ones((1, game.num_players), dtype=bool))[0] == game.num_players - game.baseline


def test_more_players_than_memory():
    for count in (10**9, 200_000):
        with pytest.raises(ValueError, match="num_players"):
            Game(by_size, count)


@pytest.mark.parametrize("value", ODD)
def test_interactions_of_odd_players(value):
    index = mage.interactions(random_game(4), order=2)
    answer = check_outcome(lambda: index[ODD[value]], "players", "player", "index", "covers")
    assert answer is None or math.isfinite(answer)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("argument", ["interactions", "edges"])
def test_motifs_of_odd_matrices(argument, value):
    fields = {"interactions": np.eye(3), "edges": [(0, 1)]} | {argument: ODD[value]}
    motifs = check_outcome(lambda: mage.find_motifs(**fields, max_nodes=2), argument)
    assert motifs is None or math.isfinite(motifs.objective)


@pytest.mark.parametrize("value", ODD)
def test_metrics(value):
    odd, game = ODD[value], random_game(5)
    truth = np.array([True, False, True, False, False])
    for call, argument in (
        (lambda: metrics.fidelity(odd, [0]), "game"),
        (lambda: metrics.fidelity(game, odd), "nodes"),
        (lambda: metrics.robust_fidelity(game, [0], odd), "alpha"),
        (lambda: metrics.robust_fidelity(game, [0], samples=odd), "samples"),
        (lambda: metrics.node_f1(odd, truth), "nodes"),
        (lambda: metrics.node_f1([0], odd), "truth"),
        (lambda: metrics.edge_auc(odd, truth), "scores|truth"),
        (lambda: metrics.edge_auc(np.arange(5.0), odd), "truth"),
    ):
        check_outcome(call, argument)


def test_truths_that_are_no_truths():
    with pytest.raises(ValueError, match="truth"):
        metrics.edge_auc(np.array([0.1, 0.2]), np.array([2, 0]))
    with pytest.raises(ValueError, match="groups"):
        mage.explain(Net().eval(), graph(), groups=[math.nan] * 5)
    with pytest.raises(ValueError, match="connected"):
        mage.explain(Net().eval(), graph(), connected="no")
    with pytest.raises(TypeError, match="interactions"):
        mage.find_motifs(np.eye(3) * 1j, edges=[(0, 1)])


BY_NAME = {
    "target": [math.nan, [1]],
    "masking": [5, lambda graph, masks: None],
    "forward": [5, lambda model, data: None],
    "names": [5],
    "baseline": ["0"],
    "num_motifs": [10**9],
    "num_hops": [1.5, "2", math.nan],
    "groups": [[math.nan] * 5],
    "connected": ["no"],
}


@pytest.mark.parametrize("argument", BY_NAME)
def test_mistakes_that_people_have_made(argument):
    for value in BY_NAME[argument]:
        fields = {"progress": False} | ({"node": 0} if argument == "num_hops" else {}) | {argument: value}
        explanation = check_outcome(
            lambda fields=fields: mage.explain(Net().eval(), graph(), **fields), argument, "model"
        )
        # A billion motifs are as many as there are.
        assert explanation is None or argument == "num_motifs"


def test_nothing_in_the_place_of_something():
    index, game = mage.interactions(random_game(4), order=2), random_game(5)
    for call, argument in (
        (lambda: Game(by_size, None), "num_players"),
        (lambda: Game(by_size, math.nan), "num_players"),
        (lambda: Game(None, 3), "value_fn"),
        (lambda: Game(by_size, 3, edges=[(0, 1), (2,)]), "edges"),
        (lambda: index[None], "players|player|index|covers"),
        (lambda: metrics.fidelity(None, [0]), "game"),
        (lambda: metrics.fidelity(game, None), "nodes"),
        (lambda: mage.find_motifs(None, edges=[(0, 1)]), "interactions"),
        (lambda: mage.explain(None, graph()), "model"),
        (lambda: mage.explain(Net().eval(), None), "data"),
    ):
        assert check_outcome(call, argument) is None


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_files_without_a_name(path):
    explanation = mage.explain(Net().eval(), graph())
    with pytest.raises(ValueError, match="path"):
        explanation.save(path)


@pytest.mark.parametrize("path", [0, 1.5, b"file", [], {}])
def test_paths_that_are_none(path):
    explanation = mage.explain(Net().eval(), graph())
    for call in (
        lambda: explanation.save(path),
        lambda: explanation.save_html(path),
        lambda: mage.load(path),
        lambda: list(mage.explain_many(Net().eval(), [graph()], folder=path)),
    ):
        assert check_outcome(call, "path", "folder") is None


def test_edges_that_were_emptied(tmp_path):
    explanation = mage.explain(Net().eval(), graph())
    file = tmp_path / "index.npz"
    explanation.interactions.save(file)
    with np.load(file) as archive:
        arrays = dict(archive)
    arrays["edges"] = np.zeros(0, dtype=np.int64)
    with file.open("wb") as stream:
        np.savez(stream, **arrays)
    with pytest.raises(ValueError, match="edges must have shape"):
        mage.Interactions.load(file)


@pytest.mark.parametrize(
    ("graphs", "argument"), [(None, "graphs"), (5, "graphs"), ([None], "data"), (["a"], "data"), ([[]], "data")]
)
def test_many(graphs, argument):
    assert check_outcome(lambda: list(mage.explain_many(Net().eval(), graphs)), argument) is None


def test_an_option_of_datasets_that_there_is_not():
    result = CliRunner().invoke(app, ["datasets", "--only", "nope"])
    assert result.exit_code == 2
    assert "--only" in result.output


@pytest.mark.parametrize("options", [["nope"], ["--check", "nope"], ["ba_2motifs", "nope"]])
def test_datasets_that_there_are_not(options):
    result = CliRunner().invoke(app, ["datasets", *options])
    assert result.exit_code == 2
    assert "no dataset 'nope'" in result.output
