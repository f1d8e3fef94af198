import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from mage.datasets import load
from mage.models import TrainingPlan, accuracy, predictions, train
from mage.models.zoo_training import TrainingTask, finished, run_task, run_tasks, table_tasks


@pytest.fixture(scope="module")
def houses():
    return load("ba_house_grid", count=200)


def test_a_network_learns_and_the_best_epoch_is_kept(houses):
    accuracies = []
    trained = train(
        houses,
        "gin",
        plan=TrainingPlan(epochs=12, batch_size=32, learning_rate=1e-2),
        on_epoch=lambda epoch, loss, right: accuracies.append(right),
    )
    assert len(accuracies) == trained.epochs == 12
    assert accuracies[trained.best_epoch - 1] == max(accuracies) == trained.accuracy["validation"]
    assert trained.accuracy["train"] > 0.9
    assert trained.accuracy["test"] == accuracy(trained.model, houses, houses.split.test)
    assert not trained.model.training


def test_patience_stops_the_training(houses):
    # A learning rate of nearly zero: nothing gets better after the first epoch but by chance.
    trained = train(houses, "gcn", plan=TrainingPlan(epochs=50, learning_rate=1e-12, patience=2))
    assert trained.epochs < 50
    assert trained.epochs == trained.best_epoch + 2


def test_random_numbers_and_threads_are_as_before(houses):
    torch.manual_seed(5)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    train(houses, "gcn", plan=TrainingPlan(epochs=1))
    assert torch.equal(before, torch.get_rng_state())
    assert torch.get_num_threads() == threads


@pytest.mark.long
def test_the_same_seed_gives_the_same_weights_in_another_process():
    script = (
        "import hashlib, mage\n"
        "from mage.models import train, TrainingPlan\n"
        "data = mage.datasets.load('ba_house_grid', count=60)\n"
        "w = train(data, 'gin', seed=3, plan=TrainingPlan(epochs=2)).model.state_dict()\n"
        "print(hashlib.sha256(b''.join(v.numpy().tobytes() for v in w.values())).hexdigest())"
    )
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.strip()) == 64


def test_predictions_are_those_of_the_model_on_each_graph(houses):
    trained = train(houses, "gcn", plan=TrainingPlan(epochs=2))
    positions = np.array([5, 0, 17])
    one_by_one = [int(trained.model(houses[int(i)].x, houses[int(i)].edge_index).argmax()) for i in positions]
    assert predictions(trained.model, houses, positions).tolist() == one_by_one
    trained.model.train()
    predictions(trained.model, houses, positions)
    assert trained.model.training


def test_sparse_adjacency_in_training_changes_nothing():
    # GCN with normalisation is trained on a sparse matrix, everything else on edge lists.
    dataset = load("spmotif", count=36)
    from mage.models.networks import GCN
    from mage.models.training import _inputs

    model = GCN(4, 3, width=8).eval()
    batch = dataset.batch(np.arange(10))
    x, edges, owner = _inputs(model, batch)
    assert edges.layout == torch.sparse_csr
    assert torch.allclose(model(x, edges, owner), model(batch.x, batch.edge_index, batch.batch), atol=1e-5)
    assert torch.equal(x, batch.x)


@pytest.mark.long
def test_nodes_are_learned_too():
    shapes = load("ba_shapes")
    trained = train(shapes, "gcn", plan=TrainingPlan(epochs=300, learning_rate=2e-2))
    assert trained.accuracy["test"] > 0.7
    explained = shapes.explained(trained.model)
    assert set(explained) <= set(shapes.candidates())


SMALL = TrainingPlan(epochs=1, batch_size=256)


def test_finished_networks_are_not_trained_again(tmp_path, monkeypatch):
    task = TrainingTask("ba_2motifs", "gcn", 0, SMALL)
    assert finished(task, tmp_path) is None
    about = run_task(task, tmp_path)
    assert finished(task, tmp_path) == about
    stamp = task.path(tmp_path).stat().st_mtime_ns
    said = []
    records = run_tasks([task], tmp_path, on_done=lambda *record: said.append(record))
    assert records == {("ba_2motifs", "gcn"): about}
    assert said == [(task, about, True)]
    assert task.path(tmp_path).stat().st_mtime_ns == stamp
    assert finished(TrainingTask("ba_2motifs", "gcn", 1, SMALL), tmp_path) is None
    assert finished(TrainingTask("ba_2motifs", "gcn", 0, TrainingPlan(epochs=2)), tmp_path) is None
    task.path(tmp_path).with_suffix(".json").write_text("{")
    assert finished(task, tmp_path) is None


@pytest.mark.long
def test_tables_are_trained_in_other_processes(tmp_path):
    tasks = [TrainingTask("ba_2motifs", kind, 0, SMALL) for kind in ("gcn", "gin")]
    records = run_tasks(tasks, tmp_path, workers=2)
    assert {task.path(tmp_path).name for task in tasks} == {path.name for path in tmp_path.glob("*.safetensors")}
    alone = run_task(tasks[0], tmp_path / "alone")
    assert alone["accuracy"] == records["ba_2motifs", "gcn"]["accuracy"]
    assert (tmp_path / "alone" / "ba_2motifs_gcn.safetensors").read_bytes() == tasks[0].path(tmp_path).read_bytes()


def test_the_table_has_the_papers_rows():
    tasks = {(task.dataset, task.kind) for task in table_tasks()}
    assert len({dataset for dataset, _ in tasks}) == 10
    assert ("mutagenic", "gat") in tasks
    assert ("ba_house_grid", "gat") not in tasks
    assert {dataset for dataset, _ in table_tasks_of("benzene")} == {"benzene"}
    with pytest.raises(ValueError, match="there is no dataset 'x'"):
        table_tasks(names=["x"])


def table_tasks_of(name):
    return {(task.dataset, task.kind) for task in table_tasks(names=[name])}


def test_models_of_any_signature_are_asked_for_their_predictions():
    from torch import nn
    from torch_geometric.nn import GINEConv, global_add_pool

    from mage.datasets import GraphDataset

    class Bonds(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = GINEConv(nn.Linear(1, 2), edge_dim=1)

        def forward(self, x, edge_index, edge_attr, batch=None):
            return global_add_pool(self.layer(x, edge_index, edge_attr), batch)

    class Whole(Bonds):
        def forward(self, data):
            return super().forward(data.x, data.edge_index, data.edge_attr, data.batch)

    house_graphs = load("ba_house_grid", count=20)
    graphs = [house_graphs[i] for i in range(20)]
    for graph in graphs:
        graph.edge_attr = torch.rand(graph.num_edges, 1)
    dataset = GraphDataset.from_graphs("bonds", graphs)
    model = Bonds().eval()
    expected = [int(model(g.x, g.edge_index, g.edge_attr).argmax()) for g in graphs]
    assert predictions(model, dataset, np.arange(20)).tolist() == expected
    whole = Whole().eval()
    whole.load_state_dict(model.state_dict())
    assert predictions(whole, dataset, np.arange(20)).tolist() == expected


def test_damaged_and_outdated_networks_are_trained_again(tmp_path, monkeypatch):
    task = TrainingTask("ba_2motifs", "gcn", 0, SMALL)
    run_task(task, tmp_path)
    whole = task.path(tmp_path).read_bytes()
    task.path(tmp_path).write_bytes(b"not safetensors")
    assert finished(task, tmp_path) is None
    task.path(tmp_path).write_bytes(whole)
    assert finished(task, tmp_path) is not None
    about = task.path(tmp_path).with_suffix(".json")
    content = json.loads(about.read_text())
    about.write_text(json.dumps({**content, "dataset_origin": "generated with seed 0"}))
    monkeypatch.setattr("mage.datasets.where", lambda name, root=None: "somewhere")
    assert finished(task, tmp_path) is None


def test_an_empty_part_is_refused():
    from mage.datasets import GraphDataset

    dataset = load("ba_house_grid", count=2)
    with pytest.raises(ValueError, match="validation part is empty"):
        train(GraphDataset.from_graphs("two", [dataset[0], dataset[1]]), "gin")
