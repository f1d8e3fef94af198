import contextlib
import os
import signal
import time

import pytest

from mage import explainers
from mage.experiments import (
    EngineError,
    Inputs,
    LocalEngine,
    Method,
    Store,
    make_engine,
    make_plan,
    run_plan,
)
from mage.experiments.engines import Payload
from mage.explainers import Explainer
from tests.helpers.experiments import small_experiment


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
    assert len(plan.records(store)) == 2


def test_a_job_that_kills_every_worker_ends_the_run(tmp_path, inputs, with_explainer):
    with_explainer("deadly", Deadly)
    experiment = small_experiment(methods=[Method("deadly", "deadly", {"folder": str(tmp_path), "always": True})])
    plan, store = make_plan(experiment, inputs, limit=1), Store(tmp_path / "store")
    with pytest.raises(EngineError, match="workers died 3 times"):
        run_plan(plan, store, LocalEngine(1))
    assert plan.records(store) == []
    assert store.claim(plan.batches[0].key) is not None


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


def test_wrong_engines_and_inputs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'dask' is none of local, ray, serial"):
        make_engine("dask")
    with pytest.raises(ValueError, match="only the ray engine"):
        make_engine("local", address="auto")
    with pytest.raises(ValueError, match="workers"):
        make_engine("local", workers=0)
    with pytest.raises(ValueError, match=r"checkpoints: the folder .* does not exist"):
        Inputs(checkpoints=tmp_path / "nowhere")
    with pytest.raises(ValueError, match="give one of them"):
        Inputs(checkpoints=tmp_path, models=tmp_path)
