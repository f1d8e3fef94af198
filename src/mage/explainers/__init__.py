"""Explainers: from a model and its input to an explanation."""

from typing import Any

from mage.explainers.graphs import explain, explain_many
from mage.explainers.image import explain_image
from mage.explainers.pipeline import explain_game
from mage.explainers.protocol import Explainer, UnsupportedError
from mage.explainers.registry import CLASSES, explainer_class, get, names, register
from mage.explainers.request import ExplainRequest
from mage.explainers.smiles import explain_smiles
from mage.explainers.text import explain_text

__all__ = [
    "ExplainRequest",
    "Explainer",
    "UnsupportedError",
    "explain",
    "explain_game",
    "explain_image",
    "explain_many",
    "explain_smiles",
    "explain_text",
    "get",
    "names",
    "register",
]


def __getattr__(name: str) -> Any:
    # `from mage.explainers import SubgraphX` works, and costs PyTorch only then.
    if name in CLASSES:
        return explainer_class(CLASSES[name])
    raise AttributeError(f"module 'mage.explainers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *CLASSES})
