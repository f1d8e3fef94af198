"""Models as people write them: right against evaluation one by one, or refused by name; none silently wrong."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.utils import dropout_edge

import mage
from mage.games import ModelGame
from mage.graph import packing
from mage.testing import by_definition, random_game
from tests.helpers.zoo import ZOO
from tests.helpers.zoo_graphs import NODES, few_kinds, graph
from tests.helpers.zoo_habits import ONE_BY_ONE
from tests.helpers.zoo_models import Convolution

RIGHT = [name for name, case in ZOO.items() if not case.refusal]
REFUSED = [name for name, case in ZOO.items() if case.refusal]
PLAIN = [name for name in RIGHT if ZOO[name].data is graph and not ZOO[name].options.get("inputs")]


def made(case):
    torch.manual_seed(0)
    model = case.make()
    if isinstance(model, torch.nn.Module) and not isinstance(model, torch.jit.ScriptModule):
        model.eval()
        data = case.data()
        model.to(data.x.dtype if "x" in data else data.pos.dtype)
    return model


def game_of(case, model, data, always_warned=True):
    """The game, and that people are told of what is slow or stands in for something, and of nothing else.

    Where nodes are alike, what the model does wrong elsewhere may not happen; then there is nothing to say.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        game = ModelGame(
            model,
            data,
            masking=case.masking,
            **{"output": "logit", **case.options},
        )
        game.worth(np.ones((1, game.num_players), dtype=bool))  # asks for the empty graph too
    warnings_shown = [
        str(warning.message) for warning in said if re.search("one by one|baseline", str(warning.message))
    ]
    if case.warning and (warnings_shown or always_warned):
        assert warnings_shown
        assert case.warning in warnings_shown[0]
    else:
        assert not warnings_shown
    return game


def worth_one_by_one(case, model, data, mask):
    with torch.no_grad():
        return case.readout(case.ask(model, case.cut(data, torch.from_numpy(mask), case.masking)))


def all_coalitions(count):
    return (np.arange(2**count)[:, None] >> np.arange(count)) & 1 > 0


def test_the_zoo_is_large():
    assert len(ZOO) >= 270


def check(case, always_warned=True):
    """All coalitions, asked plainly and by states, and the index of order 2 by its definition."""
    data = case.data()
    model = made(case)
    game = game_of(case, model, data, always_warned)
    players = np.array([int(nodes[0]) for nodes in game.player_nodes])
    masks = all_coalitions(len(players))
    worths = game.worth(masks)
    rows = [int(np.flatnonzero(players == node)[0]) for node in game.target_nodes]
    answered = masks[:, rows].all(axis=1) if rows else masks.any(axis=1)
    present = np.ones((len(masks), NODES), dtype=bool)  # who does not play is present, and does not matter
    present[:, players] = masks
    expected = np.full(len(masks), game.baseline)
    expected[answered] = [worth_one_by_one(case, model, data, mask) for mask in present[answered]]
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(worths + game.baseline, expected, atol=case.tolerance * scale)
    assert np.ptp(expected) > 1e-6 * scale
    reference = random_game(len(players), game.graph.edges, table=expected - game.baseline)
    index = mage.interactions(game, order=2, method="exact")
    np.testing.assert_allclose(index.values, by_definition(reference, 2), atol=30 * case.tolerance * scale)
    if game.states is not None:
        # So few coalitions are asked for as they are; with more players these would be the worths.
        by_states = game._by_states(game.states, packing.pack(masks[1:]))
        np.testing.assert_allclose(by_states, expected[1:], atol=case.tolerance * scale)


@pytest.mark.parametrize("name", RIGHT)
def test_worths_are_those_of_one_graph_at_a_time(name):
    check(ZOO[name])


@pytest.mark.long
@pytest.mark.parametrize("masking", ["split", "remove"])
@pytest.mark.parametrize("name", PLAIN)
def test_worths_where_much_is_equal(name, masking):
    """The same models on nodes of two kinds, where states are shared and pools have ties."""
    warning = ONE_BY_ONE if name.startswith("mean with padding") and masking == "remove" else ZOO[name].warning
    check(replace(ZOO[name], data=few_kinds, masking=masking, warning=warning), always_warned=False)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_explained_is_refused_by_name(name):
    case = ZOO[name]
    with pytest.raises((ValueError, TypeError), match=case.refusal):
        ModelGame(
            made(case),
            case.data(),
            masking=case.masking,
            **{"output": "logit", **case.options},
        )


class SeldomLost(Convolution):
    """Edges are lost in evaluation too, but hardly ever."""

    def forward(self, x, edge_index, batch):
        return super().forward(x, dropout_edge(edge_index, 1e-12)[0], batch)


class Seeded(Convolution):
    """The same random numbers each time, which make no difference."""

    def forward(self, x, edge_index, batch):
        torch.manual_seed(4)
        return super().forward(x, edge_index, batch) + 0 * torch.rand(1)


@pytest.mark.parametrize(("make", "is_told"), [(SeldomLost, True), (Seeded, False), (Convolution, False)])
def test_random_numbers_that_have_made_no_difference_yet(make, is_told):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ModelGame(make().double().eval(), graph(), masking="remove", target=0, output="logit")
    assert any("draws random numbers" in str(warning.message) for warning in said) == is_told
