"""Running a user's model without changing it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any

import numpy as np
import torch

from mage._torch.network_locks import holding

# Types that hold no networks, or too many other objects to search.
_WITHOUT_NETWORKS = (str, bytes, int, float, complex, type, ModuleType, torch.Tensor, np.ndarray)
_MOST_PARTS = 1000
_DENORMAL = 1e-310
_COARSEST = 1 / 16  # of the largest output: what half precision may be off by, however often it is rounded


@contextmanager
def evaluating(*callables: Any) -> Iterator[None]:
    """Evaluation mode, no gradients and one CPU thread during the block; afterwards all settings are restored.

    Restored are mode, caches, random state and number of threads. Threads take turns: while one evaluates a network,
    others that need it, or a part of it, wait (a lock per network; a private copy would miss networks in closures).
    Torch's settings are changed for the calling thread only. A thread that runs a network in training mode outside of
    such a block may see it in evaluation mode; call ``model.eval()`` once before serving.

    Batches of small graphs are many tiny kernels: a second CPU thread mostly waits (see ``benchmarks/throughput.py``).
    Denormal numbers count as zero: trained weights have many of them, and each costs a hundred times as long.

    Args:
        callables: Models, or functions that use networks.
    """
    modules = _modules_behind(callables)
    on_cpu = not any(parameter.is_cuda for module in modules for parameter in module.parameters(recurse=False))
    devices = [] if on_cpu or not torch.cuda.is_available() else list(range(torch.cuda.device_count()))
    with (
        holding(modules),
        _restoring_random_state(devices),
        torch.no_grad(),
        _without_caches(modules),
        _flushing_denormals(),
        _one_cpu_thread() if on_cpu else nullcontext(),
    ):
        modes = [module.training for module in modules]
        try:
            for module in modules:
                module.training = False
            yield
        finally:
            for module, mode in zip(modules, modes, strict=True):
                module.training = mode


def exclusively(*callables: Any) -> AbstractContextManager[None]:
    """Keep other threads from evaluating the networks behind these callables during the block; changes no settings."""
    return holding(_modules_behind(callables))


def _modules_behind(callables: Iterable[Any]) -> list[torch.nn.Module]:
    roots = (root for model in callables for root in networks_behind(model))
    return list(dict.fromkeys(module for root in roots for module in root.modules()))


@contextmanager
def _restoring_random_state(devices: Sequence[int]) -> Iterator[None]:
    """Restore the global random state after the block, unless other threads are running.

    Torch has one generator for all threads. Restoring it would let other threads draw the same numbers twice.
    """
    before, on_devices = torch.get_rng_state(), [torch.cuda.get_rng_state(device) for device in devices]
    try:
        yield
    finally:
        if threading.active_count() == 1:
            if not torch.equal(torch.get_rng_state(), before):
                torch.set_rng_state(before)
            for device, state in zip(devices, on_devices, strict=True):
                torch.cuda.set_rng_state(state, device)


_threads_lock = threading.Lock()
_threads_outside: list[int] = []  # for each thread in the block: its number of CPU threads before it
_thread_has_entered = threading.local()


@contextmanager
def _one_cpu_thread() -> Iterator[None]:
    """Use one CPU thread during the block, and restore the number afterwards.

    Torch keeps this number per thread, but a new thread starts with the number that any thread set last. A thread that
    starts while others are in the block would start with 1 and keep it. It gets the number of the others instead.
    """
    threads = torch.get_num_threads()
    with _threads_lock:
        if not getattr(_thread_has_entered, "value", False):
            _thread_has_entered.value = True
            threads = max([threads, *_threads_outside])
        _threads_outside.append(threads)
    try:
        torch.set_num_threads(1)
        yield
    finally:
        with _threads_lock:
            _threads_outside.remove(threads)
        torch.set_num_threads(threads)


def resolution_of(outputs: torch.Tensor, networks: Iterable[torch.nn.Module] = ()) -> float:
    """The rounding unit of outputs: that of the coarsest number type among them and the weights behind them."""
    if not outputs.is_floating_point():
        return 0.0
    weights = (weight.dtype for network in networks for weight in network.parameters() if weight.is_floating_point())
    return max(float(torch.finfo(dtype).eps) for dtype in {outputs.dtype, *weights})


def agree(left: torch.Tensor, right: torch.Tensor, tolerance: float) -> bool:
    """Whether outputs have the same shape and differ by at most ``tolerance`` times the largest of them."""
    if left.shape != right.shape:
        return False
    finite = right[right.isfinite()].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(left, right, rtol=0.0, atol=min(tolerance, _COARSEST) * scale, equal_nan=True)


@contextmanager
def _flushing_denormals() -> Iterator[None]:
    # Torch has no function that tells whether it flushes denormals; a product does.
    before = float(torch.tensor([_DENORMAL], dtype=torch.float64) * 1.0) == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


@contextmanager
def _without_caches(modules: Sequence[torch.nn.Module]) -> Iterator[None]:
    """Switch off the caches of PyG's layers with ``cached=True``: they would reuse the first graph for all others."""
    layers = [module for module in modules if getattr(module, "cached", False) is True]
    contents = [{name: value for name, value in vars(layer).items() if name.startswith("_cached_")} for layer in layers]
    try:
        for layer, caches in zip(layers, contents, strict=True):
            vars(layer)["cached"] = False
            vars(layer).update(dict.fromkeys(caches))
        yield
    finally:
        for layer, caches in zip(layers, contents, strict=True):
            vars(layer)["cached"] = True
            vars(layer).update(caches)


def networks_behind(model: Any, depth: int = 4) -> list[torch.nn.Module]:
    """The networks that a callable uses: itself, its object, its closure and globals, and their parts to some depth."""
    if isinstance(model, torch.nn.Module):
        return [model]
    if depth == 0 or model is None or isinstance(model, _WITHOUT_NETWORKS):
        return []
    if isinstance(model, dict):
        parts = list(model.values())
    elif isinstance(model, list | tuple | set):
        parts = list(model)
    else:
        cells = [cell.cell_contents for cell in getattr(model, "__closure__", None) or () if _filled(cell)]
        partial = [getattr(model, "func", None), getattr(model, "args", None), getattr(model, "keywords", None)]
        code = getattr(model, "__code__", None)
        values = [getattr(model, "__globals__", {}).get(name) for name in code.co_names] if code is not None else []
        parts = [getattr(model, "__self__", None), *cells, *partial, *getattr(model, "__dict__", {}).values(), *values]
    return [network for part in parts[:_MOST_PARTS] for network in networks_behind(part, depth - 1)]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (an empty cell raises)
    except ValueError:
        return False
    return True
