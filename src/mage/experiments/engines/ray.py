"""A Ray cluster, or Ray on this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mage._core.checks import checked_whole
from mage._core.importing import error_line
from mage._core.optional import require
from mage.experiments.engines.base import Engine, JobType, Outcomes, Payload
from mage.experiments.engines.failures import Failure
from mage.experiments.engines.limits import checked_timeout
from mage.experiments.engines.serialization import pack, run_packed_job, unpack
from mage.experiments.engines.worker_pool import Worker, WorkerPool


class RayEngine(Engine):
    """Actors on a Ray cluster; what they share lies once in its object store, and a graph travels by itself.

    An actor that dies, with its node or without, is replaced and its job is run again; a job that kills three of them
    has failed. An actor that finds no free core gets no jobs: the others do them.

    Args:
        address: Address of a cluster, ``"auto"`` for the one this machine belongs to; None starts Ray on this machine.
        workers: Actors at a time, one core each; by default as many as the cluster has cores.
        gpus: GPUs for each actor; models are moved there.
        timeout: Most seconds for a job. One that takes longer is stopped and has failed. None waits for ever.
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
        ray = require("ray", "ray")
        started = not ray.is_initialized()
        if started:
            local: dict[str, Any] = (
                {} if self.address is not None else {"num_cpus": self.workers, "include_dashboard": False}
            )
            ray.init(address=self.address, log_to_driver=False, configure_logging=False, **local)
        try:
            # A list, because a reference that is an argument itself would be fetched before the actor can begin.
            shared = [ray.put(pack(payload))]
            size = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
            # Deaths are counted here. Without events the head node keeps nothing of a job when it is done.
            actor = ray.remote(num_cpus=1, num_gpus=self.gpus, max_restarts=0, enable_task_events=False)(_Actor)
            pool = WorkerPool(
                size, lambda: _RayWorker(lambda: actor.remote(shared, self.gpus > 0)), _wait, self.timeout
            )
            yield from pool.run(iter(jobs))
        finally:
            # A cluster that was connected to before stays connected.
            if started:
                ray.shutdown()


def _wait(handles: list[Any], seconds: float | None) -> list[Any]:
    import ray

    ready: list[Any] = ray.wait(handles, num_returns=1, timeout=seconds)[0]
    return ready


class _RayWorker(Worker):
    """An actor on the cluster.

    Args:
        start: Asks the cluster for one.
    """

    waits_for_start = True  # a cluster may be full

    def __init__(self, start: Callable[[], Any]) -> None:
        super().__init__()
        self._actor = start()
        self._results = deque([self._actor.start.remote()])
        self._end = "killed"

    def post(self, content: bytes) -> None:
        """Send a packed job."""
        self._results.append(self._actor.work.remote(content))

    def handles(self) -> list[Any]:
        """The oldest result: an actor does one thing after the other."""
        return list(self._results)[:1]

    def received(self) -> Iterator[Any]:
        """The results that are there."""
        import ray

        while self._results and ray.wait([self._results[0]], timeout=0)[0]:
            try:
                result = unpack(ray.get(self._results.popleft()))
            except ray.exceptions.RayError as error:  # an actor, a node or an object died
                self._end = error_line(error)
                raise EOFError from None
            yield result

    def end(self, patience: float = 0.0) -> str:
        """End the actor, and say how it ended."""
        import ray

        del patience  # it has nothing to finish
        ray.kill(self._actor)
        return self._end

    def dismiss(self) -> None:
        """An actor need not be told."""


class _Actor:
    """The life of an actor: it is started, and works on jobs until it is killed.

    Args:
        shared: A reference to the packed payload.
        on_gpu: Whether models are moved to a GPU.
    """

    def __init__(self, shared: list[Any], on_gpu: bool) -> None:
        self._shared, self._on_gpu = shared, on_gpu

    def start(self) -> bytes:
        """Fetch what jobs share; None for a good start, or a :class:`Failure`, packed."""
        import ray
        import torch

        torch.set_num_threads(1)
        try:
            self._payload: Payload = unpack(ray.get(self._shared[0]))
            if self._on_gpu and hasattr(self._payload.shared, "to"):
                self._payload.shared.to("cuda")
        except Exception as error:  # unpickling runs the imports of others
            return pack(Failure.of(error))
        return pack(None)

    def work(self, job: bytes) -> bytes:
        """The packed result of a packed job."""
        return run_packed_job(self._payload, job)
