"""The Ray engine on a real, small cluster on this machine."""

import os
import signal

import pytest

from mage import explainers
from mage.experiments import EngineError, Failure, Method, RayEngine, Store, make_plan, run_plan
from mage.experiments.corpus import explain_corpus
from mage.experiments.engines import Payload
from mage.experiments.procedures.graphs import load_testbed
from mage.explainers import Explainer
from tests.helpers import faults
from tests.helpers.experiments import comparable, small_experiment

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def cluster():
    """A cluster that a run connects to, with the tests importable by its workers."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    path = os.pathsep.join([root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # a busy machine starts slowly
    os.environ.setdefault("RAY_worker_niceness", "0")  # and would give workers of a lower priority no turn
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    yield
    ray.shutdown()


def test_ray_gives_the_same_records(tmp_path, inputs, undisturbed, cluster):
    plan, store = make_plan(small_experiment(), inputs, limit=6, batch_size=2), Store(tmp_path)
    run_plan(plan, store, RayEngine(workers=2))
    assert comparable(plan.records(store)) == undisturbed
    assert ray.is_initialized()


class Deadly(Explainer):
    """MAGE with ten orderings, that kills its worker the first time it meets each graph."""

    title = "Deadly"

    def __init__(self, folder):
        self.folder = folder

    def compute(self, model, data, request):
        marker = os.path.join(self.folder, f"{data.num_edges}-{request.seed}")
        if not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return explainers.get("mage", permutations=10).compute(model, data, request)


def test_a_killed_worker_costs_nothing_but_time(tmp_path, inputs, undisturbed, cluster, monkeypatch):
    from mage.explainers import registry

    markers = tmp_path / "markers"
    markers.mkdir()
    monkeypatch.setitem(registry._EXPLAINERS, "deadly", Deadly)
    experiment = small_experiment(methods=[Method("mage", "deadly", {"folder": str(markers)})])
    plan, store = make_plan(experiment, inputs, limit=6, batch_size=2), Store(tmp_path / "store")
    keys = []
    run_plan(plan, store, RayEngine(workers=2), on_part=lambda batch: keys.append(batch.key))
    assert len(list(markers.iterdir())) == 6
    assert len(keys) == len(set(keys)) == 3

    def without_part(records):
        return [
            [pair for pair in record if pair[0] not in ("part", "parameters")]
            for record in records
            if dict(record)["method"] == "mage"
        ]

    assert without_part(comparable(plan.records(store))) == without_part(undisturbed)


def test_a_payload_that_cannot_be_loaded_says_so(cluster):
    with pytest.raises(EngineError, match="cannot load what it works with: ValueError: invalid literal"):
        list(RayEngine(workers=1).run(Payload(faults.double, faults.Unloadable()), range(2)))


class Failing(Explainer):
    title = "Failing"

    def compute(self, model, data, request):
        raise ZeroDivisionError("a mistake in the explainer")


def test_mistakes_are_recorded(tmp_path, inputs, cluster, monkeypatch):
    from mage.explainers import registry

    monkeypatch.setitem(registry._EXPLAINERS, "failing", Failing)
    plan, store = make_plan(small_experiment(methods=[Method("failing", "failing")]), inputs, limit=1), Store(tmp_path)
    run_plan(plan, store, RayEngine(workers=1))
    (record,) = plan.failures(store)
    assert record["failure"] == "error"
    assert record["error"] == "ZeroDivisionError: a mistake in the explainer"


def test_all_kinds_of_failures_are_told_apart(cluster):
    misdeeds = {1: "two arguments", 2: "abort", 3: "sleep", 5: "not to be packed"}
    results = dict(RayEngine(workers=2, timeout=4.0).run(Payload(faults.misbehave, misdeeds), range(6)))
    assert [results[job] for job in (0, 4)] == [0, 8]
    assert results[1].message == "TwoPartError: no such weights (7)"
    assert results[2].kind == "death"
    assert results[2].message.startswith("3 workers died of it, the last with: ")
    assert results[3] == Failure("timeout", "not finished after 4 seconds")
    assert results[5].kind == "error"


def test_actors_without_a_core_keep_no_jobs_from_the_others(cluster):
    results = dict(RayEngine(workers=4).run(Payload(faults.worker_of, None), range(30)))
    assert sorted(results) == list(range(30))
    assert len(set(results.values())) <= 2  # the cluster has two cores


def test_a_corpus_is_explained_on_a_cluster(tmp_path, inputs, cluster):
    testbed = load_testbed(inputs, "ba_house_grid", "gcn", 3)
    options = {n: {**settings, "method": "permutation", "permutations": 5} for n, settings in testbed.settings.items()}
    explanations = list(explain_corpus(testbed.model, testbed.graphs, tmp_path, options, RayEngine(workers=2)))
    assert sorted(entry.number for entry in explanations) == sorted(testbed.graphs)
    again = list(explain_corpus(testbed.model, testbed.graphs, tmp_path, options, RayEngine(workers=2)))
    assert all(entry.before for entry in again)
