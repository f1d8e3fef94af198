"""Checks of arguments that many functions share."""

import operator
from typing import Any


def checked_whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least ``least``, or an error that names the argument."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {number}")
    return number
