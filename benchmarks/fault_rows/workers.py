"""Workers of the local engine that are killed from outside."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any

from fault_rows import Trials, fault
from mage.experiments import Failure, LocalEngine
from mage.experiments.engines import Payload


def _work(_shared: Any, job: int) -> tuple[int, int]:
    return sum(range(20_000 + job)), os.getpid()


@fault("SIGKILL of a worker at a random moment", "it is replaced, and no job is lost or done wrong", tries=60, short=8)
def killed_workers(trials: Trials) -> Iterator[str]:
    killed, results, jobs = 0, {}, 40 * trials.count
    moments = set(trials.generator.choice(jobs - 40, size=trials.count, replace=False).tolist())
    for job, result in LocalEngine(2).run(Payload(_work, None), range(jobs)):
        results[job] = result
        if len(results) in moments and not isinstance(result, Failure):
            with contextlib.suppress(ProcessLookupError):
                os.kill(result[1], signal.SIGKILL)
            killed += 1
            yield ""
    wrong = [job for job in range(jobs) if isinstance(results.get(job), Failure) or job not in results]
    wrong += [job for job, result in results.items() if job not in wrong and result[0] != sum(range(20_000 + job))]
    if wrong:
        yield f"{len(wrong)} jobs are lost or wrong after {killed} kills: {wrong[:3]}"
