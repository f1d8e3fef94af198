"""mage: which groups of nodes led to a prediction, which are against it, and how certain is that?"""

import importlib
from typing import Any

from mage._version import __version__
from mage.explainers import (
    ExplainRequest,
    explain,
    explain_game,
    explain_image,
    explain_many,
    explain_smiles,
    explain_text,
)
from mage.explanation import Explanation, load
from mage.games import Game, GraphRequest, ImageRequest, TextRequest, ValueFunctionError
from mage.graph import PlayerGraph
from mage.indices import IndexRequest, Interactions, TooManyCoalitionsError, interactions
from mage.motifs import Motif, MotifRequest, MotifSet, find_motifs

__all__ = [
    "ExplainRequest",
    "Explanation",
    "Game",
    "GraphRequest",
    "ImageRequest",
    "IndexRequest",
    "Interactions",
    "Motif",
    "MotifRequest",
    "MotifSet",
    "PlayerGraph",
    "TextRequest",
    "TooManyCoalitionsError",
    "ValueFunctionError",
    "__version__",
    "explain",
    "explain_game",
    "explain_image",
    "explain_many",
    "explain_smiles",
    "explain_text",
    "find_motifs",
    "interactions",
    "load",
]

# Rooms that are imported when they are first used: some need PyTorch, and all take time.
_ROOMS = frozenset({"datasets", "drawing", "experiments", "metrics", "models", "plots", "pyg", "report", "testing"})


_FUNCTIONS = {"save_html": "mage.report"}
"""Functions of these rooms that users find at the top."""


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"mage.{name}")
    raise AttributeError(f"module 'mage' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_FUNCTIONS})
