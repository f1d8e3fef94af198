"""Fingerprints of models and graphs: a few bytes that are the same in every process."""

from __future__ import annotations

import dis
import hashlib
import os
import re
import sys
import sysconfig
from collections import deque
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

# Some objects print where they lie in memory, which differs from process to process.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_SIMPLE = (bool, int, float, complex, str, bytes, type(None))
_DEEPEST = 60
"""Levels of nesting that are looked into; far fewer than Python can follow."""
_WRAPPED = ("__func__", "__self__", "__wrapped__", "fget", "func", "args", "keywords")
"""Where methods, properties, partial and cached functions keep what they are made of."""
_BY_NAME = {*sys.stdlib_module_names, "torch", "torch_geometric", "numpy"}
"""Packages whose classes are identified by their names."""
_LIBRARIES = (str(Path(__file__).parent.parent) + os.sep, sysconfig.get_path("stdlib") + os.sep, "<frozen")
"""How the files of installed code begin, where they are not in site-packages."""


def model_fingerprint(model: Any) -> str:
    """A hash of a network's classes with their code, its layers, settings and weights."""
    digest = hashlib.sha256()
    for part in _Contents().of_model(model):
        digest.update(part)
    return digest.hexdigest()


def graph_fingerprint(data: Any) -> str:
    """A hash of all that a graph carries."""
    digest = hashlib.sha256()
    # Graphs with types of nodes have names such as ("paper", "cites", "paper").
    for name, value in sorted(data.to_dict().items(), key=lambda item: str(item[0])):
        digest.update(str(name).encode())
        update(digest, value)
    return digest.hexdigest()


def update(digest: Any, value: Any) -> None:
    """Add a value to a hash: numbers, tensors, containers and objects by content, functions by code and closure."""
    array = _as_array(value)
    if array is None:
        digest.update(_Contents().hash(value))
    else:
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())


class _Contents:
    """Hashes of any values by what they hold."""

    def __init__(self) -> None:
        # By place in memory; the objects are kept so that no others take their places.
        self._known: dict[int, tuple[Any, bytes]] = {}

    def hash(self, value: Any, depth: int = 0) -> bytes:
        """A hash of one value; never fails."""
        kind = _name(type(value)).encode()
        if isinstance(value, _SIMPLE):
            return _joined(kind, repr(value).encode())
        if depth > _DEEPEST:
            return _joined(kind)
        if id(value) not in self._known:
            self._known[id(value)] = (value, b"within itself")
            try:
                digest = _joined(kind, *self._parts(value, depth + 1))
            except Exception:  # looking at an object may run anyone's code
                digest = _joined(kind)
            self._known[id(value)] = (value, digest)
        return self._known[id(value)][1]

    def of_model(self, model: Any, depth: int = 0) -> Iterator[bytes]:
        """Parts of a torch module."""
        yield _printed(model)
        for name, module in model.named_modules():
            yield name.encode()
            yield self.hash(type(module), depth)
            # TorchScript and torch.fx keep their programs as text.
            if type(module).__module__.startswith(("torch.jit", "torch.fx")):
                yield str(getattr(module, "code", "")).encode()
            hidden = _private_names(type(module))
            # Settings such as a readout appear neither in the weights nor in what a module prints.
            for attribute, value in sorted(vars(module).items()):
                if attribute != "training" and attribute not in hidden:
                    yield attribute.encode()
                    yield self.hash(value, depth)
        saved = model.state_dict()
        others = {name: value for name, value in model.named_buffers() if name not in saved}
        for name, value in (*saved.items(), *others.items()):
            yield name.encode()
            yield self.hash(value, depth)

    def _parts(self, value: Any, depth: int) -> Iterator[bytes]:
        array = _as_array(value)
        if array is not None:
            yield f"{array.dtype}{array.shape}".encode()
            yield np.ascontiguousarray(array).tobytes()
        elif isinstance(value, np.ndarray):
            yield self.hash(value.tolist(), depth)
        elif hasattr(value, "to_sparse_coo"):
            entries = value.detach().to_sparse_coo().coalesce()
            yield self.hash([tuple(entries.shape), entries.indices(), entries.values()], depth)
        elif isinstance(value, list | tuple | deque | dict | set | frozenset):
            items = value.items() if isinstance(value, dict) else value
            hashes = [self.hash(item, depth) for item in items]
            # The order of sets differs from process to process.
            yield from sorted(hashes) if isinstance(value, set | frozenset) else hashes
        elif isinstance(value, CodeType):
            yield from self._of_code(value, depth)
        elif isinstance(getattr(value, "__code__", None), CodeType):
            yield from self._of_function(value, depth)
        elif isinstance(value, ModuleType):
            yield value.__name__.encode()
        elif isinstance(value, type):
            yield from self._of_class(value, depth)
        elif hasattr(value, "named_modules") and hasattr(value, "state_dict"):
            yield from self.of_model(value, depth)
        else:
            yield from self._of_object(value, depth)

    def _of_code(self, code: CodeType, depth: int) -> Iterator[bytes]:
        yield code.co_code + code.co_exceptiontable
        yield repr((code.co_argcount, code.co_kwonlyargcount, code.co_flags)).encode()
        yield repr((code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)).encode()
        yield self.hash(code.co_consts, depth)

    def _of_function(self, function: Any, depth: int) -> Iterator[bytes]:
        code = function.__code__
        yield self.hash(code, depth)
        for name in ("__defaults__", "__kwdefaults__", "__self__"):
            yield self.hash(getattr(function, name, None), depth)
        for cell in getattr(function, "__closure__", None) or ():
            try:
                yield self.hash(cell.cell_contents, depth)
            except ValueError:
                yield b"empty"
        # A library's functions change with its version only, and lead to all of it.
        if not _installed(code.co_filename):
            global_values = getattr(function, "__globals__", {})
            for name in sorted(_global_names(code) & global_values.keys()):
                yield name.encode()
                yield self.hash(global_values[name], depth)

    def _of_class(self, kind: type, depth: int) -> Iterator[bytes]:
        for base in kind.__mro__:
            yield _name(base).encode()
            if not _known_by_name(base):
                for name, value in vars(base).items():
                    if hasattr(value, "__code__") or not name.startswith("__"):
                        yield name.encode()
                        yield self.hash(value, depth)

    def _of_object(self, value: Any, depth: int) -> Iterator[bytes]:
        kind = type(value)
        source = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
        foreign = _known_by_name(kind) or _installed(source)
        if isinstance(value, SimpleNamespace) or is_dataclass(value) or (hasattr(value, "__dict__") and not foreign):
            # The code of a library changes with its version only.
            yield _name(kind).encode() if foreign else self.hash(kind, depth)
            yield self.hash(sorted(vars(value).items()), depth)
        elif hasattr(value, "to_dict"):
            yield self.hash(value.to_dict(), depth)
        else:
            yield _printed(value)
            for name in _WRAPPED:
                yield self.hash(getattr(value, name, None), depth)


def _joined(*parts: bytes) -> bytes:
    """One hash of several byte strings, which do not run into each other."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _as_array(value: Any) -> np.ndarray[Any, Any] | None:
    """A dense tensor or an array of plain numbers as an array; None for all else."""
    if isinstance(value, np.ndarray | np.generic):
        return None if value.dtype.hasobject else np.asarray(value)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    if value.layout != torch.strided:
        return None
    try:
        return np.asarray(value.numpy(force=True))
    except TypeError:  # numpy does not know all of torch's types of numbers
        return np.asarray(value.detach().cpu().contiguous().unsqueeze(-1).view(torch.uint8).numpy())


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _printed(value: Any) -> bytes:
    return _ADDRESS.sub("", repr(value)).encode()


def _known_by_name(kind: type) -> bool:
    return str(kind.__module__).partition(".")[0] in _BY_NAME


def _installed(file: str) -> bool:
    return bool({"site-packages", "dist-packages"} & set(Path(file).parts)) or file.startswith(_LIBRARIES)


def _global_names(code: CodeType) -> set[str]:
    """Names that code, with the functions inside it, looks up outside of itself; attributes are none."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    inner = (_global_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return names.union(*inner)


def _private_names(kind: type) -> set[str]:
    """Attributes that torch and PyG keep for themselves, such as hooks and what a pass leaves behind."""
    codes = (
        method.__code__
        for base in kind.__mro__
        if _known_by_name(base)
        for method in vars(base).values()
        if hasattr(method, "__code__")
    )
    return {name for code in codes for name in code.co_names if name.startswith("_")}
