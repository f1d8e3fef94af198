"""Random numbers of one thread: torch has one global generator for all threads."""

from __future__ import annotations

import inspect
import random
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

# Calls that draw and take ``generator=``; in-place methods of tensors among them.
_DRAWS = {"rand", "randn", "randint", "randperm", "bernoulli", "multinomial", "normal", "poisson"}
_DRAWS |= {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_"}
# Those that are drawn like another tensor, of which not every release takes ``generator=``.
_ALIKE: dict[str, Callable[..., Tensor]] = {
    "rand_like": lambda tensor, generator: tensor.uniform_(generator=generator),
    "randn_like": lambda tensor, generator: tensor.normal_(generator=generator),
}


def random_states() -> tuple[Any, ...]:
    """The states of the global generators: others after a call that draws, the same after calls that seed them alike.

    Nothing where there are other threads, which may have drawn.
    """
    if threading.active_count() > 1:
        return ()
    numbers: Any = np.random.get_state(legacy=True)  # noqa: NPY002 (models may draw from it)
    return torch.get_rng_state().numpy().tobytes(), numbers[1].tobytes(), numbers[2], random.getstate()


class OwnRandomNumbers(TorchFunctionMode):
    """During the block, this thread draws from a generator of its own; other threads are not affected.

    The numbers are those that ``torch.manual_seed(seed)`` would give. Functions that take no generator, like dropout,
    draw from the global one as ever.

    Args:
        seed: Seed of the generator.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if kwargs.get("generator") is None:
            if name in _ALIKE:
                return _ALIKE[name](torch.empty_like(*args, **kwargs), self._generator(args[0].device))
            if name in _DRAWS or _is_initialisation(func):
                tensor = next((value for value in args if isinstance(value, Tensor)), None)
                device = kwargs.get("device", "cpu") if tensor is None else tensor.device
                kwargs = {**kwargs, "generator": self._generator(torch.device(device or "cpu"))}
        return func(*args, **kwargs)

    def _generator(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


@cache
def _is_initialisation(func: Callable[..., Any]) -> bool:
    """Whether a function is one of ``torch.nn.init`` that draws."""
    return getattr(func, "__module__", "") == "torch.nn.init" and "generator" in inspect.signature(func).parameters
