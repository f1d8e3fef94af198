"""A Ray cluster, or Ray on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mage._core.checks import checked_whole
from mage._core.optional import require
from mage.experiments.engines.base import Engine, EngineError, Job, Payload

_RETRIES = 3
_AHEAD = 2


class RayEngine(Engine[Job]):
    """Tasks on a Ray cluster; models and graphs lie once in its object store.

    A task whose worker or node dies is run again, at most three times.

    Args:
        address: Address of a cluster, ``"auto"`` for the one this machine belongs to; None starts Ray on this machine.
        workers: Tasks at a time; by default as many as the cluster has cores.
        gpus: GPUs for each task; models are moved there.
    """

    def __init__(self, address: str | None = None, workers: int | None = None, gpus: float = 0.0) -> None:
        require("ray", "ray")
        if gpus < 0:
            raise ValueError(f"gpus must not be negative, got {gpus}")
        self.address = address
        self.workers = checked_whole("workers", workers) if workers is not None else None
        self.gpus = gpus

    def run(self, payload: Payload, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """Each job with its result, as it is done."""
        import ray

        started = not ray.is_initialized()
        if started:
            own: dict[str, Any] = (
                {} if self.address is not None else {"num_cpus": self.workers, "include_dashboard": False}
            )
            ray.init(address=self.address, log_to_driver=False, configure_logging=False, **own)
        try:
            yield from self._run(ray, payload, iter(jobs))
        finally:
            # A cluster that was connected to before stays connected.
            if started:
                ray.shutdown()

    def _run(self, ray: Any, payload: Payload, jobs: Iterator[Job]) -> Iterator[tuple[Job, Any]]:
        shared = ray.put(payload)
        task = ray.remote(num_cpus=1, num_gpus=self.gpus, max_retries=_RETRIES)(_work)
        at_a_time = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        running: dict[Any, Job] = {}
        while True:
            while len(running) < at_a_time * _AHEAD and (job := next(jobs, None)) is not None:
                running[task.remote(shared, job, self.gpus > 0)] = job
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                job = running.pop(reference)
                try:
                    result = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from error
                except ray.exceptions.RayError as error:  # a worker, a node or an object died, again and again
                    raise EngineError(f"Ray gave up on {job} after {_RETRIES} retries: {error}") from error
                yield job, result


def _work(payload: Payload, job: Any, on_gpu: bool) -> Any:
    import torch

    torch.set_num_threads(1)
    if on_gpu and hasattr(payload.shared, "to"):
        payload.shared.to("cuda")
    return payload.function(payload.shared, job)
