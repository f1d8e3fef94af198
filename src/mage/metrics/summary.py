"""Means over graphs, with their standard errors and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mage._core.checks import checked_numbers


@dataclass(frozen=True)
class Summary:
    """The mean of a metric over graphs.

    Attributes:
        mean: Mean of the values that are defined; NaN if none is.
        std_error: Standard error of the mean over graphs; NaN for fewer than two.
        count: Number of values that are defined.
        undefined: Number of values that are not, such as the AUC of a graph whose edges are all true.
    """

    mean: float
    std_error: float
    count: int
    undefined: int


def summarise(values: Any) -> Summary:
    """Mean, standard error and counts of values; NaN and None are undefined."""
    if isinstance(values, list | tuple):
        values = [np.nan if value is None else value for value in values]
    array = checked_numbers("values", values).ravel()
    defined = array[~np.isnan(array)]
    count = len(defined)
    mean = float(defined.mean()) if count else float("nan")
    error = float(defined.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
    return Summary(mean, error, count, len(array) - count)
