"""Standard errors of estimated values and of their sums.

Values that are estimated from the same coalitions have correlated errors, so the error of a sum of values, such as a
motif's score, is not that of independent values. The sample is therefore cut into a few dozen parts, and each part
gives a deviation of all values. With these deviations as the rows of D, DᵀD estimates the covariance. It keeps what is
certain: values with a constant sum have a joint error of zero. The whole sample gives a better estimate of single
errors, so the errors of sums are scaled by the ratio of both estimates of the single ones.
"""

from __future__ import annotations

import numpy as np

from mage._core.typing import Floats

PARTS = 64
_Z = 1.96
MOST_NUMBERS = 8_000_000  # of all deviations; beyond, errors are taken as independent


def num_parts(sets: int) -> int:
    """Into how many parts to cut the sample for so many sets; 0 where that would take too much memory."""
    return PARTS if PARTS * sets <= MOST_NUMBERS else 0


def widening(third_squared: Floats, variance_cubed: Floats, draws: int) -> Floats:
    """By how much to widen a standard error so that ±1.96 of it hold the truth in 95 of 100 cases.

    An error from few draws is itself uncertain, and where draws are skewed it is too small just when the value is
    off. This is the second-order term of the Edgeworth expansion of Student's statistic (Hall, The Bootstrap and
    Edgeworth Expansion, 1992), without its small term of the fourth moment.

    Args:
        third_squared: Square of the third central moment of the estimate's error.
        variance_cubed: Cube of its variance.
        draws: Number of independent draws.
    """
    lopsided = np.divide(third_squared, variance_cubed, out=np.zeros_like(variance_cubed), where=variance_cubed > 0)
    by_lopsided, by_few = (_Z**4 + 2 * _Z**2 - 3) / 18, (_Z**2 + 3) / 4
    # No more lopsided than one draw against all others: rounding makes more of next to nothing.
    return np.asarray(1 + by_lopsided * np.minimum(lopsided, 1.0) + by_few / max(draws, 1))


def error_of_sum(errors: Floats, parts: Floats | None) -> float:
    """Standard error of a sum of values with these (weighted) standard errors and deviations."""
    if parts is None:
        return float(np.sqrt(np.sum(errors**2)))
    lengths = (parts**2).sum(axis=0)
    defined = lengths > 0
    together, single = np.sum(parts.sum(axis=1) ** 2), lengths.sum()
    scale = np.sum(errors[defined] ** 2) / single if single else 1.0
    # A value in which no part of the sample deviates has an error that is independent of the others.
    return float(np.sqrt(scale * together + np.sum(errors[~defined] ** 2)))


def noise(std_error: Floats, parts: Floats | None, generator: np.random.Generator) -> Floats:
    """Errors as they might have come out."""
    independent = generator.standard_normal(len(std_error)) * std_error
    if parts is None:
        return np.asarray(independent)
    top = slice(len(std_error) - parts.shape[1], None)
    together = generator.standard_normal(len(parts)) @ parts
    # As with sums: how large errors are is known better from the whole sample.
    defined, whole = parts.any(axis=0), np.sum(parts**2)
    together *= np.sqrt(np.sum(std_error[top][defined] ** 2) / whole) if whole else 1.0
    independent[top] = np.where(defined, together, independent[top])
    return np.asarray(independent)
