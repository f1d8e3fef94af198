"""A masking is a function and an entry in the table; nothing else has to know it."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch

from mage._torch.conventions import MASKING_NAMES
from mage._torch.masking import CUTTING_EDGES, MASKINGS, REPLACING_FEATURES, masking_named, with_features_of_copies
from mage.games import ModelGame
from tests.helpers.layers import graph, network
from tests.helpers.precision import rounding
from tests.helpers.typed_graphs import model_on, typed_graph


def largest(data, masks):
    """Absent nodes have the largest value of each feature; all edges stay."""
    absent = data.node["x"].amax(dim=0, keepdim=True)
    return with_features_of_copies(data, torch.where(masks[:, :, None], data.node["x"], absent))


@pytest.fixture
def new_masking(monkeypatch):
    monkeypatch.setitem(MASKINGS, "largest", largest)
    return "largest"


def test_the_table_says_what_each_masking_does():
    assert set(MASKINGS.values()) == CUTTING_EDGES | REPLACING_FEATURES
    assert not CUTTING_EDGES & REPLACING_FEATURES


def test_a_new_masking_is_worth_what_one_graph_at_a_time_is_worth(new_masking):
    data, model = graph(nodes=7), network("GCN", "mean").eval()
    game = ModelGame(model, data, masking=new_masking, output="logit", target=0)
    masks = np.random.default_rng(0).random((40, 7)) < 0.5
    worths = game.worth(masks) + game.baseline
    for mask, worth in zip(masks, worths, strict=True):
        part = data.clone()
        part.x = torch.where(torch.from_numpy(mask)[:, None], data.x, data.x.amax(dim=0))
        batch = Batch.from_data_list([part])
        expected = model(batch.x, batch.edge_index, batch.edge_attr, batch.batch)[0, 0]
        assert worth == pytest.approx(float(expected.detach()), abs=rounding(worths))
    assert game.states is None  # what it does is not known, so nothing is shared
    assert game.masking == "largest"


def test_graphs_with_types_take_the_maskings_they_know_of(new_masking):
    data = typed_graph()
    model, fields = model_on("hgt", data)
    with pytest.raises(ValueError, match="one of remove, split, zero, mean for a graph with types"):
        ModelGame(model, data, masking=new_masking, **{"output": "logit", **fields})


def test_the_names_known_without_torch_are_those_of_the_table():
    assert set(MASKING_NAMES) == set(MASKINGS)


def test_a_name_that_is_close_is_suggested():
    with pytest.raises(ValueError, match="did you mean 'remove'"):
        masking_named("removed")
