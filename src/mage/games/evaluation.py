"""Running somebody's model without leaving a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """No gradients, evaluation mode and one CPU thread inside; mode, random state and threads as before afterwards.

    Batches of small graphs are many tiny kernels: a second thread mostly waits (see ``benchmarks/throughput.py``).
    """
    modules = [module for root in _networks(model) for module in root.modules()]
    modes = [module.training for module in modules]
    threads = torch.get_num_threads()
    on_cpu = not any(parameter.is_cuda for module in modules for parameter in module.parameters(recurse=False))
    devices = [] if on_cpu or not torch.cuda.is_available() else list(range(torch.cuda.device_count()))
    with torch.random.fork_rng(devices=devices), torch.no_grad():
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


def _networks(model: Any) -> list[torch.nn.Module]:
    """The networks behind a callable: itself, the object it is a method of, what it is closed over, its attributes."""
    if isinstance(model, torch.nn.Module):
        return [model]
    cells = [cell.cell_contents for cell in getattr(model, "__closure__", None) or () if _filled(cell)]
    partial = [
        getattr(model, "func", None),
        *getattr(model, "args", ()),
        *(getattr(model, "keywords", None) or {}).values(),
    ]
    inside = (
        [getattr(model, "__self__", None), *cells, *partial, *vars(model).values()]
        if hasattr(model, "__dict__")
        else []
    )
    code = getattr(model, "__code__", None)
    named = [getattr(model, "__globals__", {}).get(name) for name in code.co_names] if code is not None else []
    return [found for found in (*inside, *named) if isinstance(found, torch.nn.Module)]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (an empty cell raises)
    except ValueError:
        return False
    return True
