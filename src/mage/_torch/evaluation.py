"""Running somebody's model without leaving a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import torch

# What holds no networks, or too much of everything.
_NOTHING_INSIDE = (str, bytes, int, float, complex, type, ModuleType, torch.Tensor, np.ndarray)
_MOST_LOOKED_AT = 1000
_DENORMAL = 1e-310
_COARSEST = 1 / 16  # of the largest output: what half precision may be off by, however often it is rounded


@contextmanager
def evaluating(*callables: Any) -> Iterator[None]:
    """No gradients, evaluation mode and one CPU thread inside; mode, caches, random state and threads as before after.

    Batches of small graphs are many tiny kernels: a second thread mostly waits (see ``benchmarks/throughput.py``).
    Numbers too small for full precision count as zero: trained weights are full of them, and the processor computes
    with each of them a hundred times as long.

    Args:
        callables: Models, or functions that have networks somewhere about them.
    """
    modules = list(
        dict.fromkeys(module for model in callables for root in networks_behind(model) for module in root.modules())
    )
    modes = [module.training for module in modules]
    threads = torch.get_num_threads()
    on_cpu = not any(parameter.is_cuda for module in modules for parameter in module.parameters(recurse=False))
    devices = [] if on_cpu or not torch.cuda.is_available() else list(range(torch.cuda.device_count()))
    with torch.random.fork_rng(devices=devices), torch.no_grad(), _without_caches(modules), _flushing_denormals():
        try:
            for module in modules:
                module.training = False
            if on_cpu and threads != 1:
                torch.set_num_threads(1)
            yield
        finally:
            for module, mode in zip(modules, modes, strict=True):
                module.training = mode
            if on_cpu and threads != 1:
                torch.set_num_threads(threads)


def resolution_of(outputs: torch.Tensor, networks: Iterable[torch.nn.Module] = ()) -> float:
    """The rounding unit of outputs: that of the coarsest number type among them and the weights behind them."""
    if not outputs.is_floating_point():
        return 0.0
    weights = (weight.dtype for network in networks for weight in network.parameters() if weight.is_floating_point())
    return max(float(torch.finfo(dtype).eps) for dtype in {outputs.dtype, *weights})


def agree(left: torch.Tensor, right: torch.Tensor, tolerance: float) -> bool:
    """Whether outputs differ by no more than this part of the largest of them."""
    finite = right[right.isfinite()].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(left, right, rtol=0.0, atol=min(tolerance, _COARSEST) * scale, equal_nan=True)


@contextmanager
def _flushing_denormals() -> Iterator[None]:
    # Torch does not say whether it flushes; arithmetic does.
    before = float(torch.tensor([_DENORMAL], dtype=torch.float64) * 1.0) == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


@contextmanager
def _without_caches(modules: Sequence[torch.nn.Module]) -> Iterator[None]:
    """Layers of PyG with ``cached=True`` keep the first graph they see, and take all others for it."""
    layers = [module for module in modules if getattr(module, "cached", False) is True]
    kept = [{name: value for name, value in vars(layer).items() if name.startswith("_cached_")} for layer in layers]
    try:
        for layer, caches in zip(layers, kept, strict=True):
            vars(layer)["cached"] = False
            vars(layer).update(dict.fromkeys(caches))
        yield
    finally:
        for layer, caches in zip(layers, kept, strict=True):
            vars(layer)["cached"] = True
            vars(layer).update(caches)


def networks_behind(model: Any, depth: int = 4) -> list[torch.nn.Module]:
    """The networks behind a callable: itself, what it belongs to or is closed over, what these hold, a few steps in."""
    if isinstance(model, torch.nn.Module):
        return [model]
    if depth == 0 or model is None or isinstance(model, _NOTHING_INSIDE):
        return []
    if isinstance(model, dict):
        inside = list(model.values())
    elif isinstance(model, list | tuple | set):
        inside = list(model)
    else:
        cells = [cell.cell_contents for cell in getattr(model, "__closure__", None) or () if _filled(cell)]
        partial = [getattr(model, "func", None), getattr(model, "args", None), getattr(model, "keywords", None)]
        code = getattr(model, "__code__", None)
        named = [getattr(model, "__globals__", {}).get(name) for name in code.co_names] if code is not None else []
        inside = [getattr(model, "__self__", None), *cells, *partial, *getattr(model, "__dict__", {}).values(), *named]
    return [network for part in inside[:_MOST_LOOKED_AT] for network in networks_behind(part, depth - 1)]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (an empty cell raises)
    except ValueError:
        return False
    return True
