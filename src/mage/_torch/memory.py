"""What networks keep from one call to the next, such as a cache of the user's own: it would hold another graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch_geometric.data.data import BaseData

_LIBRARIES = ("torch.", "torch_geometric.")  # their layers keep nothing, but for what ``cached=True`` says
_OF_TORCH = frozenset(vars(nn.Module()))
_ABSENT = object()
_MOST_ENTRIES = 1000  # larger dictionaries and lists are no caches of graphs, and copies of them take long


class _Noted(NamedTuple):
    """A module before a call.

    Attributes:
        module: The module.
        attributes: Its own attributes by name.
        contents: What its dictionaries, lists and sets hold, by name.
        buffers: Its buffers by name.
    """

    module: nn.Module
    attributes: dict[str, Any]
    contents: dict[str, Any]
    buffers: dict[str, Any]


@contextmanager
def forgetting(networks: Sequence[nn.Module]) -> Iterator[None]:
    """The tensors that modules of the user's own keep of a call are forgotten after it: each call is like the first.

    Switches beside them go back too (``self.is_cached = True``). Other numbers stay, such as counts of calls;
    and weights and layers that are made in a first call stay, with all that the networks noted of it.

    Args:
        networks: The networks that are called.
    """
    parts = _parts(networks)
    before = [_noted(module) for network in networks for module in network.modules() if _is_own(module)]
    try:
        yield
    finally:
        if before and parts == _parts(networks):
            for note in before:
                _put_back(note)


def _is_own(module: nn.Module) -> bool:
    return not isinstance(module, torch.jit.ScriptModule) and not type(module).__module__.startswith(_LIBRARIES)


def _parts(networks: Sequence[nn.Module]) -> list[tuple[int, bool]]:
    """Which weights and layers there are, and which of them are still to be made."""
    modules = [module for network in networks for module in network.modules()]
    weights = [weight for module in modules for weight in module._parameters.values() if weight is not None]
    return [*((id(weight), is_lazy(weight)) for weight in weights), *((id(module), False) for module in modules)]


def _noted(module: nn.Module) -> _Noted:
    attributes = {name: value for name, value in vars(module).items() if name not in _OF_TORCH}
    contents = {
        name: value.copy()
        for name, value in attributes.items()
        if isinstance(value, dict | list | set) and len(value) <= _MOST_ENTRIES
    }
    return _Noted(module, attributes, contents, dict(module._buffers))


def _put_back(note: _Noted) -> None:
    now = vars(note.module)
    names = [name for name in {**note.attributes, **now} if name not in _OF_TORCH]
    changes = [name for name in names if now.get(name, _ABSENT) is not note.attributes.get(name, _ABSENT)]
    changes = [name for name in changes if _holds_tensors(now.get(name)) or _is_switch(note.attributes.get(name))]
    if any(_holds_tensors(now.get(name)) for name in changes):
        for name in changes:
            now.pop(name, None)
            now.update({name: note.attributes[name]} if name in note.attributes else {})
    for name, content in note.contents.items():
        value = note.attributes[name]
        if _holds_tensors(value) and not _same_entries(value, content):
            value.clear()
            (value.extend if isinstance(value, list) else value.update)(content)
    for name, tensor in note.buffers.items():
        note.module._buffers[name] = tensor


def _is_switch(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _holds_tensors(value: Any, depth: int = 3) -> bool:
    if isinstance(value, torch.Tensor | BaseData) or "SparseTensor" in type(value).__name__:
        return True
    if depth == 0 or not isinstance(value, dict | list | tuple | set) or len(value) > _MOST_ENTRIES:
        return False
    return any(_holds_tensors(entry, depth - 1) for entry in (value.values() if isinstance(value, dict) else value))


def _same_entries(left: Any, right: Any) -> bool:
    """Whether two containers hold the very same things."""
    if len(left) != len(right):
        return False
    if isinstance(left, dict):
        return all(left.get(key, _ABSENT) is value for key, value in right.items())
    pairs = zip(left, right, strict=True)
    return all(first is second for first, second in pairs)
