"""Odd inputs to results of indices and to metrics: right answers, or errors that name the argument."""

import math

import numpy as np
import pytest

import mage
from mage import metrics
from mage.testing import random_game
from tests.helpers.odd_inputs import PATH, VALUES, Net, check_outcome, graph

TRUTH = np.array([True, False, True, False, False])
SIGNS = np.array([1, -1, 0, 0, 0])
FIELDS = {
    "index": "shapley-taylor",
    "order": 1,
    "graph": mage.PlayerGraph(5, PATH),
    "values": np.ones(5),
    "std_error": np.zeros(5),
    "exact": True,
    "method": "exact",
    "num_queries": 3,
    "num_permutations": 0,
    "names": (),
    "stopped": "",
    "error_parts": None,
    "num_samples": 0,
    "reason": "",
}


@pytest.mark.parametrize("field", FIELDS)
def test_fields_of_interactions(field):
    for value in VALUES.values():
        index = check_outcome(
            lambda value=value: mage.Interactions(**FIELDS | {field: value}), field, "values", "std_error"
        )
        if index is not None:
            assert "5 players" in repr(index)


@pytest.mark.parametrize("name", VALUES)
def test_methods_of_interactions(name):
    index, value = mage.interactions(random_game(5, PATH), order=2), VALUES[name]
    players = ("players", "player", "index", "covers")
    for call, *arguments in (
        (lambda: index.of_size(value), "size"),
        (lambda: index.error(value), *players),
        (lambda: index.group(value), *players),
        (lambda: index.group_error(value), *players),
        (lambda: index.group_error([0], value), "tau"),
        (lambda: index.redrawn(value), "generator"),
        (lambda: index.top(value), "count"),
        (lambda: index.top(3, value), "size"),
        (lambda: index.top(3, None, value), "sign"),
        (lambda: mage.Interactions.from_shapiq(value), "values"),
    ):
        check_outcome(call, *arguments)


def test_masks_of_other_shapes_are_no_groups():
    index = mage.interactions(random_game(5, PATH), order=2)
    assert index.group(TRUTH) == index.group([0, 2])
    for mask in (TRUTH[:4], np.stack([TRUTH, ~TRUTH])):
        with pytest.raises(ValueError, match="players must be a mask"):
            index.group(mask)


def test_arithmetic():
    index = mage.interactions(random_game(5, PATH), order=2)
    assert (index / 2 + index / 2).values == pytest.approx(index.values)
    assert (index - index).values == pytest.approx(0.0)
    for value in (np.ones(3), "a", None, [1]):
        for call in (lambda v=value: index + v, lambda v=value: index - v, lambda v=value: v - index):
            with pytest.raises(TypeError, match=r"unsupported operand|does not support ufuncs"):
                call()
    for factor in (math.nan, math.inf):
        with pytest.raises(ValueError, match="factor"):
            _ = index * factor
    with pytest.raises(ValueError, match="divisor"):
        _ = index / 0


@pytest.mark.parametrize("name", VALUES)
def test_metrics(name):
    value, game = VALUES[name], random_game(5, PATH)
    explanation = mage.explain(Net().eval(), graph(), progress=False)
    case = metrics.ExplainedGraph(Net().eval(), graph(), explanation)
    for call, *arguments in (
        (lambda: metrics.ami(value, [0, 1, 0, 0, 0]), "motifs", "truth", "num_nodes"),
        (lambda: metrics.ami(explanation, value), "motifs", "truth", "num_nodes"),
        (lambda: metrics.motif_iou([[0, 1]], [[0]], value), "num_nodes", "motifs"),
        (lambda: metrics.motif_iou(explanation, [[0]], value), "num_nodes", "motifs"),
        (lambda: metrics.node_f1([0], [0], value), "num_nodes"),
        (lambda: metrics.signed_f1(value, [1], SIGNS), "positive"),
        (lambda: metrics.signed_f1([0], value, SIGNS), "negative"),
        (lambda: metrics.signed_f1([0], [1], value), "signs", "positive", "negative"),
        (lambda: metrics.sparsity(value, 5), "nodes"),
        (lambda: metrics.sparsity([0], value), "num_nodes"),
        (lambda: metrics.summarise(value), "values"),
        (lambda: metrics.find_metric(value), "name", "metrics"),
        (lambda: metrics.metrics_for(value), "case"),
        (lambda: metrics.measure_case(value, ["f1"]), "case"),
        (lambda: metrics.measure_case(case, value), "names", "name", "metrics"),
        (lambda: metrics.robust_fidelity(game, [0], seed=value, samples=10), "seed"),
    ):
        check_outcome(call, *arguments)
