import math
from types import SimpleNamespace

import pytest

from mage.experiments.spec import experiment_names, load_experiment
from mage.metrics import METRICS, ExplainedGraph, GroupPredictions, Metric, find_metric, metrics_for, register
from tests.helpers.metrics import explained_path


def test_headings_point_to_the_better_side():
    assert METRICS["f1"].heading == "F1 ↑"
    assert METRICS["queries"].heading == "queries ↓"
    assert METRICS["sparsity"].heading == "sparsity"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("f1", 0.12345, "0.123"),
        ("queries", 812.4, "812"),
        ("queries", 20_000.0, "20.0K"),
        ("seconds", 1.2345, "1.23"),
        ("f1", math.nan, "–"),
        ("f1", None, "–"),
    ],
)
def test_figures_have_as_many_digits_as_they_deserve(name, value, text):
    assert METRICS[name].text(value) == text


def test_a_record_has_the_fields_of_its_metric():
    plain = Metric("size", "size", lambda case: case.size)
    assert plain.record(SimpleNamespace(size=3.0)) == {"size": 3.0}
    metric = Metric("size", "size", lambda case: {"size": case.size, "half": case.size / 2}, fields=("half",))
    assert metric.record(SimpleNamespace(size=3.0)) == {"size": 3.0, "half": 1.5}


def test_names_are_taken_once():
    with pytest.raises(ValueError, match="there is a metric 'f1' already"):
        register("f1", "another")
    fields = [name for metric in METRICS.values() for name in (metric.name, *metric.fields)]
    assert len(fields) == len(set(fields))


def test_each_kind_of_case_has_its_metrics():
    assert {"f1", "ami", "auc", "fid", "queries"} <= set(metrics_for(ExplainedGraph))
    assert {"infid_plus", "infid_minus_connected", "queries"} <= set(metrics_for(GroupPredictions))
    assert not {"infid_plus"} & set(metrics_for(ExplainedGraph))


@pytest.mark.parametrize("name", experiment_names())
def test_the_metrics_of_experiments_are_registered(name):
    assert {metric for column in load_experiment(name).columns for metric in column.metrics} <= set(METRICS)


def test_a_graph_without_motifs_has_no_truth():
    assert explained_path([0]).truth is None
    assert explained_path([0], node_motif=[-1, -1, -1, -1]).truth is None
    assert METRICS["f1"].measure(explained_path([0])) is None


def test_the_truth_of_a_node_is_its_own_motif():
    labels = [0, 0, 1, -1]
    assert explained_path([0], node_motif=labels).truth.tolist() == [0, 0, 1, -1]
    assert explained_path([0], node=2, node_motif=labels).truth.tolist() == [-1, -1, 0, -1]
    assert explained_path([0], node=3, node_motif=labels).truth is None


def test_loops_are_no_edges_of_a_motif():
    case = explained_path([0], node_motif=[0, 0, -1, -1], edge_motif=[0, -1, -1, -1])
    assert case.edge_truth.tolist() == [True, False, False]
    assert case.edge_scores.tolist() == [1.0, 0.5, 0.0]
    assert METRICS["auc"].measure(case) == 1.0


def test_metrics_of_ones_own_are_named_by_their_module(tmp_path, monkeypatch):
    (tmp_path / "my_metrics.py").write_text(
        "from mage.metrics import Metric\n"
        "def count(case):\n"
        "    return float(len(case.nodes))\n"
        "size = Metric('size', 'nodes', count, better='lower')\n"
    )
    monkeypatch.chdir(tmp_path)
    metric = find_metric("my_metrics:size")
    assert metric.record(explained_path([0, 2])) == {"my_metrics:size": 2.0}
    assert metric.heading == "nodes ↓"
    with pytest.raises(ValueError, match=r"'my_metrics:count' is of type function; name a mage\.metrics\.Metric"):
        find_metric("my_metrics:count")
    with pytest.raises(ValueError, match=r"'size' is none of f1, ami, .*nor module:name"):
        find_metric("size")
