"""The explainers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mage.explainers.motif_search import MAGE
from mage.explainers.protocol import Explainer

_EXPLAINERS: dict[str, Callable[..., Explainer]] = {
    "mage": MAGE,
}


def names() -> list[str]:
    """Names of the explainers."""
    return list(_EXPLAINERS)


def get(name: str, **parameters: Any) -> Explainer:
    """An explainer by name, with parameters of its own."""
    try:
        make = _EXPLAINERS[name]
    except KeyError:
        raise ValueError(f"name: there is no explainer {name!r}; there are {', '.join(_EXPLAINERS)}") from None
    return make(**parameters)


def register(name: str, make: Callable[..., Explainer]) -> None:
    """Add an explainer of one's own; it can then be benchmarked beside the others."""
    if name in _EXPLAINERS:
        raise ValueError(f"name: there is an explainer {name!r} already")
    _EXPLAINERS[name] = make
