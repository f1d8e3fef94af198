"""Pools of rows: sums and largest values of the states of a coalition's nodes."""

import numpy as np

from mage._core.typing import Floats, Integers
from mage._kernels.jit import kernel


@kernel
def add_up(rows: Integers, states: Floats, pooled: Floats) -> None:
    """Sum the states that each row of ``rows`` names; negative numbers name none."""
    for q in range(rows.shape[0]):
        pooled[q, :] = 0
        for place in range(rows.shape[1]):
            row = rows[q, place]
            if row >= 0:
                for column in range(states.shape[1]):
                    pooled[q, column] += states[row, column]


@kernel
def take_largest(rows: Integers, states: Floats, pooled: Floats) -> None:
    """The largest of the states that each row of ``rows`` names, column by column; negative numbers name none."""
    for q in range(rows.shape[0]):
        pooled[q, :] = -np.inf
        for place in range(rows.shape[1]):
            row = rows[q, place]
            if row >= 0:
                for column in range(states.shape[1]):
                    pooled[q, column] = max(pooled[q, column], states[row, column])
