"""The result of an estimator: values of sets of players, with errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mage._core.typing import Floats


class Estimate(NamedTuple):
    """The values that an estimator returns, and their errors.

    Attributes:
        values: Values of all sets, by size and then in lexicographic order.
        std_error: Their standard errors.
        parts: The deviations D of the values of the largest sets, as far down as values are uncertain; None if unknown.
        exact: Whether every value is exact up to rounding.
        stopped: Why the run ended early; empty if it did not.
        num_permutations: Orderings that the values are averages over.
        num_samples: Random sets that the values are averages over.
    """

    values: Floats
    std_error: Floats
    parts: Floats | None = None
    exact: bool = False
    stopped: str = ""
    num_permutations: int = 0
    num_samples: int = 0

    @classmethod
    def certain(cls, values: Floats) -> Estimate:
        """Values without error."""
        return cls(values, np.zeros_like(values), exact=True)
