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
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    modes = [module.training for module in modules]
    threads = torch.get_num_threads()
    on_cpu = not any(parameter.is_cuda for module in modules[:1] for parameter in module.parameters())
    devices = [] if on_cpu or not torch.cuda.is_available() else list(range(torch.cuda.device_count()))
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        try:
            if modules:
                modules[0].eval()
            if on_cpu and threads != 1:
                torch.set_num_threads(1)
            yield
        finally:
            for module, mode in zip(modules, modes, strict=True):
                module.training = mode
            if on_cpu and threads != 1:
                torch.set_num_threads(threads)
