import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
import torch

from mage import Motif, explainers
from mage._core.fingerprint import model_fingerprint
from mage.datasets import load
from mage.experiments import (
    Column,
    EngineError,
    LocalEngine,
    Method,
    SerialEngine,
    Source,
    Store,
    cells,
    export,
    make_engine,
    make_plan,
    rich_tables,
    run_plan,
)
from mage.experiments.engines import Payload
from mage.experiments.tables import _latex
from mage.experiments.work import batch_key, measure
from mage.explainers import Explainer, UnsupportedError
from mage.models import GCN
from tests.helpers.experiments import METHODS, SmallSource, comparable, small_experiment


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, source):
    """The records of a run that nothing disturbed."""
    store = Store(tmp_path_factory.mktemp("undisturbed"))
    plan = make_plan(small_experiment(), source, graphs=6, batch_size=2)
    run_plan(plan, store, SerialEngine())
    return comparable(plan.records(store))


def test_all_graphs_and_methods_are_there(undisturbed):
    assert len(undisturbed) == 12
    assert {dict(record)["method"] for record in undisturbed} == {"mage", "mage-st"}


def test_a_second_run_computes_nothing(tmp_path, source, monkeypatch):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), source, graphs=6, batch_size=2)
    done = []
    run_plan(plan, store, SerialEngine(), on_part=done.append)
    assert len(done) == 6
    run_plan(plan, store, SerialEngine(), on_part=done.append)
    assert len(done) == 6
    # A longer run shares the batches of the shorter one.
    longer = make_plan(small_experiment(), source, graphs=8, batch_size=2)
    assert len(longer.missing(store)) == 2


def test_processes_give_the_same_records(tmp_path, source, undisturbed):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), source, graphs=6, batch_size=2)
    run_plan(plan, store, LocalEngine(2))
    assert comparable(plan.records(store)) == undisturbed


def test_batches_do_not_change_the_records(tmp_path, source, undisturbed):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), source, graphs=6, batch_size=4)
    run_plan(plan, store, SerialEngine())

    def without_place(records):
        return sorted([pair for pair in record if pair[0] not in {"part", "position"}] for record in records)

    assert without_place(comparable(plan.records(store))) == without_place(undisturbed)


def test_an_interrupted_run_takes_up_where_it_stopped(tmp_path, source, undisturbed):
    store = Store(tmp_path)
    plan = make_plan(small_experiment(), source, graphs=6, batch_size=2)
    done = []

    def stop_after_two(batch):
        done.append(batch.key)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, store, SerialEngine(), on_part=stop_after_two)
    assert len(plan.missing(store)) == 4
    run_plan(plan, store, SerialEngine(), on_part=lambda batch: done.append(batch.key))
    assert len(done) == len(set(done)) == 6
    assert comparable(plan.records(store)) == undisturbed


SCRIPT = """
import os, signal, sys
from mage.experiments import LocalEngine, Store, make_plan, run_plan
from tests.helpers.experiments import SmallSource, small_experiment

if __name__ == "__main__":
    plan = make_plan(small_experiment(), SmallSource(), graphs=6, batch_size=1)
    left = int(sys.argv[3])
    with open(sys.argv[2], "a") as log:

        def kept(batch):
            global left
            print(batch.key, file=log, flush=True)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        run_plan(plan, Store(sys.argv[1]), LocalEngine(1), on_part=kept)
"""


def start(store, log, killed_after=-1):
    """A run in a process of its own, which may kill itself after so many batches."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(store), str(log), str(killed_after)]
    return subprocess.Popen(command)


def parts_of(store):
    return list((store / "parts").glob("*.parquet")) if store.is_dir() else []


@pytest.mark.long
def test_sigkill_in_the_middle_loses_nothing(tmp_path, source, undisturbed):
    folder, log = tmp_path / "store", tmp_path / "log"
    assert start(folder, log, killed_after=3).wait() == -signal.SIGKILL
    finished = len(parts_of(folder))
    assert 3 <= finished < 12
    assert start(folder, log).wait() == 0
    computed = log.read_text().split()
    assert len(computed) == len(set(computed))
    assert len(parts_of(folder)) == 12
    plan = make_plan(small_experiment(), source, graphs=6, batch_size=1)

    def without_place(records):
        return sorted([pair for pair in record if pair[0] not in {"part", "position"}] for record in records)

    assert without_place(comparable(plan.records(Store(folder)))) == without_place(undisturbed)


def test_two_runs_at_once_share_the_work(tmp_path, source, undisturbed):
    folder = tmp_path / "store"
    plan = make_plan(small_experiment(), source, graphs=6, batch_size=2)
    done = []

    def one_run():
        run_plan(plan, Store(folder), SerialEngine(), on_part=lambda batch: done.append(batch.key))

    threads = [threading.Thread(target=one_run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == len(set(done)) == 6
    assert comparable(plan.records(Store(folder))) == undisturbed


class Deadly(Explainer):
    """Kills its worker the first time it meets each graph."""

    title = "Deadly"

    def __init__(self, folder, always=False):
        self.folder, self.always = folder, always

    def compute(self, model, data, request):
        marker = os.path.join(self.folder, f"{data.num_edges}-{float(data.x.sum())}-{request.seed}")
        if self.always or not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return explainers.get("mage", permutations=5, method="permutation").compute(model, data, request)


@pytest.fixture
def with_explainer(monkeypatch):
    from mage.explainers import registry

    def add(name, make):
        monkeypatch.setitem(registry._EXPLAINERS, name, make)

    return add


def test_dead_workers_are_replaced(tmp_path, source, with_explainer):
    with_explainer("deadly", Deadly)
    markers = tmp_path / "markers"
    markers.mkdir()
    experiment = small_experiment(methods=[Method("deadly", "deadly", {"folder": str(markers)})])
    plan, store = make_plan(experiment, source, graphs=2, batch_size=1), Store(tmp_path / "store")
    run_plan(plan, store, LocalEngine(1))
    assert len(plan.records(store)) == 2


def test_a_job_that_kills_every_worker_ends_the_run(tmp_path, source, with_explainer):
    with_explainer("deadly", Deadly)
    experiment = small_experiment(methods=[Method("deadly", "deadly", {"folder": str(tmp_path), "always": True})])
    plan, store = make_plan(experiment, source, graphs=1), Store(tmp_path / "store")
    with pytest.raises(EngineError, match="workers died 3 times"):
        run_plan(plan, store, LocalEngine(1))
    assert plan.records(store) == []
    assert store.claim(plan.batches[0].key) is not None


class Refusing(Explainer):
    title = "Refusing"

    def compute(self, model, data, request):
        raise UnsupportedError("no hook on this model")


def test_gaps_are_stated_not_counted(tmp_path, source, with_explainer):
    with_explainer("refusing", Refusing)
    methods = [*METHODS[:1], Method("refusing", "refusing"), Method("gradcam-of-tomorrow", "gradcam-of-tomorrow")]
    plan, store = make_plan(small_experiment(methods=methods), source, graphs=3), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    made = {(cell.method.name, cell.metric): cell for cell in cells(plan, store)}
    assert made["mage", "f1"].ours.count == 3
    assert made["mage", "f1"].paper == 0.832
    assert made["mage", "f1"].difference == pytest.approx(made["mage", "f1"].ours.mean - 0.832)
    assert made["refusing", "f1"].ours is None
    assert made["refusing", "f1"].gap == "no hook on this model"
    assert "not registered" in made["gradcam-of-tomorrow", "f1"].gap
    (table,) = rich_tables(list(made.values()))
    assert table.row_count == 3


def test_a_missing_dataset_or_model_is_a_gap(tmp_path):
    class Nothing(Source):
        def model(self, dataset, name):
            raise ValueError("no such network")

    plan = make_plan(small_experiment(), Nothing())
    assert plan.batches == []
    assert set(plan.gaps.values()) == {"no such network"}


def test_fidelity_is_measured_where_it_is_asked_for(tmp_path, source):
    experiment = small_experiment(metrics=("fid", "fid_alpha", "fid_alpha_07", "sparsity"), methods=METHODS[:1])
    plan, store = make_plan(experiment, source, graphs=2), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    for record in plan.records(store):
        assert record["fid"] == pytest.approx(record["fid_plus"] - record["fid_minus"])
        assert math.isfinite(record["fid_alpha"])
        assert record["fid_alpha_error"] >= 0
        assert 0 < record["sparsity"] < 1
    other = make_plan(small_experiment(methods=METHODS[:1]), source, graphs=2)
    assert {batch.key for batch in other.batches}.isdisjoint(batch.key for batch in plan.batches)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", "dataset,model,method,metric,ours,± error,paper,difference,graphs,failed,undefined,gap\n"),
        ("markdown", "| dataset | model | method |"),
        ("latex", r"ba\_house\_grid & gcn & MAGE & f1"),
        ("html", "<td>ba_house_grid</td><td>gcn</td><td>MAGE</td>"),
    ],
)
def test_tables_are_exported(tmp_path, source, form, expected):
    plan, store = make_plan(small_experiment(methods=METHODS[:1]), source, graphs=1), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    assert expected in export(cells(plan, store), form, "Title")
    with pytest.raises(ValueError, match="'pdf' is none of markdown"):
        export(cells(plan, store), "pdf")


def test_models_and_graphs_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "my_graphs.py").write_text(
        "import mage, torch\n"
        "from mage.datasets import GraphDataset, Recipe, load\n"
        "from mage.models import GIN\n"
        "def graphs():\n"
        "    made = load('ba_house_grid', count=30)\n"
        "    return GraphDataset.from_graphs('mine', [made[i] for i in range(30)], Recipe('split'))\n"
        "def network():\n"
        "    torch.manual_seed(0)\n"
        "    return GIN(1, 2, 8).eval()\n"
    )
    monkeypatch.chdir(tmp_path)
    experiment = small_experiment(methods=METHODS[:1])
    own = experiment.__class__(
        "own", "Own", (), (Column("my_graphs:graphs", "my_graphs:network", ("f1",)),), experiment.methods
    )
    plan, store = make_plan(own, Source(), batch_size=8), Store(tmp_path / "store")
    assert plan.gaps == {}
    run_plan(plan, store, SerialEngine())
    (cell,) = cells(plan, store)
    assert cell.ours.count >= 1
    assert cell.paper is None
    for wrong, message in (("nowhere:graphs", "cannot be imported"), ("my_graphs:network", "makes a GIN")):
        with pytest.raises(ValueError, match=f"datasets: .*{message}"):
            Source().dataset(wrong)


def test_wrong_engines_and_sources_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'dask' is none of local, ray, serial"):
        make_engine("dask")
    with pytest.raises(ValueError, match="only the ray engine"):
        make_engine("local", address="auto")
    with pytest.raises(ValueError, match="workers"):
        make_engine("local", workers=0)
    with pytest.raises(ValueError, match=r"checkpoints: the folder .* does not exist"):
        Source(checkpoints=tmp_path / "nowhere")
    with pytest.raises(ValueError, match="give one of them"):
        Source(checkpoints=tmp_path, models=tmp_path)


def test_small_source_is_the_same_everywhere():
    first, again = (model_fingerprint(SmallSource().model("d", "m")) for _ in range(2))
    assert first == again


def pid_of_worker(shared, job):
    return job, os.getpid()


def test_a_worker_that_dies_between_jobs_loses_none():
    done = []
    for job, (same, process) in LocalEngine(1).run(Payload(pid_of_worker, None), range(12)):
        assert job == same
        done.append(job)
        if job in {1, 6}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            time.sleep(0.3)  # the pool finds out while this result is being kept
    assert sorted(done) == list(range(12))


def test_nodes_are_measured_by_their_own_house():
    shapes = load("ba_shapes")
    node = int(shapes.candidates()[0])
    house = next(motif for motif in shapes.motifs(0) if node in motif)
    model = GCN(10, 4, 8, readout="none").eval()
    settings = shapes.settings(node)
    found = explainers.get("mage", permutations=2).explain(model, shapes[0], **settings)
    perfect = replace(found, motifs=replace(found.motifs, motifs=(Motif(tuple(house), 1.0),)))
    record = measure(model, shapes[0], settings, perfect, ("fid",))
    assert record["f1"] == record["ami"] == record["auc"] == pytest.approx(1.0)
    assert math.isfinite(record["fid"])


def test_settings_and_truth_are_part_of_the_key(source):
    mean, largest = GCN(1, 2, 4, readout="mean"), GCN(1, 2, 4, readout="max")
    largest.load_state_dict(mean.state_dict())
    assert model_fingerprint(mean) != model_fingerprint(largest)
    subject = source.subject("ba_house_grid", "gcn", 1)
    (position,) = subject.graphs
    keys = {batch_key(subject, METHODS[0], 0, [position], ("f1",))}
    changed = subject.graphs[position].clone()
    changed.edge_motif = -torch.ones_like(changed.edge_motif)
    for other in (
        replace(subject, graphs={position: changed}),
        replace(subject, model_name="other"),
        replace(subject, fingerprint="x"),
        replace(subject, settings={position: {**subject.settings[position], "max_nodes": 2}}),
    ):
        keys.add(batch_key(other, METHODS[0], 0, [position], ("f1",)))
    assert len(keys) == 5


class Unteachable(Explainer):
    title = "Unteachable"
    needs_training = True

    def fit(self, model, dataset, seed=0):
        raise UnsupportedError("nothing to learn from")

    def compute(self, model, data, request):
        raise AssertionError


class Moody(Explainer):
    """Refuses all graphs but the largest."""

    title = "Moody"

    def compute(self, model, data, request):
        if data.num_nodes < 29:
            raise UnsupportedError("too small")
        return explainers.get("mage", permutations=5).compute(model, data, request)


def test_methods_that_cannot_be_taught_or_refuse_some_graphs(tmp_path, source, with_explainer):
    with_explainer("unteachable", Unteachable)
    with_explainer("moody", Moody)
    methods = [
        Method("unteachable", "unteachable"),
        Method("moody", "moody"),
        Method("wrong", "mage", {"surprise": 1}),
        METHODS[0],
    ]
    plan, store = make_plan(small_experiment(methods=methods), source, graphs=8), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    made = {(cell.method.name, cell.metric): cell for cell in cells(plan, store)}
    assert made["unteachable", "f1"].gap == "nothing to learn from"
    assert "wrong parameters" in made["wrong", "f1"].gap
    moody = made["moody", "f1"]
    assert moody.graphs + moody.failed == moody.expected == 8
    assert moody.failed > 0
    assert moody.ours.count == moody.graphs
    assert moody.gap == "too small"
    assert made["mage", "f1"].graphs == 8


def test_seeds_are_no_more_graphs(tmp_path, source):
    plan, store = make_plan(small_experiment(methods=METHODS[:1], seeds=(0, 1)), source, graphs=4), Store(tmp_path)
    run_plan(plan, store, SerialEngine())
    cell = next(cell for cell in cells(plan, store) if cell.metric == "f1")
    assert cell.ours.count == 4
    assert cell.graphs == cell.expected == 8
    assert small_experiment().restricted(seeds=[0, 0, 1]).seeds == (0, 1)


def test_latex_survives_any_text():
    made = _latex("50 % of {a_b} & $x^2$ ~ \\ n")
    expected = r"50 \% of \{a\_b\} \& \$x\textasciicircum{}2\$ \textasciitilde{} \textbackslash{} n"
    assert made == expected
