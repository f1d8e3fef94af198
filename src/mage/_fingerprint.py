"""What tells models and graphs apart, in a few bytes that are the same in every process."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

# Some objects print where they lie in memory, which differs from process to process.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_SIMPLE = (bool, int, float, str, type(None))


def model_fingerprint(model: Any) -> str:
    """A hash of a network's class, layers, settings and weights."""
    digest = hashlib.sha256(f"{type(model).__module__}.{type(model).__qualname__}".encode())
    digest.update(_ADDRESS.sub("", repr(model)).encode())
    for name, module in model.named_modules():
        # Settings such as a readout appear neither in the weights nor in what a module prints.
        for attribute, value in sorted(vars(module).items()):
            if attribute != "training" and not attribute.startswith("_"):
                digest.update(f"{name}.{attribute}={_plain(value)}".encode())
    for name, value in model.state_dict().items():
        digest.update(name.encode())
        update(digest, value)
    return digest.hexdigest()


def graph_fingerprint(data: Any) -> str:
    """A hash of all that a graph carries."""
    digest = hashlib.sha256()
    for name, value in sorted(data.to_dict().items(), key=lambda item: item[0]):
        digest.update(name.encode())
        update(digest, value)
    return digest.hexdigest()


def update(digest: Any, given: Any) -> None:
    """Add a value to a hash: tensors and arrays by content, functions by their code, others by what they print."""
    value = given.detach().cpu().numpy() if hasattr(given, "detach") else given
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif hasattr(value, "__code__"):
        digest.update(value.__code__.co_code + repr(value.__code__.co_consts).encode())
    else:
        digest.update(_ADDRESS.sub("", repr(value)).encode())


def _plain(value: Any) -> str:
    if isinstance(value, _SIMPLE):
        return repr(value)
    if isinstance(value, list | tuple) and all(isinstance(part, _SIMPLE) for part in value):
        return repr(value)
    return getattr(value, "__qualname__", type(value).__qualname__)
