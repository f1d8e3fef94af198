"""One bad graph does not block the others: it is recorded, reported, and tried again when asked to."""

import json

import pytest
from typer.testing import CliRunner

import mage
from mage.cli import app
from mage.experiments import LocalEngine, SerialEngine, Store, cells, make_plan, run_plan
from mage.experiments.corpus import explain_corpus
from mage.experiments.procedures.graphs import load_testbed
from tests.helpers.experiments import METHODS, SmallInputs, small_experiment
from tests.helpers.faults import Fragile

FRAGILE = "tests.helpers.faults:Fragile"
ENGINES = [SerialEngine(), LocalEngine(2)]


class FragileInputs(SmallInputs):
    """A network that cannot explain graphs of 29 nodes, until there is a marker file."""

    def __init__(self, marker):
        super().__init__()
        self.marker = marker

    def model(self, dataset, name):
        return Fragile(29, self.marker)


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "mended"


@pytest.fixture
def plan(marker):
    return make_plan(small_experiment(methods=METHODS[:1]), FragileInputs(marker), limit=8, batch_size=3)


@pytest.mark.parametrize("engine", ENGINES, ids=["serial", "local"])
def test_a_failing_graph_is_recorded_and_the_run_goes_on(tmp_path, plan, engine, marker):
    store = Store(tmp_path / "store")
    run_plan(plan, store, engine)
    records = plan.records(store)
    assert len(records) == 8
    bad = [record for record in records if record["num_nodes"] == 29]
    assert 0 < len(bad) < 8
    assert plan.failures(store) == bad
    for record in bad:
        assert record["failure"] == "error"
        assert "TwoPartError: this graph is too much (29)" in record["error"]
        assert record["f1"] is None
    assert all(record["failure"] is None and record["f1"] is not None for record in records if record not in bad)
    table = cells(plan, store)
    assert (table[0].results, table[0].failed, table[0].expected) == (8 - len(bad), len(bad), 8)

    batches = []
    run_plan(plan, store, engine, on_part=batches.append)
    assert batches == []
    run_plan(plan, store, engine, on_part=batches.append, retry_failed=True)
    assert {batch.key for batch in batches} == {record["part"] for record in bad}
    assert plan.failures(store) == bad
    marker.touch()
    run_plan(plan, store, engine, retry_failed=True)
    assert plan.failures(store) == []
    assert not any(store.locks.folder.iterdir())


@pytest.fixture
def corpus(marker):
    """The model, the graphs and the options of a corpus; two of its graphs are too much for the model."""
    testbed = load_testbed(FragileInputs(marker), "ba_house_grid", "gcn", 6)
    options = {n: {**settings, "method": "permutation", "permutations": 5} for n, settings in testbed.settings.items()}
    return testbed.model, testbed.graphs, options


def explain(corpus, folder, engine, **arguments):
    model, graphs, options = corpus
    return {entry.number: entry for entry in explain_corpus(model, graphs, folder, options, engine, **arguments)}


@pytest.mark.parametrize("engine", ENGINES, ids=["serial", "local"])
def test_a_failing_graph_of_a_corpus_is_kept_with_its_reason(tmp_path, corpus, engine, marker):
    folder = tmp_path / "run"
    graphs = corpus[1]
    bad = {number for number, data in graphs.items() if data.num_nodes == 29}
    first = explain(corpus, folder, engine)
    assert 0 < len(bad) < len(graphs) == len(first)
    assert {number for number, entry in first.items() if entry.failure} == bad
    for number, entry in first.items():
        if number in bad:
            reason = json.loads(entry.path.read_text())
            assert reason["graph"] == number
            assert reason["kind"] == "error"
            assert "this graph is too much (29)" in reason["message"]
            assert "Traceback" in reason["trace"]
        else:
            assert mage.load(entry.path).num_nodes == graphs[number].num_nodes
    again = explain(corpus, folder, engine)
    assert all(entry.before for entry in again.values())
    assert {number for number, entry in again.items() if entry.failure} == bad
    tried = explain(corpus, folder, engine, retry_failed=True)
    assert {number for number, entry in tried.items() if not entry.before} == bad
    marker.touch()
    mended = explain(corpus, folder, engine, retry_failed=True)
    assert not any(entry.failure for entry in mended.values())
    assert not list(folder.glob("*.failed"))
    assert not any((folder / ".locks").iterdir())


def test_every_truncation_of_an_explanation_is_found(tmp_path, corpus, marker):
    marker.touch()
    model, graphs, options = corpus
    number = min(graphs)
    one = (model, {number: graphs[number]}, options)
    path = explain(one, tmp_path / "run", SerialEngine())[number].path
    content = path.read_bytes()
    for size in [*range(0, len(content), len(content) // 20), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.warns(UserWarning, match=f"{path.name} is damaged and is set aside as"):
            entry = explain(one, tmp_path / "run", SerialEngine())[number]
        assert not entry.before
        assert mage.load(path).motifs == mage.load(entry.path).motifs
        assert path.with_suffix(".damaged").read_bytes() == content[:size]
    assert explain(one, tmp_path / "run", SerialEngine())[number].before


def test_two_runs_share_a_corpus(tmp_path, corpus, marker):
    marker.touch()
    model, graphs, options = corpus
    first = explain_corpus(model, graphs, tmp_path / "run", options, SerialEngine())
    entry = next(first)
    # The second run finds what the first has made, and makes the rest; the first has nothing left to do.
    second = explain(corpus, tmp_path / "run", SerialEngine())
    assert [number for number, other in second.items() if other.before] == [entry.number]
    assert list(first) == []


@pytest.mark.long
def test_the_command_says_so_and_can_try_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = [
        *(
            "explain",
            "--dataset",
            "ba_house_grid",
            "--model",
            "tests.helpers.faults:Fragile",
            "--all",
            "--which",
            "test",
        ),
        *("--graphs", "4", "--folder", "run", "--engine", "serial", "--method", "permutation", "--permutations", "4"),
    ]

    def run(*more):
        return CliRunner().invoke(app, [*arguments, *more])

    first = run()
    failed = len(list((tmp_path / "run").glob("*.failed")))
    assert 0 < failed <= 4
    assert first.exit_code == 3
    assert f"{4 - failed} explanations, {4 - failed} new" in first.stdout
    assert "this graph is too much (29)" in first.stderr
    assert f"mage: {failed} failed; run again with --retry-failed" in first.stderr
    assert run().exit_code == 3
    (tmp_path / "mended").touch()
    assert run().exit_code == 3
    last = run("--retry-failed")
    assert last.exit_code == 0, last.output
    assert f"4 explanations, {failed} new" in last.stdout


@pytest.mark.long
def test_the_benchmark_says_so_and_can_try_again(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(
        f'title = "Own"\n[[columns]]\ndatasets = ["ba_house_grid"]\nmodels = ["{FRAGILE}"]\nmetrics = ["f1"]\n'
        "[methods.mage]\npermutations = 4\n"
    )
    monkeypatch.chdir(tmp_path)

    def run(*more):
        arguments = ["benchmark", "own.toml", "--graphs", "6", "--engine", "serial", "--store", "store"]
        return CliRunner(env={"COLUMNS": "200"}).invoke(app, [*arguments, *more])

    first = run()
    assert first.exit_code == 3, first.output
    assert "this graph is too much (29)" in first.stderr
    assert "failed; run again with --retry-failed" in first.stderr
    assert "failed" in run("--status").output
    (tmp_path / "mended").touch()
    last = run("--retry-failed")
    assert last.exit_code == 0, last.output
    assert "failed" not in run("--status").output


def test_options_that_would_be_ignored_are_refused():
    for options in (["--retry-failed"], ["--timeout", "3"]):
        result = CliRunner().invoke(app, ["explain", "--dataset", "demo", *options])
        assert result.exit_code == 2
        assert f"{options[0]} needs --all" in result.stderr
    result = CliRunner().invoke(
        app, ["explain", "--dataset", "ba_2motifs", "--all", "--engine", "serial", "--timeout", "3"]
    )
    assert result.exit_code == 2
    assert "the serial engine cannot stop a graph" in result.stderr
