"""Published files that are pickles, read without running anything in them."""

from __future__ import annotations

import importlib
import io
import pickle  # only through the subclass below, which refuses all but plain data
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

# Old files spell the modules of numpy and of Python 2 in their own way.
_PLAIN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
    ("builtins", "list"): list,
    ("__builtin__", "list"): list,
    ("collections", "OrderedDict"): dict,
}


class DamagedFileError(ValueError):
    """A published file that is not what it should be: truncated, altered, or carrying code."""


# Functions that make arrays and numbers out of bytes, by the module that each numpy version keeps them in.
_NUMPY_FUNCTIONS = {
    (f"numpy.{core}.{module}", name): (module, name)
    for core in ("core", "_core")
    for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"), ("numeric", "_frombuffer"))
}


class _PlainUnpickler(pickle.Unpickler):
    """Reads arrays, numbers, strings and containers; any other name ends the reading."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _NUMPY_FUNCTIONS:
            submodule, function = _NUMPY_FUNCTIONS[module, name]
            return getattr(importlib.import_module(f"numpy._core.{submodule}"), function)
        try:
            return _PLAIN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it needs {module}.{name}, which is not plain data") from None


def read_pickle(path: Path) -> Any:
    """The content of a pickle of arrays and plain containers."""
    return _load(path.read_bytes(), path)


def read_object_array(path: Path) -> Any:
    """The only array of an ``.npz`` file whose elements are pickled dictionaries."""
    try:
        with zipfile.ZipFile(path) as archive:
            (member,) = archive.namelist()
            file = io.BytesIO(archive.read(member))
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        read_header(file)
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        raise DamagedFileError(f"{path} is damaged: {error}; delete it and load the dataset again") from error
    return _load(file.read(), path)


def _load(content: bytes, path: Path) -> Any:
    try:
        return _PlainUnpickler(io.BytesIO(content), encoding="latin1").load()
    except Exception as error:  # a damaged pickle can raise anything
        raise DamagedFileError(f"{path} is not the published file: {error}") from error
