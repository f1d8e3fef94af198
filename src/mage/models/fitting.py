"""The loop that all trainings share: one rise and fall of the learning rate, the best epoch's weights in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch

Score: TypeAlias = tuple[float, ...]
"""How good a network is; of two, the larger tuple is better."""


@dataclass(frozen=True)
class FitResult:
    """How a training went.

    Args:
        epochs: Passes over the data until the end.
        best_epoch: The one whose weights the network has now.
    """

    epochs: int
    best_epoch: int


def fit(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    losses: Callable[[], Iterable[torch.Tensor]],
    *,
    epochs: int,
    steps: int,
    validate: Callable[[], Score] | None = None,
    patience: int | None = None,
    clip: float | None = None,
    on_epoch: Callable[[int, float, Score], None] | None = None,
) -> FitResult:
    """Train a network; it is in evaluation mode afterwards.

    Args:
        model: The network.
        optimizer: What changes its weights; its learning rate is the highest that is used.
        losses: Yields the losses of one epoch, each computed when it is needed.
        epochs: Passes over the data.
        steps: Losses per epoch.
        validate: How good the network is now; without it, the last weights are kept.
        patience: Stop after so many epochs without a better one.
        clip: Largest norm of a gradient; longer ones are scaled.
        on_epoch: Called after each epoch with its number, its mean loss and how good the network then is.
    """
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, optimizer.defaults["lr"], total_steps=epochs * steps)
    best: Score = ()
    weights: dict[str, torch.Tensor] = {}
    best_epoch = epoch = 0
    for epoch in range(1, epochs + 1):
        model.train()
        values = [_step(model, optimizer, schedule, loss, clip) for loss in losses()]
        model.eval()
        score = (float(epoch),) if validate is None else validate()
        if score > best:
            best, best_epoch = score, epoch
            weights = {name: value.clone() for name, value in model.state_dict().items()}
        if on_epoch is not None:
            on_epoch(epoch, float(np.mean(values)), score)
        if patience is not None and epoch - best_epoch >= patience:
            break
    model.load_state_dict(weights)
    model.eval()
    return FitResult(epoch, best_epoch)


def _step(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
    loss: torch.Tensor,
    clip: float | None,
) -> float:
    optimizer.zero_grad()
    torch.autograd.backward(loss)  # the typed spelling of loss.backward()
    if clip is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    schedule.step()
    return float(loss.detach())


@contextmanager
def one_thread() -> Iterator[None]:
    """Kernels this small lose to the cost of sharing them, and sums in one order repeat to the last bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
