"""Requests: frozen dataclasses of fields that are checked when they are made, and changed by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

Request = TypeVar("Request")


def changed(request: Request, /, **changes: Any) -> Request:
    """The request with some fields changed, checked again.

    Args:
        request: A frozen dataclass.
        changes: New values by name; None leaves a field as it is.
    """
    fields = field_names(request)
    for name in changes:
        if name not in fields:
            raise TypeError(unknown_field(name, fields))
    values = {name: value for name, value in changes.items() if value is not None}
    return replace(request, **values) if values else request  # type: ignore[type-var]  # no type says dataclass


def field_names(request: Any) -> tuple[str, ...]:
    """Names of the fields of a request, or of its class."""
    return tuple(field.name for field in fields(request))


def unknown_field(name: str, known: Iterable[str]) -> str:
    """The message about an unknown field: the closest name, or all names."""
    listed = sorted(known)
    near = difflib.get_close_matches(name, listed, n=1)
    return f"unknown option {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(listed)}")
