"""Games on graphs with types of nodes: the same worths as one masked graph at a time."""

import warnings

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

from mage.games import ModelGame
from tests.helpers.typed_graphs import COUNTS, Rgcn, Tables, model_on, part_of, typed_graph

MODELS = ("to_hetero", "hgt", "hetero conv", "han", "rgcn", "graph", "link")


def answer(kind, model, part, present, masking):
    """What the model says of one masked graph, called as its author would."""

    def row(node_type, node):
        return int(present[node_type][:node].sum()) if masking == "remove" else node

    two, one = (part.x_dict, part.edge_index_dict), part.to_homogeneous()
    batch = {name: torch.zeros(len(x), dtype=torch.long) for name, x in part.x_dict.items()}
    link = torch.tensor([[row("author", 1)], [row("paper", 2)]])
    calls = {
        "to_hetero": lambda: model(*two)["paper"][row("paper", 2)],
        "hgt": lambda: model(*two)["author"][row("author", 1)],
        "hetero conv": lambda: model(part)[row("paper", 3)],
        "han": lambda: model(*two)[row("paper", 1)],
        "rgcn": lambda: model(one.x, one.edge_index, one.edge_type)[row("paper", 2)],
        "graph": lambda: model(*two, batch)[0],
        "link": lambda: model(*two, link),
    }
    with torch.no_grad():
        return calls[kind]()


def kept_nodes(game, mask):
    """For each type which nodes are present, players or not."""
    present = np.zeros(game.typed.num_nodes, dtype=bool)
    present[np.concatenate([game.player_nodes[player] for player in np.flatnonzero(mask)])] = True
    never = np.setdiff1d(np.arange(len(present)), np.concatenate(game.player_nodes))
    present[never] = True  # the output does not depend on them
    return dict(zip(game.typed.node_types, np.split(present, game.typed.node_starts[1:-1]), strict=True))


@pytest.mark.parametrize("masking", ["remove", "split", "zero", "mean"])
@pytest.mark.parametrize("kind", MODELS)
def test_worths_are_those_of_one_graph_at_a_time(kind, masking):
    data = typed_graph(width=4 if kind == "rgcn" else None)
    model, fields = model_on(kind, data)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # HAN weighs relations by means over all nodes, so it goes one by one
        game = ModelGame(model, data, masking=masking, **{"output": "logit", **fields})
    assert game.runner.one_by_one == (kind == "han")
    masks = np.random.default_rng(0).random((40, game.num_players)) < 0.6
    masks[:, game.target_players] = True
    if kind == "graph" and masking == "remove":
        # Without papers or authors a mean over nothing is the author's affair; the first graph has everybody.
        first = {game.typed.type_names[int(nodes[0])]: player for player, nodes in enumerate(game.player_nodes)}
        masks[:, list(first.values())] = True
    values = game.readings(masks, (game.readout,))[0]
    for mask, value in zip(masks, values, strict=True):
        present = kept_nodes(game, mask)
        expected = answer(kind, model, part_of(data, present, masking), present, masking)
        assert value == pytest.approx(float(expected.flatten()[game.target or 0]), abs=1e-9)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_pools_have_a_row_for_graphs_without_a_type():
    data = typed_graph()
    model, _ = model_on("graph", data)
    game = ModelGame(model, data, output="logit", masking="remove")
    papers = np.array([[game.typed.type_names[v] == "paper" for v in range(game.num_players)]])
    alone, both = game.readings(papers, (game.readout,))[0], game.readings(np.tile(papers, (3, 1)), (game.readout,))[0]
    assert both == pytest.approx([alone[0]] * 3, abs=1e-9)


@pytest.mark.parametrize("masking", ["remove", "split"])
def test_embeddings_go_with_their_nodes(masking):
    data = typed_graph()
    model, fields = model_on("tables", data)
    game = ModelGame(model, data, masking=masking, **{"output": "logit", **fields})
    assert {table.kind for table in game.runner.forward.tables} == {"paper", "author"}
    masks = np.random.default_rng(1).random((20, game.num_players)) < 0.6
    masks[:, game.target_players] = True
    values = game.readings(masks, (game.readout,))[0]
    features = typed_graph()
    for kind in COUNTS:
        features[kind].x = model.embeddings[kind].weight.detach()
    for mask, value in zip(masks, values, strict=True):
        present = kept_nodes(game, mask)
        part = part_of(features, present, masking)
        row = int(present["paper"][:2].sum()) if masking == "remove" else 2
        expected = model.inner(part.x_dict, part.edge_index_dict)["paper"][row, game.target]
        assert value == pytest.approx(float(expected.detach()), abs=1e-9)
    assert model.embeddings["paper"].weight.shape == (COUNTS["paper"], 4)
    assert isinstance(model, Tables)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"node": 2}, "node: nodes of a graph with types are pairs"),
        ({"node": ("editor", 0)}, "node: there is no type 'editor'"),
        ({"node": ("paper", 5)}, "node: paper 5 does not exist"),
        ({"node": ("paper", "x")}, "node: paper 'x' does not exist"),
        ({"edge": (1, 2)}, "edge: nodes of a graph with types are pairs"),
        ({}, "pass node="),
        ({"node": ("paper", 2), "masking": lambda graph, masks: None}, "masking must be one of"),
    ],
)
def test_what_typed_graphs_need_is_said(fields, words):
    data = typed_graph()
    model, _ = model_on("to_hetero", data)
    with pytest.raises(ValueError, match=words):
        ModelGame(
            model,
            data,
            **{"output": "logit", "masking": "remove", **fields},
        )


def test_plain_graphs_have_no_types():
    data = typed_graph(width=4).to_homogeneous()
    with pytest.raises(ValueError, match="data has no types"):
        ModelGame(Rgcn(), data, node=("paper", 2), output="logit", masking="remove")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: HeteroData(), "no nodes"),
        (lambda data: data["editor", "knows", "paper"].update({"edge_index": torch.zeros(2, 1).long()}), "editor"),
        (lambda data: data["paper", "cites", "paper"].update({"edge_index": torch.tensor([[0], [9]])}), "outside 0"),
        (lambda data: data["paper", "cites", "paper"].pop("edge_index"), "cites"),
    ],
)
def test_odd_typed_graphs_are_refused(change, words):
    data = typed_graph()
    model, fields = model_on("to_hetero", data)
    other = change(data)
    with pytest.raises(ValueError, match=words):
        ModelGame(
            model,
            other if isinstance(other, HeteroData) else data,
            **{"output": "logit", "masking": "remove", **fields},
        )
