"""Odd inputs to games, interactions, motifs and metrics of groups: right answers, or errors that name the argument."""

import math

import numpy as np
import pytest

import mage
from mage import metrics
from mage.graph import PlayerGraph
from mage.motifs import MotifRequest
from mage.testing import random_game
from tests.helpers.odd_inputs import VALUES, Net, check_outcome, graph
from tests.helpers.typed_graphs import model_on, typed_graph

INDEX = ["order", "budget", "permutations", "samples", "orderings", "callback", "progress", "request", "until"]
MOTIFS = [*MotifRequest.__dataclass_fields__, "request", "least_nodes", "effects"]


def test_there_are_many():
    assert len(VALUES) * (len(INDEX) + len(MOTIFS) + 12) > 1000


@pytest.mark.parametrize("argument", INDEX)
def test_interactions(argument):
    game = random_game(5)
    for value in VALUES.values():
        call = {argument: value}
        index = check_outcome(lambda call=call: mage.interactions(game, **call), argument)
        if index is not None and index.exact:
            assert index.group(range(5)) == pytest.approx(game.total)


@pytest.mark.parametrize("argument", MOTIFS)
def test_motifs(argument):
    index = mage.interactions(random_game(5), order=2)
    for value in VALUES.values():
        call = {argument: value}
        motifs = check_outcome(lambda call=call: mage.find_motifs(index, **call), argument)
        assert motifs is None or math.isfinite(motifs.objective)


@pytest.mark.parametrize("name", VALUES)
def test_coalitions_and_groups(name):
    value, game = VALUES[name], random_game(5)
    index, everyone = mage.interactions(game, order=2), np.eye(5, dtype=bool)
    for call, *arguments in (
        (lambda: game.worth(value), "coalitions", "player", "players"),
        (lambda: game.outcomes(value), "coalitions", "player", "players"),
        (lambda: game.restricted_worth(value), "coalitions", "player", "players"),
        (lambda: game.describe(value), "coalition", "coalitions", "player", "players"),
        (lambda: index.group([0, 1], value), "tau"),
        (lambda: metrics.infidelity(value, index, everyone), "game"),
        (lambda: metrics.infidelity(game, value, everyone), "interactions"),
        (lambda: metrics.infidelity(game, index, value), "groups"),
        (lambda: metrics.group_attributions(value, everyone), "interactions"),
        (lambda: metrics.group_attributions(index, value), "groups"),
    ):
        check_outcome(call, *arguments)


@pytest.mark.parametrize("argument", ["graph", "count", "sizes", "connected", "seed"])
def test_random_groups(argument):
    for value in VALUES.values():
        fields = {"graph": PlayerGraph(5, [(0, 1), (1, 2)]), "count": 3} | {argument: value}
        groups = check_outcome(lambda fields=fields: metrics.random_groups(**fields), argument)
        assert groups is None or groups.shape == (fields["count"], groups.shape[1])


@pytest.mark.parametrize("name", VALUES)
def test_graphs_and_what_is_kept_of_them(name, tmp_path):
    value, model = VALUES[name], Net().eval()
    explanation = mage.explain(model, graph(), progress=False)
    explanation.save(tmp_path / "kept.mage")
    typed = typed_graph()
    typed_model, place = model_on("to_hetero", typed)

    def with_value(kind, key):
        changed = typed.clone()
        changed[kind][key] = value
        return mage.explain(typed_model, changed, **place, order=2)

    for call, *arguments in (
        (lambda: mage.explain(model, graph(num_nodes=value)), "num_nodes", "x"),
        (lambda: with_value("paper", "num_nodes"), "num_nodes", "x"),
        (lambda: with_value("paper", "x"), "x", "num_nodes", "edge_index", "data"),
        (lambda: with_value(("author", "writes", "paper"), "edge_index"), "edge_index", "data"),
        (lambda: list(mage.explain_many(model, [graph()], progress=value)), "progress"),
        (lambda: explanation.features(value), "motif"),
        (lambda: mage.load(tmp_path / "kept.mage", value), "max_bytes"),
        (lambda: mage.save_html(value, tmp_path / "page.html"), "explanations"),
    ):
        check_outcome(call, *arguments)


def test_a_set_of_nobody_has_a_name():
    game = random_game(5)
    assert game.describe([]) == "the empty coalition"
    assert game.describe(()) == "the empty coalition"
