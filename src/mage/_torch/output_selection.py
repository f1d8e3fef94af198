"""The one tensor that is explained among what a model returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def explained_tensor(out: Any, select: Any = None) -> Tensor:
    """The explained tensor of a model's answer.

    Args:
        out: A tensor, or a tuple, list, dictionary or object of several things.
        select: Which of them: a position, a key or the name of an attribute; a tuple of these leads further in.

    Raises:
        ValueError: There are several tensors, and nothing says which of them.
        TypeError: There is none.
    """
    if select is not None:
        for step in select if isinstance(select, tuple) else (select,):
            out = _part(out, step)
    elif not isinstance(out, Tensor):
        out = _only_tensor(out)
    if not isinstance(out, Tensor):
        raise TypeError(f"model must return a tensor, got {type(out).__name__}{_at(select)}")
    if out.is_meta:
        raise TypeError("model returns a tensor without values, on the device 'meta'; load its weights first")
    if out.is_complex():
        raise TypeError("model returns complex numbers, which have no order; return one real number for each class")
    if out.dtype == torch.bool:
        raise TypeError("model returns decisions (True or False); return the scores behind them")
    return out if out.is_floating_point() else out.double()


def _at(select: Any) -> str:
    return "" if select is None else f" at select={select!r}"


def _part(out: Any, step: Any) -> Any:
    if isinstance(out, Tensor):
        raise ValueError(f"select={step!r}: the model returns one tensor; leave it out, or use column= for a column")
    try:
        if isinstance(step, str) and not isinstance(out, Mapping):
            return getattr(out, step)
        return out[step]
    except (AttributeError, KeyError, IndexError, TypeError):
        raise ValueError(f"select={step!r} is not in what the model returns: {_described(out)}") from None


def _only_tensor(out: Any) -> Any:
    parts = _parts(out)
    tensors = [value for value in parts.values() if isinstance(value, Tensor)]
    nested = any(isinstance(value, list | tuple | Mapping) and len(value) for value in parts.values())
    if len(tensors) == 1 and not nested:
        return tensors[0]
    if not tensors and not nested:
        return out
    first = next(iter(parts))
    raise ValueError(
        f"model returns several things: {_described(out)}; pass select= with the one to explain, such as "
        f"select={first!r}"
    )


def _parts(out: Any) -> dict[Any, Any]:
    if isinstance(out, Mapping):
        return dict(out)
    if isinstance(out, tuple) and hasattr(out, "_fields"):
        return dict(zip(out._fields, out, strict=True))
    if isinstance(out, list | tuple):
        return dict(enumerate(out))
    return {name: value for name, value in getattr(out, "__dict__", {}).items() if not name.startswith("_")}


def _described(out: Any) -> str:
    parts = _parts(out)
    if not parts:
        return type(out).__name__
    entries = [f"{key!r}: {_kind(value)}" for key, value in list(parts.items())[:8]]
    return ", ".join(entries) + (" …" if len(parts) > 8 else "")


def _kind(value: Any) -> str:
    return f"tensor {list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
