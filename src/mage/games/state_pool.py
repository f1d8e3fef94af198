"""Outputs of a model for many coalitions at once: the states of their nodes are pooled and passed through the head."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Floats, Integers
from mage._kernels import pooling as kernels
from mage._torch.pool_and_head import PoolAndHead
from mage.games.node_states import NodeStates

REDUCTIONS = ("mean", "sum", "max")
"""Pools that are computed here; all others are left to the model."""

# What a pool followed by a linear head does, by the names of torch's functions.
_LINEAR = frozenset(
    [
        "expand_as",
        "expand",
        "new_zeros",
        "zeros",
        "scatter_add_",
        "index_add_",
        "clamp",
        "clamp_",
        "view",
        "reshape",
        "flatten",
        "squeeze",
        "unsqueeze",
        "div",
        "linear",
        "add",
        "dropout",
        "max",
        "arange",
        "searchsorted",
        "__getitem__",
        "to",
        "float",
        "double",
        "contiguous",
    ]
)


class StatePool:
    """The output of a model where the states of all nodes are known.

    Args:
        states: The states.
        pool_and_head: The model's pool and head.

    Attributes:
        reduction: How the pool makes one row of many, where that is known; None leaves it to the model.
        linear: Whether the head is linear, so that it may come before a pool that adds up or averages.
    """

    def __init__(self, states: NodeStates, pool_and_head: PoolAndHead) -> None:
        self.states = states
        self.pool_and_head = pool_and_head
        self.reduction: str | None = None
        self.linear = False
        self._is_settled = False
        self._outputs: Tensor | None = None

    @property
    def may_be_linear(self) -> bool:
        """Whether all that follows the embeddings may be a pool and a linear head."""
        return set(self.pool_and_head.names_after_pool) <= _LINEAR

    def settle(self) -> None:
        """Fix ``reduction`` and ``linear``. A linear head then replaces each embedding by its output."""
        if self.linear and not self._is_settled:
            self.states.project(self._outputs_of_states(), self._of_single_nodes_precisely)
            self._is_settled, self._outputs = True, None

    @cached_property
    def _constant(self) -> Floats:
        """The output of a linear head for an embedding of zeros: its bias."""
        nothing = torch.zeros(
            1, self.pool_and_head.width, dtype=self.states.embeddings.dtype, device=self.states.embeddings.device
        )
        return np.asarray(self._of_single_nodes_precisely(nothing).numpy()[0])

    def __call__(self, rows: Integers) -> Tensor:
        """The model's output [q, C] for the states of the nodes of each coalition [q, n]; −1 for removed nodes."""
        if self.linear:
            return torch.from_numpy(self._linear_outputs(rows))
        embeddings = self.states.embeddings
        if self.reduction is None:
            graph, place = np.nonzero(rows >= 0)
            states = embeddings[torch.from_numpy(rows[graph, place]).to(embeddings.device)]
            return self.pool_and_head.outputs(states, torch.from_numpy(graph).to(embeddings.device), len(rows))
        pooled = torch.from_numpy(_reduced(rows, embeddings.cpu().numpy(), self.reduction)).to(embeddings.device)
        return self._of_single_nodes(pooled)

    def _of_single_nodes(self, embeddings: Tensor) -> Tensor:
        """The output where each graph has one node."""
        return self.pool_and_head.outputs(
            embeddings, torch.arange(len(embeddings), device=embeddings.device), len(embeddings)
        )

    def _of_single_nodes_precisely(self, embeddings: Tensor) -> Tensor:
        return self._of_single_nodes(embeddings).double().cpu()

    def _outputs_of_states(self) -> Tensor:
        """The output of a linear head for each state."""
        embeddings = self.states.embeddings
        if self._is_settled:
            return embeddings
        if self._outputs is None or len(self._outputs) < len(embeddings):
            self._outputs = self._of_single_nodes_precisely(embeddings)
        return self._outputs

    def _linear_outputs(self, rows: Integers) -> Floats:
        constant, states = self._constant, self._outputs_of_states().numpy()
        if self.reduction == "mean":
            return _reduced(rows, states, "mean")
        return np.asarray(constant + _reduced(rows, np.ascontiguousarray(states - constant), "sum"))


def _reduced(rows: Integers, states: Floats, reduction: str) -> Floats:
    """The pooled states of each row [q, width]."""
    states = np.ascontiguousarray(states)
    pooled = np.empty((len(rows), states.shape[1]), dtype=states.dtype)
    if reduction == "max":
        kernels.take_largest(rows, states, pooled)
        return pooled
    kernels.add_up(rows, states, pooled)
    if reduction == "mean":
        pooled /= np.maximum((rows >= 0).sum(axis=1, keepdims=True), 1).astype(states.dtype)
    return pooled
