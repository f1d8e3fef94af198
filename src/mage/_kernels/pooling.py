"""Pools of rows: sums and largest values of the states of a coalition's nodes."""

import numpy as np

from mage._core.typing import Floats, Integers
from mage._kernels.jit import kernel


@kernel
def add_up(rows: Integers, states: Floats, pooled: Floats) -> None:
    """Sum the states that each row of ``rows`` names; negative numbers name none."""
    (count, places), (_, width) = rows.shape, states.shape
    for q in range(count):
        for column in range(width):
            pooled[q, column] = 0
        for place in range(places):
            row = rows[q, place]
            if row >= 0:
                for column in range(width):
                    pooled[q, column] += states[row, column]


@kernel
def take_largest(rows: Integers, states: Floats, pooled: Floats) -> None:
    """The largest of the states that each row of ``rows`` names, column by column; negative numbers name none."""
    (count, places), (_, width) = rows.shape, states.shape
    for q in range(count):
        for column in range(width):
            pooled[q, column] = -np.inf
        for place in range(places):
            row = rows[q, place]
            if row >= 0:
                for column in range(width):
                    pooled[q, column] = max(pooled[q, column], states[row, column])
