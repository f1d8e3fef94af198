"""A Ray cluster, or Ray on this machine."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from mage._core.checks import checked_whole
from mage._core.importing import error_line
from mage._core.optional import require
from mage.experiments.engines.base import AHEAD, Engine, EngineError, JobType, Outcomes, Payload
from mage.experiments.engines.failures import ATTEMPTS, Failure, run_job
from mage.experiments.engines.limits import TimeLimitError, checked_timeout, time_limit
from mage.experiments.engines.packing import pack, unpack


class RayEngine(Engine):
    """Tasks on a Ray cluster; what they share lies once in its object store, and a graph travels with its task.

    A task whose worker or node dies is run again, three times in all; then it has failed.

    Args:
        address: Address of a cluster, ``"auto"`` for the one this machine belongs to; None starts Ray on this machine.
        workers: Tasks at a time; by default as many as the cluster has cores.
        gpus: GPUs for each task; models are moved there.
        timeout: Most seconds for a task. One that takes longer is stopped and has failed. None waits for ever.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        gpus: float = 0.0,
        timeout: float | None = None,
    ) -> None:
        require("ray", "ray")
        if gpus < 0:
            raise ValueError(f"gpus must not be negative, got {gpus}")
        self.address = address
        self.workers = checked_whole("workers", workers) if workers is not None else None
        self.gpus = gpus
        self.timeout = checked_timeout(timeout)

    def run(self, payload: Payload, jobs: Iterable[JobType]) -> Outcomes[JobType]:
        """Each job with its result, as it is done."""
        import ray

        started = not ray.is_initialized()
        if started:
            local: dict[str, Any] = (
                {} if self.address is not None else {"num_cpus": self.workers, "include_dashboard": False}
            )
            ray.init(address=self.address, log_to_driver=False, configure_logging=False, **local)
        try:
            yield from self._run(ray, payload, iter(jobs))
        finally:
            # A cluster that was connected to before stays connected.
            if started:
                ray.shutdown()

    def _run(self, ray: Any, payload: Payload, jobs: Iterator[JobType]) -> Iterator[tuple[JobType, Any]]:
        # A list, because a reference that is an argument itself would be fetched for each task anew.
        shared = [ray.put(pack(payload))]
        # Deaths are counted here: Ray would also run those tasks again that took too long.
        task = ray.remote(num_cpus=1, num_gpus=self.gpus, max_retries=0)(_work)
        name = uuid.uuid4().hex
        at_a_time = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        running: dict[Any, tuple[JobType, int]] = {}

        def submit(job: JobType, deaths: int = 0) -> None:
            running[task.remote(name, shared, pack(job), self.gpus > 0, self.timeout)] = (job, deaths)

        while True:
            while len(running) < at_a_time * AHEAD and (job := next(jobs, None)) is not None:
                submit(job)
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                job, deaths = running.pop(reference)
                try:
                    result = unpack(ray.get(reference))
                except ray.exceptions.RayTaskError as error:  # what a job raises comes back as its failure
                    raise EngineError(f"a worker cannot load what it works with: {error_line(error.cause)}") from error
                except ray.exceptions.RayError as error:  # a worker, a node or an object died
                    if deaths + 1 < ATTEMPTS:
                        submit(job, deaths + 1)
                        continue
                    result = Failure.of_death(error_line(error))
                yield job, result


_payloads: dict[str, Payload] = {}


def _work(name: str, shared: list[Any], job: bytes, on_gpu: bool, timeout: float | None) -> bytes:
    """One task; a worker process fetches what tasks share when it works for a run for the first time."""
    import ray
    import torch

    torch.set_num_threads(1)
    if name not in _payloads:
        _payloads.clear()
        _payloads[name] = unpack(ray.get(shared[0]))
    payload = _payloads[name]
    if on_gpu and hasattr(payload.shared, "to"):
        payload.shared.to("cuda")
    try:
        with time_limit(timeout):
            return pack(run_job(payload, unpack(job)))
    except TimeLimitError:
        return pack(Failure.of_timeout(timeout))
    except Exception as error:  # what cannot be packed or unpacked has no result either
        return pack(Failure.of(error))
