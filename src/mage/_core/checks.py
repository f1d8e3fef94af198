"""Checks of arguments that many functions share."""

import difflib
import itertools
import numbers
import operator
import os
from collections.abc import Callable, Iterable, Sized
from typing import Any, TypeVar

import numpy as np

from mage._core.typing import AnyArray, Floats

Kind = TypeVar("Kind")

_HUGE = 1.7e308  # floats end there
_LARGEST = (1 << 62) - 1  # what compiled loops can count to, and something to spare
_LONGEST = 10**7  # items of a list; a range or an iterator may have any number, and no memory holds them
_UNREADABLE = (TypeError, ValueError, AttributeError, RuntimeError, OverflowError)
"""What libraries raise for an object that looks like a list or an array and cannot be read as one."""


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


def checked_real(name: str, value: Any) -> float:
    """A real number, infinite or undefined ones included, or an error that names the argument."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number, got {shortened(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that floats can hold, got {shortened(value)}") from None


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


def checked_whole(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """A whole number of at least ``least`` and at most ``most``, or an error that names the argument."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}") from None
    if not least <= number <= _LARGEST:
        raise ValueError(f"{name} must be a whole number ≥ {least}{' and < 2⁶²' * (number > 0)}, got {number}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most:,}, got {number:,}")
    return number


def checked_seed(name: str, value: Any) -> int:
    """A seed of random numbers: a whole number of at least 0, or an error that names the argument."""
    return checked_whole(name, value, least=0)


def checked_instance(name: str, value: Any, kind: type[Kind], expected: str) -> Kind:
    """An object of one class, or an error that names the argument and says what is expected."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {expected}, got {shortened(value)}")
    return value


def checked_function(name: str, value: Any) -> Callable[..., Any]:
    """Something that can be called, or an error that names the argument."""
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"{name} must be a function, got {shortened(value)}")
    function: Callable[..., Any] = value
    return function


def checked_text(name: str, value: Any) -> str:
    """A text that a file and a page can hold, or an error that names the argument."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, got {shortened(value)}")
    return checked_texts(name, [value])[0]


def checked_list(name: str, values: Any, expected: str, most: int = _LONGEST) -> list[Any]:
    """The items of a list, a set, an array or anything else that ends, or an error that names the argument.

    Args:
        name: The argument, for the message.
        values: What it is.
        expected: What it must be, for the message.
        most: The largest number of items.
    """
    items: Any = None
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        try:
            items = values.tolist() if hasattr(values, "tolist") else list(itertools.islice(values, most + 1))
        except _UNREADABLE:
            items = None
    if not isinstance(items, list):
        raise ValueError(f"{name} must be {expected}, got {shortened(values)}")
    if len(items) > most:
        raise ValueError(f"{name} must be {expected}, got more than {most:,} items")
    return items


def checked_names(names: Any, count: int, what: str) -> tuple[str, ...]:
    """Names, one for each of so many things, or an error that names the argument ``names``."""
    expected = f"a list of {count} names, one per {what}"
    if not isinstance(names, Sized):
        raise ValueError(f"names must be {expected}, got {shortened(names)}")
    listed = checked_list("names", names, expected)
    if len(listed) != count:
        raise ValueError(f"names must list {count} names, one per {what}, got {len(listed)}")
    return checked_texts("names", listed)


def checked_array(name: str, values: Any, expected: str = "an array") -> AnyArray:
    """An array of whatever is in a list, an array or a tensor, or an error that names the argument."""
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
        elif isinstance(values, Sized) and len(values) > _LONGEST and not hasattr(values, "dtype"):
            raise ValueError
        return np.asarray(values)
    except _UNREADABLE:
        raise ValueError(f"{name} must be {expected}, got {shortened(values)}") from None


def checked_numbers(name: str, values: Any, shape: tuple[int, ...] | None = None) -> Floats:
    """Real numbers of an array, a list or a tensor, or an error that names the argument.

    Args:
        name: The argument, for the message.
        values: What it is.
        shape: The shape that it must have, if that is known.
    """
    try:
        tensor = values.detach().cpu() if hasattr(values, "detach") else None
        array = checked_array(name, values if tensor is None else tensor.float() if tensor.itemsize < 4 else tensor)
        if array.dtype.kind not in "biuf" and array.size:
            raise TypeError
        numbers = array.astype(np.float64)
    except _UNREADABLE:
        raise ValueError(f"{name} must be an array of real numbers, got {shortened(values)}") from None
    if shape is not None and numbers.shape != shape:
        raise ValueError(f"{name} must have shape {list(shape)}, got {list(numbers.shape)}")
    return numbers


def shortened(value: Any) -> str:
    """A value as a message shows it: as Python writes it where that is short, else its type."""
    plain = isinstance(value, str | bytes | int | float | complex | list | tuple | set | dict | os.PathLike)
    text = repr(value) if plain or value is None else f"an object of type {type(value).__name__}"
    if isinstance(value, type):
        text = f"the class {value.__name__}"
    return text if len(text) <= 80 else f"{text[:80]} …"


def checked_texts(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """Texts that a file and a page can hold, or an error that names the argument."""
    texts = tuple(map(str, values))
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{name}: {ascii(text)[:80]} has half of a character (a lone surrogate)") from None
    return texts
