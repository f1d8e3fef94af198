"""Running means and moments over units of draws."""

import numpy as np

from mage._core.typing import Floats, Integers
from mage._kernels.jit import allocating_kernel


@allocating_kernel
def add_units(
    ends: Integers,
    unit: int,
    num_units: int,
    targets: Integers,
    contributions: Floats,
    seen: int,
    mean: Floats,
    spread: Floats,
    cubes: Floats,
    largest: Floats,
    parts: Floats,
) -> None:
    """Welford's running mean and sums of squares and cubes over units, each the average of its draws.

    ``largest[0]`` keeps the largest absolute value of a unit for any set; ``parts`` sums of every so many-th unit.
    """
    current = np.zeros(mean.shape[0])
    term = 0
    for u in range(num_units):
        current[:] = 0.0
        end = ends[(u + 1) * unit - 1]
        while term < end:
            current[targets[term]] += contributions[term]
            term += 1
        count = seen + u + 1
        part = (seen + u) % max(parts.shape[0], 1)
        for s in range(mean.shape[0]):
            value = current[s] / unit
            largest[0] = max(largest[0], abs(value))
            change = value - mean[s]
            step = change / count
            growth = change * step * (count - 1)
            mean[s] += step
            cubes[s] += growth * step * (count - 2) - 3 * step * spread[s]
            spread[s] += growth
            if parts.shape[0] > 0:
                parts[part, s] += value
