"""Checks of arguments that many functions share."""

import difflib
import numbers
import operator
from collections.abc import Iterable
from typing import Any

_HUGE = 1.7e308  # floats end there
_LARGEST = (1 << 62) - 1  # what compiled loops can count to, and something to spare


def checked_flag(name: str, value: Any) -> bool:
    """True or False, or an error that names the argument: any text would pass for true."""
    if not (isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def checked_number(name: str, value: Any) -> float:
    """A finite real number, or an error that names the argument."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not abs(value) < _HUGE:
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def checked_choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """One of some words, or an error that names the argument and lists them."""
    listed = tuple(allowed)
    if not isinstance(value, str) or value not in listed:
        raise ValueError(f"{name} must be one of {', '.join(listed)}; got {value!r}{did_you_mean(value, listed)}")
    return value


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """``" (did you mean 'mutagenic'?)"`` for a name that is close to a known one; empty where none is."""
    close = difflib.get_close_matches(str(value), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def checked_whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least ``least``, or an error that names the argument."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}") from None
    if not least <= number <= _LARGEST:
        raise ValueError(f"{name} must be a whole number ≥ {least}{' and < 2⁶²' * (number > 0)}, got {number}")
    return number


def checked_texts(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """Texts that a file and a page can hold, or an error that names the argument."""
    texts = tuple(map(str, values))
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{name}: {ascii(text)[:80]} has half of a character (a lone surrogate)") from None
    return texts
