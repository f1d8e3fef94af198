"""What a run leaves behind when it is killed or told to stop: nothing that works, locks or fills the disk."""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from mage.experiments import LocalEngine, Store, make_plan, run_plan
from mage.experiments.engines import Payload
from mage.experiments.engines.limits import stoppable
from tests.helpers import faults
from tests.helpers.experiments import SmallInputs, small_experiment

RUN = """
import sys
from mage.experiments import LocalEngine
from mage.experiments.engines import Payload
from tests.helpers import faults

if __name__ == "__main__":
    run = LocalEngine(2).run(Payload(faults.worker_of, None), range(10**9))
    workers = {next(run)[1] for _ in range(20)}
    print(*workers, flush=True)
    for _ in run:
        pass
"""

STORE = """
import sys
from mage.experiments import LocalEngine, Store, make_plan, run_plan
from tests.helpers.experiments import METHODS, SmallInputs, small_experiment

if __name__ == "__main__":
    plan = make_plan(small_experiment(), SmallInputs(), limit=40, batch_size=1)
    run_plan(plan, Store(sys.argv[1]), LocalEngine(2), on_part=lambda batch: print(batch.key, flush=True))
"""


def start(script, *arguments):
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **pipes, text=True, preexec_fn=hear_signals)  # noqa: PLW1509 (no threads here)


def hear_signals():
    """Undo what a shell does to commands in the background: their children ignore some signals."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def until(condition, seconds=60):
    """Wait for something that must happen, however busy the machine is; the time is only there to fail at all."""
    for _ in range(10 * seconds):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def is_running(process):
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux_only
@pytest.mark.long
def test_workers_end_with_a_killed_run_although_it_stays_a_zombie():
    run = start(RUN)
    workers = [int(number) for number in run.stdout.readline().split()]
    assert workers
    assert all(map(is_running, workers))
    os.kill(run.pid, signal.SIGKILL)
    until(lambda: not is_running(run.pid))
    # Nobody has waited for it: to the system, the process is still there.
    os.kill(run.pid, 0)
    until(lambda: not any(map(is_running, workers)))
    run.communicate()


HOLD = """
from mage.experiments import LocalEngine
from mage.experiments.engines import Payload
from tests.helpers import faults

if __name__ == "__main__":
    for _, worker in LocalEngine(1).run(Payload(faults.hold_on_job, 1), [(number, b"") for number in range(3)]):
        print(worker, flush=True)
"""


@linux_only
@pytest.mark.long
def test_a_worker_in_compiled_code_ends_with_a_killed_run():
    run = start(HOLD)
    worker = int(run.stdout.readline())
    time.sleep(1)  # now it holds its interpreter; where it did not yet, it would end the easier way
    assert is_running(worker)
    run.kill()
    until(lambda: not is_running(worker))
    run.communicate()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_run_that_is_told_to_stop_gives_all_back(tmp_path, number):
    run = start(STORE, tmp_path / "store")
    first = run.stdout.readline().strip()
    assert first
    run.send_signal(number)
    output, errors = run.communicate()
    assert run.returncode != 0
    assert "KeyboardInterrupt" in errors
    store = Store(tmp_path / "store")
    names = [first, *output.split()]
    assert set(names) <= set(store.keys())
    assert [path.name for path in store.parts.iterdir() if path.suffix != ".parquet"] == []
    for path in store.locks.folder.iterdir():
        assert store.claim(path.name) is not None


def test_no_files_are_left_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = make_plan(small_experiment(), SmallInputs(), limit=2)
    run_plan(plan, Store(tmp_path / "store"), LocalEngine(1))
    next(LocalEngine(1).run(Payload(faults.double, None), range(5)))
    # PyG has its own temporary files, and multiprocessing the socket of its server.
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("mage")] == []


def test_signals_mean_what_they_meant_before_when_a_run_is_over():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    with stoppable():
        assert signal.getsignal(signal.SIGTERM) != before[signal.SIGTERM]
        with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
            signal.raise_signal(signal.SIGTERM)
    assert {number: signal.getsignal(number) for number in before} == before


def test_handlers_of_the_user_stay():
    def mine(number, frame):
        """Not called here."""

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with stoppable():
            assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_workers_are_gone_when_a_result_cannot_be_kept(tmp_path, monkeypatch):
    plan, store = make_plan(small_experiment(), SmallInputs(), limit=4, batch_size=1), Store(tmp_path)
    before = multiprocessing.active_children()

    def full_disk(*_arguments, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "write", full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        run_plan(plan, store, LocalEngine(2))
    # Also while somebody looks at the traceback, which keeps the run's frames alive.
    assert caught.tb is not None
    assert multiprocessing.active_children() == before
    for batch in plan.batches:
        assert store.claim(batch.key) is not None


UNGUARDED = """
import sys
from mage.experiments import LocalEngine, Store, make_plan, run_plan
from tests.helpers.experiments import SmallInputs, small_experiment

run_plan(make_plan(small_experiment(), SmallInputs(), limit=1), Store(sys.argv[1]), LocalEngine(1))
"""


@pytest.mark.long
def test_a_script_without_a_guard_ends_with_advice(tmp_path):
    (tmp_path / "script.py").write_text(UNGUARDED)
    command = [sys.executable, "-W", "ignore", str(tmp_path / "script.py"), str(tmp_path / "store")]
    root = Path(__file__).parent.parent.parent
    path = os.pathsep.join([str(root), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}, timeout=900
    )
    assert run.returncode == 1
    assert "3 workers ended before they could begin" in run.stderr
    assert 'if __name__ == "__main__":' in run.stderr
