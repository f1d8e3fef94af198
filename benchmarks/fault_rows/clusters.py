"""A Ray cluster of two nodes on this machine, whose workers and nodes die. Left out where Ray is not installed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from machines import two_ray_nodes

from fault_rows import Trials, fault
from mage.experiments import Failure, RayEngine
from mage.experiments.engines import Payload


def _work(_shared: Any, job: int) -> tuple[int, int]:
    time.sleep(0.05)
    return 2 * job, os.getpid()


def _wrong(results: dict[int, Any], jobs: int) -> list[int]:
    return [
        job
        for job in range(jobs)
        if isinstance(results.get(job, Failure("error", "")), Failure) or results[job][0] != 2 * job
    ]


if importlib.util.find_spec("ray") is not None:

    @fault(
        "SIGKILL of a Ray worker at a random moment", "its task is run again, and nothing is lost", tries=20, short=2
    )
    def killed_ray_workers(trials: Trials) -> Iterator[str]:
        jobs, results = 20 * trials.count, {}
        moments = set(trials.generator.choice(jobs - 20, size=trials.count, replace=False).tolist())
        with two_ray_nodes():
            for job, result in RayEngine(workers=2).run(Payload(_work, None), range(jobs)):
                results[job] = result
                if len(results) in moments and not isinstance(result, Failure):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(result[1], signal.SIGKILL)
                    yield ""
        if wrong := _wrong(results, jobs):
            yield f"{len(wrong)} jobs are lost or wrong: {wrong[:3]}"

    @fault("a Ray node dies while it works", "its tasks are run on the others, and nothing is lost", tries=3, short=1)
    def dead_ray_nodes(trials: Trials) -> Iterator[str]:
        for _ in range(trials.count):
            jobs, results = 60, {}
            moment = int(trials.generator.integers(5, 40))
            with two_ray_nodes() as (cluster, node):
                for job, result in RayEngine(workers=2).run(Payload(_work, None), range(jobs)):
                    results[job] = result
                    if len(results) == moment:
                        cluster.remove_node(node, allow_graceful=False)
            wrong = _wrong(results, jobs)
            yield f"{len(wrong)} jobs are lost or wrong: {wrong[:3]}" if wrong else ""
