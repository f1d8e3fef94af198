"""Optional libraries: imported where used, with a message that says what to install."""

import importlib
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import an optional library or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(f"this needs {library}: pip install 'mage-explain[{extra}]'") from error
