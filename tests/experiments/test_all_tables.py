import json

import pytest

from mage.experiments import SerialEngine, Store, load_tables, paper_figures
from mage.experiments.all_tables import AllTables, TableCell, by_method
from mage.experiments.spec import Experiment, Method
from tests.helpers.experiments import SmallInputs, small_experiment


def record(graph, seed=0, method="mage", parameters="{}", **fields):
    names = {"dataset": "d", "model": "gcn", "method": method, "parameters": parameters}
    return {**names, "graph": graph, "seed": seed, **fields}


def test_all_figures_of_the_paper_have_a_cell():
    tables = load_tables()
    assert len({cell.name for cell in tables.cells}) == len(tables.cells)
    networks = {(cell.name[0], cell.name[1]) for cell in tables.cells}
    for _, dataset, model, *_ in paper_figures():
        # ResNet-50 and ViT-B/16 are not on this machine's shelves; other classifiers stand in for them.
        assert dataset == "imagenet50" or (dataset, model) in networks
    methods = {(cell.name[0], cell.name[2]) for cell in tables.cells}
    for _, dataset, _, method, _ in paper_figures():
        assert (dataset, method) in methods


def test_tables_share_results():
    cells = [cell for cell in load_tables().cells if cell.name[:3] == ("ba_2motifs", "gcn", "subgraphx")]
    assert len(cells) == 1
    (column,) = cells[0].experiment.columns
    assert {"f1", "auc", "queries"} <= set(column.metrics)


def test_cells_where_a_method_takes_minutes_rest_on_fewer_graphs():
    counts = {cell.name[:3]: cell.graphs for cell in load_tables().cells}
    assert counts["ba_2motifs", "gin", "subgraphx"] == 25
    assert counts["spmotif", "gin", "subgraphx"] < counts["spmotif", "gin", "gradcam"]


def test_cells_that_depend_on_chance_have_several_seeds():
    cells = {cell.name[:3]: cell for cell in load_tables().cells if "budget" not in cell.name[3]}
    sampled, exact = cells["benzene", "gcn", "mage"], cells["benzene", "gcn", "mage-plain"]
    assert sampled.experiment.seeds == (0, 1, 2)
    assert sampled.wanted == 3 * sampled.graphs
    assert exact.experiment.seeds == (0,)


def test_a_part_of_the_cells_is_chosen():
    tables = load_tables()
    part = tables.restricted(["ba_2motifs", "tree_grid"], ["gcn"], ["mage", "gradcam"])
    names = {cell.name[:3] for cell in part.cells}
    assert names == {(name, "gcn", method) for name in ("ba_2motifs", "tree_grid") for method in ("mage", "gradcam")}
    assert tables.restricted().cells == tables.cells
    with pytest.raises(ValueError, match=r"datasets: 'ba_2motif' is in no table; .*did you mean 'ba_2motifs'"):
        tables.restricted(["ba_2motif"])
    with pytest.raises(ValueError, match="no table has a cell of all"):
        tables.restricted(["tree_grid"], ["gin"])


def test_records_of_other_parameters_are_another_cell_and_none_is_counted_twice():
    groups = by_method([record(1), record(1), record(2), record(1, seed=1), record(1, parameters='{"order": 2}')])
    assert {name[3]: len(group) for name, group in groups.items()} == {"{}": 3, '{"order": 2}': 1}


@pytest.fixture
def tables():
    experiment = small_experiment()
    single = Experiment(experiment.name, experiment.title, (), experiment.columns[:1], experiment.methods[:1])
    return AllTables((single,), (TableCell(single, 2),), 2)


def test_the_status_counts_results_refusals_and_failures(tables):
    (cell,) = tables.cells
    dataset, model, method, parameters = cell.name
    names = {"dataset": dataset, "model": model, "method": method, "parameters": parameters, "seed": 0}
    (status,) = tables.status([])
    assert (status.finished, status.is_finished) == (0, False)
    results = [{**names, "graph": 1}, {**names, "graph": 2, "error": "it cannot"}]
    (status,) = tables.status(results)
    assert (status.finished, status.is_finished, status.reason) == (2, True, "it cannot")
    (status,) = tables.status([{**names, "graph": 1}, {**names, "graph": 2, "error": "crash", "failure": "error"}])
    assert (status.finished, status.failed, status.is_finished) == (1, 1, False)


def test_what_is_missing_is_computed_once(tables, tmp_path):
    store = Store(tmp_path / "store")
    calls = []
    gaps = tables.run(store, SmallInputs(), SerialEngine(), lambda cell, _: calls.append(cell.name))
    assert gaps == {}
    (status,) = tables.status(store.read(store.keys()))
    assert status.is_finished
    (first, second) = store.read(store.keys())
    assert json.loads(first["parameters"]) == dict(tables.cells[0].experiment.methods[0].parameters)
    assert first["version"]
    assert second["cpu_seconds"] > 0
    tables.run(store, SmallInputs(), SerialEngine(), lambda cell, _: calls.append(cell.name))
    assert len(calls) == 1


def test_what_cannot_be_loaded_is_named(tables, tmp_path):
    experiment = tables.cells[0].experiment
    method = Method("nobody", "nobody")
    broken = Experiment(experiment.name, experiment.title, (), experiment.columns, (method,))
    gaps = AllTables((broken,), (TableCell(broken, 2),), 2).run(
        Store(tmp_path / "store"), SmallInputs(), SerialEngine()
    )
    assert "not registered" in next(iter(gaps.values()))
