import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from mage import Motif, explainers
from mage._core.fingerprint import model_fingerprint
from mage.datasets import load
from mage.experiments import (
    Column,
    Inputs,
    SerialEngine,
    Store,
    cells,
    make_plan,
    rich_tables,
    run_plan,
)
from mage.experiments.procedures.graphs import batch_key, explanation_record, load_testbed
from mage.metrics import ExplainedGraph
from mage.models import GCN
from tests.helpers.experiments import METHODS, SmallInputs, small_experiment


def test_fidelity_is_measured_where_it_is_asked_for(tmp_path, inputs):
    experiment = small_experiment(metrics=("fid", "fid_alpha", "fid_alpha_07", "sparsity"), methods=METHODS[:1])
    plan, store = make_plan(experiment, inputs, limit=2), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    for record in plan.records(store):
        assert record["fid"] == pytest.approx(record["fid_plus"] - record["fid_minus"])
        assert math.isfinite(record["fid_alpha"])
        assert record["fid_alpha_error"] >= 0
        assert 0 < record["sparsity"] < 1
    other = make_plan(small_experiment(methods=METHODS[:1]), inputs, limit=2)
    assert {batch.key for batch in other.batches}.isdisjoint(batch.key for batch in plan.batches)


def test_models_and_graphs_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "my_graphs.py").write_text(
        "import mage, torch\n"
        "from mage.datasets import ExplanationSettings, GraphDataset, load\n"
        "from mage.models import GIN\n"
        "def graphs():\n"
        "    made = load('ba_house_grid', count=30)\n"
        "    return GraphDataset.from_graphs('mine', [made[i] for i in range(30)], ExplanationSettings('split'))\n"
        "def network():\n"
        "    torch.manual_seed(0)\n"
        "    return GIN(1, 2, 8).eval()\n"
        "def count(case):\n"
        "    return float(len(case.nodes))\n"
        "size = mage.metrics.Metric('size', 'nodes', count, better='lower')\n"
    )
    monkeypatch.chdir(tmp_path)
    experiment = small_experiment(methods=METHODS[:1])
    custom = experiment.__class__(
        "own",
        "Own",
        (),
        (Column("my_graphs:graphs", "my_graphs:network", ("f1", "my_graphs:size")),),
        experiment.methods,
    )
    plan, store = make_plan(custom, Inputs(), batch_size=8), Store(tmp_path / "store")
    assert plan.gaps == {}
    run_plan(plan, store, SerialEngine())
    table = cells(plan, store)
    assert [cell.metric for cell in table] == ["f1", "my_graphs:size"]
    assert all(cell.ours.count >= 1 and cell.paper is None for cell in table)
    motifs = [json.loads(record["nodes"]) for record in plan.records(store)]
    assert table[1].ours.mean == np.mean([sum(map(len, nodes)) for nodes in motifs])
    (rich_table,) = rich_tables(table)
    assert [column.header for column in rich_table.columns] == ["method", "F1 ↑", "nodes ↓", "graphs"]
    for wrong, message in (("nowhere:graphs", "cannot be imported"), ("my_graphs:network", "makes a GIN")):
        with pytest.raises(ValueError, match=f"datasets: .*{message}"):
            Inputs().dataset(wrong)


def test_nodes_are_measured_by_their_own_house():
    shapes = load("ba_shapes")
    node = int(shapes.candidates()[0])
    house = next(motif for motif in shapes.motifs(0) if node in motif)
    model = GCN(10, 4, 8, readout="none").eval()
    settings = shapes.settings(node)
    explanation = explainers.get("mage", permutations=2).explain(model, shapes[0], **settings)
    perfect = replace(explanation, motifs=replace(explanation.motifs, motifs=(Motif(tuple(house), 1.0),)))
    record = explanation_record(ExplainedGraph(model, shapes[0], perfect, settings), ("fid",))
    assert record["f1"] == record["ami"] == record["auc"] == pytest.approx(1.0)
    assert math.isfinite(record["fid"])


def test_settings_and_truth_are_part_of_the_key(inputs):
    mean, largest = GCN(1, 2, 4, readout="mean"), GCN(1, 2, 4, readout="max")
    largest.load_state_dict(mean.state_dict())
    assert model_fingerprint(mean) != model_fingerprint(largest)
    testbed = load_testbed(inputs, "ba_house_grid", "gcn", 1)
    (position,) = testbed.graphs
    keys = {batch_key(testbed, METHODS[0], 0, [position], ("f1",))}
    changed = testbed.graphs[position].clone()
    changed.edge_motif = -torch.ones_like(changed.edge_motif)
    for other in (
        replace(testbed, graphs={position: changed}),
        replace(testbed, model_name="other"),
        replace(testbed, fingerprint="x"),
        replace(testbed, settings={position: {**testbed.settings[position], "max_nodes": 2}}),
    ):
        keys.add(batch_key(other, METHODS[0], 0, [position], ("f1",)))
    assert len(keys) == 5


def test_the_small_network_is_the_same_everywhere():
    first, again = (model_fingerprint(SmallInputs().model("d", "m")) for _ in range(2))
    assert first == again
