"""Engines: where graphs are explained. All run the same code and return the same results."""

from mage.experiments.engines.base import Engine, EngineError, Payload
from mage.experiments.engines.failures import Failure
from mage.experiments.engines.local import LocalEngine, SerialEngine
from mage.experiments.engines.ray import RayEngine

__all__ = ["Engine", "EngineError", "Failure", "LocalEngine", "Payload", "RayEngine", "SerialEngine", "make_engine"]


def make_engine(
    name: str = "local",
    workers: int | None = None,
    address: str | None = None,
    gpus: float = 0.0,
    timeout: float | None = None,
) -> Engine:
    """An engine by name: ``local`` (processes), ``ray`` (a cluster) or ``serial`` (this process).

    Args:
        name: Name of the engine.
        workers: Processes or tasks at a time.
        address: Address of a Ray cluster.
        gpus: GPUs for each Ray task.
        timeout: Most seconds for a graph; None waits for ever.
    """
    if address is not None and name != "ray":
        raise ValueError("address: only the ray engine has one")
    if name == "serial":
        if timeout is not None:
            raise ValueError("timeout: the serial engine cannot stop a graph; take the local one")
        return SerialEngine()
    if name == "local":
        return LocalEngine(workers, timeout)
    if name == "ray":
        return RayEngine(address, workers, gpus, timeout)
    raise ValueError(f"engine: {name!r} is none of local, ray, serial")
