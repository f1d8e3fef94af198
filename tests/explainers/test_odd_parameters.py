"""Odd parameters of explainers: right, or refused by name before anything is computed."""

import inspect

import pytest

from mage import explainers
from tests.helpers.odd_inputs import VALUES, Net, check_outcome, graph

NAMES = ["GNNExplainer", "SubgraphX", "SAME", "EdgeSHAPer", "RandomNodes", "PGExplainer", "GStarX"]
PARAMETERS = [
    (name, parameter) for name in NAMES for parameter in inspect.signature(getattr(explainers, name)).parameters
]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_parameters(name, parameter):
    make = getattr(explainers, name)
    for value in VALUES.values():
        explainer = check_outcome(lambda value=value: make(**{parameter: value}), parameter)
        assert explainer is None or getattr(explainer, parameter) is not None or value is None


@pytest.mark.parametrize("name", VALUES)
def test_names_and_graphs(name):
    value, chooser = VALUES[name], explainers.get("random")
    for call, *arguments in (
        (lambda: explainers.get(value), "name"),
        (lambda: explainers.EdgeSearch(value), "scores", "name"),
    ):
        check_outcome(call, *arguments)
    if not hasattr(value, "edge_index"):
        assert check_outcome(lambda: chooser.explain(Net().eval(), value), "data") is None
    if not callable(value):
        assert check_outcome(lambda: explainers.register("mine", value), "make") is None
    for trained in ("pgexplainer", "gstarx", "matchexplainer", "refine"):
        assert (
            check_outcome(lambda trained=trained: explainers.get(trained).fit(Net().eval(), value), "dataset") is None
        )


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("GNNExplainer", "lr", 10**100),
        ("GNNExplainer", "edge_size", -1e40),
        ("GNNExplainer", "edge_ent", 1e40),
        ("SubgraphX", "samples", 10**9),
        ("SAME", "samples", 10**9),
        ("EdgeSHAPer", "num_samples", 10**9),
    ],
)
def test_numbers_that_no_memory_or_precision_holds(name, parameter, value):
    with pytest.raises(ValueError, match=f"{parameter} must be at most"):
        getattr(explainers, name)(**{parameter: value})


@pytest.mark.parametrize("name", ["SubgraphX", "SAME"])
def test_more_hops_than_nodes_reach_all_of_them(name):
    make = getattr(explainers, name)
    one, other = (make(hops=hops, rollouts=2).explain(Net().eval(), graph(), num_motifs=1) for hops in (5, 10**9))
    assert one.motifs.nodes == other.motifs.nodes
