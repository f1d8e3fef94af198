"""What a model is behind its wrappers, and which arguments it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel, AveragedModel)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def unwrapped(model: Any) -> Any:
    """The model inside ``torch.compile``, ``DataParallel``, ``AveragedModel`` and their like, which answer as it does.

    Compiled models are compiled again for each new shape, and parallel ones split batches by rows; neither helps here.
    """
    while True:
        if isinstance(model, _WRAPPERS):
            model = model.module
        elif isinstance(model, nn.Module) and isinstance(getattr(model, "_orig_mod", None), nn.Module):
            model = model._orig_mod
        elif callable(getattr(model, "_torchdynamo_orig_callable", None)) and not isinstance(model, nn.Module):
            model = model._torchdynamo_orig_callable
        else:
            return model


def parameters_of(model: Any, method: str = "forward") -> list[inspect.Parameter]:
    """The parameters of a model's method, or of a function; those of the part inside where it only passes them on.

    Args:
        model: A model or a function.
        method: Name of the method.
    """
    function = getattr(model, method, model)
    if isinstance(model, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        return _scripted(function)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ValueError(
            f"model: {type(model).__name__} does not say which arguments it takes; pass forward=call(model, data)"
        ) from None
    if all(parameter.kind in _VARIADIC for parameter in parameters):
        inside = _passed_on(model)
        if [parameter.kind for parameter in parameters] == [inspect.Parameter.VAR_POSITIONAL]:
            named = [parameter for parameter in inside if parameter.kind not in _VARIADIC]
            inside = [parameter.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for parameter in named]
        return inside or parameters
    return parameters


def is_implemented(model: Any) -> bool:
    """Whether a model can be called: modules may have ``encode`` and ``decode`` and no ``forward``."""
    if not isinstance(model, nn.Module) or isinstance(model, torch.jit.ScriptModule) or "forward" in vars(model):
        return True
    return type(model).forward is not nn.Module.forward


def keywords_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The named parameters of a function, without ``*args`` and ``**kwargs``."""
    return [p for p in inspect.signature(function).parameters.values() if p.kind not in _VARIADIC]


def _scripted(function: Any) -> list[inspect.Parameter]:
    """Parameters of a scripted or traced model, by its schema."""
    arguments = [argument for argument in function.schema.arguments if argument.name != "self"]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(a.name, kind, default=a.default_value)
        if a.has_default_value()
        else inspect.Parameter(a.name, kind)
        for a in arguments
        if a.name.isidentifier()
    ]


def _passed_on(model: Any) -> list[inspect.Parameter]:
    """Parameters of what is inside a model that takes ``*args``: what PyG's containers say, or its only part."""
    listed = getattr(getattr(model, "signature", None), "param_dict", None)
    if isinstance(listed, dict):
        # torch_geometric.nn.Sequential; it takes them by position only.
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in listed]
    if not isinstance(model, nn.Module):
        return []
    children = dict(model.named_children())
    inside = children.get("encoder") or (next(iter(children.values())) if len(children) == 1 else None)
    return [] if inside is None else parameters_of(inside)
