"""Frozen dataclasses as plain JSON values and arrays, and back. The type hints of their fields say what is allowed.

A field may hold a bool, int, float, str or None, a tuple or mapping of these, a numpy array, another dataclass, or a
union of them. Arrays are kept beside the JSON values under the dotted path of their field. Where a hint does not name
the dataclass itself but a base class, a union or ``Any``, the dataclass needs a name of its own, given by
:func:`stored_as`; only classes with such a name are ever made from a file, and nothing is imported or unpickled. Of a
function, and of an object in a field that may hold anything, only a description is kept: :class:`NotStored`.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from mage._core.typing import AnyArray

Arrays = dict[str, AnyArray]
_Class = TypeVar("_Class", bound=type)
# No field has such a name. In mappings it is refused, or a file could say that a mapping is something else.
_MARK = "$"
_KIND = f"{_MARK}kind"
_ARRAY = f"{_MARK}array"
_NOT_STORED = "not stored"
_PLAIN_TYPES = (bool, int, float, str)
_NAMED: dict[str, type] = {}


class Codec(NamedTuple):
    """How a class that is converted in a way of its own becomes a header with arrays, and back."""

    to_plain: Callable[[Any], tuple[Any, Arrays]]
    from_plain: Callable[[Any, Arrays], Any]


_CODECS: dict[type, Codec] = {}


@dataclass(frozen=True)
class NotStored:
    """Stands for a function or an object that a file does not keep.

    Attributes:
        what: Its name.
    """

    what: str

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse to stand in for the function."""
        raise ValueError(f"{self.what} was not kept with the file; pass it again")


def stored_as(name: str) -> Callable[[_Class], _Class]:
    """A decorator that gives a dataclass the name under which files know it."""

    def register(kind: _Class) -> _Class:
        if _NAMED.setdefault(name, kind) is not kind:
            raise ValueError(f"{name!r} already names {_NAMED[name].__qualname__}")
        return kind

    return register


def add_codec(kind: type, to_plain: Callable[..., Any], from_plain: Callable[..., Any]) -> None:
    """Convert a class by functions of its own: to a header and arrays, and from them."""
    _CODECS[kind] = Codec(to_plain, from_plain)


def same(one: Any, other: Any) -> bool:
    """Whether two dataclasses of one class hold equal values, arrays included; NaN equals NaN."""
    if type(one) is not type(other):
        return False
    (first, first_arrays), (second, second_arrays) = to_plain(one), to_plain(other)
    return (
        _comparable(first) == _comparable(second)
        and first_arrays.keys() == second_arrays.keys()
        and all(
            first_arrays[name].dtype == second_arrays[name].dtype
            and np.array_equal(first_arrays[name], second_arrays[name], equal_nan=first_arrays[name].dtype.kind == "f")
            for name in first_arrays
        )
    )


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _comparable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_comparable(part) for part in value]
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


# -- to plain values --------------------------------------------------------------------------------------------------


def to_plain(value: Any) -> tuple[Any, Arrays]:
    """A dataclass as JSON values, and the arrays that go with them by name."""
    arrays: Arrays = {}
    return _written(value, type(value), "", arrays), arrays


def _written(value: Any, hint: Any, path: str, arrays: Arrays) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if value is None or type(value) in _PLAIN_TYPES:
        return value
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {_ARRAY: path}
    if isinstance(value, tuple | list):
        item = _item_hint(hint)
        return [_written(part, item, f"{path}[{place}]", arrays) for place, part in enumerate(value)]
    if isinstance(value, Mapping):
        marked = [name for name in value if str(name).startswith(_MARK)]
        if marked:
            raise TypeError(f"{path or 'value'}: names of a mapping must not start with {_MARK!r}, got {marked[0]!r}")
        return {str(name): _written(part, Any, f"{path}.{name}", arrays) for name, part in value.items()}
    return _written_object(value, hint, path, arrays)


def _written_object(value: Any, hint: Any, path: str, arrays: Arrays) -> Any:
    kind: Any = type(value)
    if kind in _CODECS:
        header, parts = _CODECS[kind].to_plain(value)
        arrays.update({_joined(path, name): part for name, part in parts.items()})
        return header
    if (not is_dataclass(value) and (callable(value) or hint is Any)) or isinstance(value, NotStored):
        return {_KIND: _NOT_STORED, "what": _described(value)}
    if not is_dataclass(value):
        raise TypeError(f"{path or 'value'}: {kind.__name__} cannot be stored; use plain values or a dataclass of them")
    hints = _hints(kind)
    plain = {
        name: _written(getattr(value, name), hints[name], _joined(path, name), arrays) for name in _field_names(kind)
    }
    # Where the hint names the class, alone or beside None, the file need not.
    if hint is kind or set(get_args(hint)) == {kind, type(None)}:
        return plain
    if _name_of(kind) is None:
        raise TypeError(f"{path}: {kind.__name__} has no name in files; decorate the class with stored_as(name)")
    return {_KIND: _name_of(kind), **plain}


def _described(value: Any) -> str:
    if isinstance(value, NotStored):
        return value.what
    definition = value if hasattr(value, "__qualname__") else type(value)
    return f"{definition.__module__}.{definition.__qualname__}"


def _name_of(kind: type) -> str | None:
    return next((name for name, registered_type in _NAMED.items() if registered_type is kind), None)


def _item_hint(hint: Any) -> Any:
    """The hint of the items of a tuple, where it is one for all of them."""
    arguments = get_args(hint)
    return arguments[0] if get_origin(hint) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis else Any


# -- from plain values ------------------------------------------------------------------------------------------------


def from_plain(kind: type, plain: Any, arrays: Arrays) -> Any:
    """The dataclass that :func:`to_plain` took apart; raises ValueError where a value is not what the hints say."""
    left = dict(arrays)
    value = _read(plain, kind, "", left)
    if left:
        raise ValueError(f"arrays that belong to no field: {', '.join(sorted(left))}")
    return value


def _read(plain: Any, hint: Any, path: str, arrays: Arrays) -> Any:
    if hint in _CODECS:
        return _read_by_codec(plain, hint, path, arrays)
    if get_origin(hint) in _READERS:
        return _READERS[get_origin(hint)](plain, get_args(hint), path, arrays)
    if hint in _PLAIN_TYPES or hint in (None, type(None)):
        return _read_value(plain, hint, path)
    return (_read_any if hint is Any else _read_dataclass)(plain, hint, path, arrays)


def _read_value(plain: Any, hint: Any, path: str) -> Any:
    # JSON knows true from 1, isinstance does not.
    allowed = (type(None),) if hint in (None, type(None)) else (int, float) if hint is float else (hint,)
    if type(plain) not in allowed:
        raise _wrong(path, allowed[-1].__name__, plain)
    return plain


def _read_literal(plain: Any, choices: tuple[Any, ...], path: str) -> Any:
    if not any(plain == choice and type(plain) is type(choice) for choice in choices):
        raise _wrong(path, f"one of {', '.join(map(str, choices))}", plain)
    return plain


def _read_mapping(plain: Any, arguments: tuple[Any, ...], path: str, arrays: Arrays) -> dict[str, Any]:
    if type(plain) is not dict:
        raise _wrong(path, "a mapping", plain)
    return {name: _read(part, arguments[1], f"{path}.{name}", arrays) for name, part in plain.items()}


def _read_any(plain: Any, hint: Any, path: str, arrays: Arrays) -> Any:
    if plain is None or type(plain) in _PLAIN_TYPES:
        return plain
    if type(plain) is list:
        return tuple(_read(part, hint, f"{path}[{place}]", arrays) for place, part in enumerate(plain))
    if plain.get(_KIND) == _NOT_STORED:
        return _read_function(plain, path)
    if _KIND in plain:
        return _read_dataclass(plain, object, path, arrays)
    if set(plain) == {_ARRAY}:
        return _read_array(plain, (Any, np.dtype[Any]), path, arrays)
    return _read_mapping(plain, (str, hint), path, arrays)


def _read_function(plain: Any, path: str) -> NotStored:
    if type(plain) is not dict or plain.get(_KIND) != _NOT_STORED or type(plain.get("what")) is not str:
        raise _wrong(path, "a function", plain)
    return NotStored(plain["what"])


def _read_union(plain: Any, members: tuple[Any, ...], path: str, arrays: Arrays) -> Any:
    problems = []
    for member in members:
        try:
            return _read(plain, member, path, arrays)
        except ValueError as error:
            problems.append(str(error))
    raise ValueError(problems[0] if plain is not None and problems else _wrong(path, "given", plain))


def _read_array(plain: Any, arguments: tuple[Any, ...], path: str, arrays: Arrays) -> AnyArray:
    if plain != {_ARRAY: path} or path not in arrays:
        raise _wrong(path, "an array", plain)
    array = arrays.pop(path)
    (expected,) = get_args(arguments[1]) or (Any,)
    if expected is Any:
        return array
    if not np.can_cast(array.dtype, expected, casting="safe"):
        raise ValueError(f"{path} must hold {np.dtype(expected)}, got {array.dtype}")
    return array.astype(expected, copy=False)


def _read_tuple(plain: Any, arguments: tuple[Any, ...], path: str, arrays: Arrays) -> tuple[Any, ...]:
    if type(plain) is not list:
        raise _wrong(path, "a list", plain)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        hints = (arguments[0],) * len(plain)
    elif len(plain) == len(arguments):
        hints = arguments
    else:
        raise _wrong(path, f"a list of {len(arguments)}", plain)
    return tuple(
        _read(part, hint, f"{path}[{place}]", arrays)
        for place, (part, hint) in enumerate(zip(plain, hints, strict=True))
    )


def _read_by_codec(plain: Any, kind: type, path: str, arrays: Arrays) -> Any:
    start = _joined(path, "")
    members = {name.removeprefix(start): arrays.pop(name) for name in list(arrays) if name.startswith(start)}
    return _CODECS[kind].from_plain(plain, members)


def _read_dataclass(plain: Any, hint: Any, path: str, arrays: Arrays) -> Any:
    if type(plain) is not dict:
        raise _wrong(path, "a mapping", plain)
    kind: Any = hint
    parts = plain
    if _KIND in plain:
        parts = {name: part for name, part in plain.items() if name != _KIND}
        kind = _NAMED.get(plain[_KIND]) if type(plain[_KIND]) is str else None
        if kind is None or not issubclass(kind, hint):
            raise ValueError(f"{path or 'value'}: there is no kind {plain[_KIND]!r:.60}")
    dataclass_type: Any = kind if is_dataclass(kind) else None
    if dataclass_type is None:
        raise _wrong(path, "of a known kind", plain)
    names = _field_names(dataclass_type)
    if set(parts) != set(names):
        missing, unknown = sorted(set(names) - set(parts)), sorted(set(parts) - set(names))
        problem = f"{missing[0]} is missing" if missing else f"{unknown[0]} is not known"
        raise ValueError(f"{_joined(path, '') if path else ''}{problem}")
    hints = _hints(dataclass_type)
    return dataclass_type(**{name: _read(parts[name], hints[name], _joined(path, name), arrays) for name in names})


_READERS: dict[Any, Callable[[Any, tuple[Any, ...], str, Arrays], Any]] = {
    Union: _read_union,
    types.UnionType: _read_union,
    np.ndarray: _read_array,
    tuple: _read_tuple,
    Literal: lambda plain, choices, path, _: _read_literal(plain, choices, path),
    Callable: lambda plain, _, path, __: _read_function(plain, path),
    Mapping: _read_mapping,
    dict: _read_mapping,
}


# -- what both directions need ----------------------------------------------------------------------------------------


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _wrong(path: str, expected: str, plain: Any) -> ValueError:
    return ValueError(f"{path or 'value'} must be {expected}, got {plain!r:.60}")
