"""Optional libraries: imported where used, with a message that says what to install."""

import importlib
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import an optional library or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _advice(module, extra) from error


def missing_library(error: ImportError, extra: str) -> ImportError:
    """The error to raise where an import at the top of a module failed: it says which extra brings the library."""
    return _advice(error.name or str(error), extra)


def _advice(module: str, extra: str) -> ImportError:
    return ImportError(f"this needs {module.partition('.')[0]}: pip install 'mage-explain[{extra}]'")
