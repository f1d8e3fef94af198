"""Engines: where batches of graphs are explained. All run the same code and return the same records."""

from typing import Any

from mage.experiments.engines.base import Engine, EngineError, Payload
from mage.experiments.engines.local import LocalEngine, SerialEngine
from mage.experiments.engines.ray import RayEngine

__all__ = ["Engine", "EngineError", "LocalEngine", "Payload", "RayEngine", "SerialEngine", "make_engine"]


def make_engine(
    name: str = "local", workers: int | None = None, address: str | None = None, gpus: float = 0.0
) -> Engine[Any]:
    """An engine by name: ``local`` (processes), ``ray`` (a cluster) or ``serial`` (this process)."""
    if name == "serial":
        return SerialEngine()
    if name == "local":
        if address is not None:
            raise ValueError("address: only the ray engine has one")
        return LocalEngine(workers)
    if name == "ray":
        return RayEngine(address, workers, gpus)
    raise ValueError(f"engine: {name!r} is none of local, ray, serial")
