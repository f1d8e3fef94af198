"""Tensors that the user's own modules cache from one call to the next: they would belong to another graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch_geometric.data.data import BaseData

_LIBRARIES = ("torch.", "torch_geometric.")  # their layers cache only with ``cached=True``, see evaluation.py
_TORCH_ATTRIBUTES = frozenset(vars(nn.Module()))
_ABSENT = object()
_MOST_ENTRIES = 1000  # larger dictionaries and lists are not caches of graphs, and take long to copy


class _ModuleSnapshot(NamedTuple):
    """The state of a module before a call.

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
def restoring_caches(networks: Sequence[nn.Module]) -> Iterator[None]:
    """Undo what the user's own modules cache during the block, so that each call is like the first.

    Attributes that hold tensors are restored, and so are flags beside them (``self.is_cached = True``). Other numbers
    stay, such as counts of calls. Nothing is restored where the block has created weights or layers.

    Args:
        networks: The networks that are called.
    """
    structure = _weights_and_layers(networks)
    snapshots = [_snapshot(module) for network in networks for module in network.modules() if _is_user_module(module)]
    try:
        yield
    finally:
        if snapshots and structure == _weights_and_layers(networks):
            for snapshot in snapshots:
                _restore(snapshot)


def _is_user_module(module: nn.Module) -> bool:
    return not isinstance(module, torch.jit.ScriptModule) and not type(module).__module__.startswith(_LIBRARIES)


def _weights_and_layers(networks: Sequence[nn.Module]) -> list[tuple[int, bool]]:
    """Identities of all weights and layers, and whether each weight is still uninitialised."""
    modules = [module for network in networks for module in network.modules()]
    weights = [weight for module in modules for weight in module._parameters.values() if weight is not None]
    return [*((id(weight), is_lazy(weight)) for weight in weights), *((id(module), False) for module in modules)]


def _snapshot(module: nn.Module) -> _ModuleSnapshot:
    attributes = {name: value for name, value in vars(module).items() if name not in _TORCH_ATTRIBUTES}
    contents = {
        name: value.copy()
        for name, value in attributes.items()
        if isinstance(value, dict | list | set) and len(value) <= _MOST_ENTRIES
    }
    return _ModuleSnapshot(module, attributes, contents, dict(module._buffers))


def _restore(snapshot: _ModuleSnapshot) -> None:
    current = vars(snapshot.module)
    names = [name for name in {**snapshot.attributes, **current} if name not in _TORCH_ATTRIBUTES]
    changes = [name for name in names if current.get(name, _ABSENT) is not snapshot.attributes.get(name, _ABSENT)]
    changes = [
        name for name in changes if _holds_tensors(current.get(name)) or _is_switch(snapshot.attributes.get(name))
    ]
    if any(_holds_tensors(current.get(name)) for name in changes):
        for name in changes:
            current.pop(name, None)
            current.update({name: snapshot.attributes[name]} if name in snapshot.attributes else {})
    for name, content in snapshot.contents.items():
        value = snapshot.attributes[name]
        if _holds_tensors(value) and not _same_entries(value, content):
            value.clear()
            (value.extend if isinstance(value, list) else value.update)(content)
    for name, tensor in snapshot.buffers.items():
        snapshot.module._buffers[name] = tensor


def _is_switch(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _holds_tensors(value: Any, depth: int = 3) -> bool:
    if isinstance(value, torch.Tensor | BaseData) or "SparseTensor" in type(value).__name__:
        return True
    if depth == 0 or not isinstance(value, dict | list | tuple | set) or len(value) > _MOST_ENTRIES:
        return False
    return any(_holds_tensors(entry, depth - 1) for entry in (value.values() if isinstance(value, dict) else value))


def _same_entries(left: Any, right: Any) -> bool:
    """Whether two containers hold identical objects."""
    if len(left) != len(right):
        return False
    if isinstance(left, dict):
        return all(left.get(key, _ABSENT) is value for key, value in right.items())
    pairs = zip(left, right, strict=True)
    return all(first is second for first, second in pairs)
