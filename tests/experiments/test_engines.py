import contextlib
import os
import signal

import pytest

from mage import explainers
from mage.experiments import (
    EngineError,
    Failure,
    Inputs,
    LocalEngine,
    Method,
    SerialEngine,
    Store,
    make_engine,
    make_plan,
    run_plan,
)
from mage.experiments.engines import Payload
from mage.explainers import Explainer
from tests.helpers import faults
from tests.helpers.experiments import small_experiment


def results_of(engine, misdeeds, count=6):
    return dict(engine.run(Payload(faults.misbehave, misdeeds), range(count)))


@pytest.mark.parametrize("engine", [SerialEngine(), LocalEngine(1), LocalEngine(2)], ids=["serial", "one", "two"])
def test_a_job_that_raises_does_not_stop_the_others(engine):
    results = results_of(engine, {2: "two arguments", 3: "long message", 4: "leave"})
    assert {job: results[job] for job in (0, 1, 5)} == {0: 0, 1: 2, 5: 10}
    assert {results[job].kind for job in (2, 3, 4)} == {"error"}
    assert results[2].message == "TwoPartError: no such weights (7)"
    assert "misbehave" in results[2].trace
    assert results[3].message.startswith("ValueError: first line …")
    assert results[4].message == "SystemExit: 3"


@pytest.mark.parametrize("workers", [1, 2])
def test_the_job_that_kills_its_worker_is_blamed(workers):
    results = results_of(LocalEngine(workers), {2: "abort"})
    assert {job: result for job, result in results.items() if job != 2} == {0: 0, 1: 2, 3: 6, 4: 8, 5: 10}
    assert results[2] == Failure("death", "3 workers died of it, the last with: killed by SIGABRT")


@pytest.mark.long
def test_several_jobs_that_kill_their_workers():
    results = results_of(LocalEngine(2), {1: "kill", 3: "abort", 5: "kill"})
    assert {job for job, result in results.items() if isinstance(result, Failure)} == {1, 3, 5}
    assert results[5].message.endswith("killed by SIGKILL")
    assert [results[job] for job in (0, 2, 4)] == [0, 4, 8]


def test_results_that_cannot_travel_are_failures():
    results = results_of(LocalEngine(1), {1: "not to be packed"})
    assert results[0] == 0
    assert results[1].kind == "error"
    assert "pickle" in results[1].message


def test_a_payload_that_cannot_be_loaded_says_so():
    with pytest.raises(EngineError, match="cannot load what it works with: ValueError: invalid literal"):
        list(LocalEngine(1).run(Payload(faults.double, faults.Unloadable()), range(2)))


def test_a_job_that_takes_too_long_is_stopped():
    results = results_of(LocalEngine(2, timeout=2.0), {1: "sleep", 4: "sleep"})
    assert results[1] == results[4] == Failure("timeout", "not finished after 2 seconds")
    assert [results[job] for job in (0, 2, 3, 5)] == [0, 4, 6, 10]


@pytest.mark.skipif(os.name == "nt", reason="sleeps by a function of the C library")
def test_a_worker_that_takes_nothing_in_does_not_stop_the_run():
    # Too much for a pipe: the second job waits to be sent while the first one holds the worker's interpreter.
    jobs = [(number, bytes(10_000_000)) for number in range(4)]
    outcomes = LocalEngine(1, timeout=5.0).run(Payload(faults.hold_on_job, 1), iter(jobs))
    results = {job[0]: result for job, result in outcomes}
    assert results[1] == Failure("timeout", "not finished after 5 seconds")
    assert all(isinstance(results[number], int) for number in (0, 2, 3))


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_time_limits_leave_some_time(timeout):
    with pytest.raises(ValueError, match="timeout must be more than 0 seconds"):
        LocalEngine(1, timeout)


@pytest.mark.long
def test_a_worker_that_is_killed_between_jobs_loses_none():
    jobs = []
    for job, process in LocalEngine(1).run(Payload(faults.worker_of, None), range(12)):
        jobs.append(job)
        if job in {1, 6}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    assert sorted(jobs) == list(range(12))


def test_workers_are_gone_when_the_run_is(tmp_path):
    run = LocalEngine(2).run(Payload(faults.worker_of, None), range(100))
    processes = {next(run)[1] for _ in range(4)}
    run.close()
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


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


def test_dead_workers_are_replaced(tmp_path, inputs, with_explainer):
    with_explainer("deadly", Deadly)
    markers = tmp_path / "markers"
    markers.mkdir()
    experiment = small_experiment(methods=[Method("deadly", "deadly", {"folder": str(markers)})])
    plan, store = make_plan(experiment, inputs, limit=2, batch_size=1), Store(tmp_path / "store")
    run_plan(plan, store, LocalEngine(1))
    assert [record["failure"] for record in plan.records(store)] == [None, None]


def test_a_graph_that_kills_every_worker_is_recorded(tmp_path, inputs, with_explainer):
    with_explainer("deadly", Deadly)
    experiment = small_experiment(methods=[Method("deadly", "deadly", {"folder": str(tmp_path), "always": True})])
    plan, store = make_plan(experiment, inputs, limit=1), Store(tmp_path / "store")
    run_plan(plan, store, LocalEngine(1))
    (record,) = plan.records(store)
    assert record["failure"] == "death"
    assert record["error"] == "3 workers died of it, the last with: killed by SIGKILL"


def test_wrong_engines_and_inputs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'dask' is none of local, ray, serial"):
        make_engine("dask")
    with pytest.raises(ValueError, match="only the ray engine"):
        make_engine("local", address="auto")
    with pytest.raises(ValueError, match="workers"):
        make_engine("local", workers=0)
    with pytest.raises(ValueError, match="the serial engine cannot stop a graph"):
        make_engine("serial", timeout=5.0)
    with pytest.raises(ValueError, match=r"checkpoints: the folder .* does not exist"):
        Inputs(checkpoints=tmp_path / "nowhere")
    with pytest.raises(ValueError, match="give one of them"):
        Inputs(checkpoints=tmp_path, models=tmp_path)
