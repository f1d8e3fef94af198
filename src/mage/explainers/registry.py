"""The explainers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from mage._core.checks import checked_text, shortened
from mage._core.importing import load_name
from mage._core.optional import require
from mage.explainers.protocol import Explainer

# Modules are imported on first use: all but one need PyTorch, which `import mage` does not import.
_EXPLAINERS: dict[str, str | Callable[..., Explainer]] = {
    "mage": "mage:MAGE",
    "gradcam": "gradcam:GradCAM",
    "gnnexplainer": "gnnexplainer:GNNExplainer",
    "pgexplainer": "pgexplainer:PGExplainer",
    "refine": "refine:ReFine",
    "matchexplainer": "matchexplainer:MatchExplainer",
    "subgraphx": "subgraphx:SubgraphX",
    "gstarx": "gstarx:GStarX",
    "same": "same:SAME",
    "edgeshaper": "edgeshaper:EdgeSHAPer",
    "edge-search": "edge_search:EdgeSearch",
    "random": "random_nodes:RandomNodes",
}
CLASSES = {place.partition(":")[2]: name for name, place in _EXPLAINERS.items() if isinstance(place, str)}
"""Names of the classes that come with the library, with the names they are registered under."""


def names() -> list[str]:
    """Names of the explainers."""
    return list(_EXPLAINERS)


def explainer_class(name: str) -> Callable[..., Explainer]:
    """The class of an explainer, or the function that makes one."""
    if checked_text("name", name) not in _EXPLAINERS:
        raise ValueError(f"name: there is no explainer {name!r}; there are {', '.join(_EXPLAINERS)}")
    make = _EXPLAINERS[name]
    if isinstance(make, str):
        require("torch_geometric", "pyg")
        return cast("type[Explainer]", load_name(f"mage.explainers.{make}"))
    return make


def get(name: str, **parameters: Any) -> Explainer:
    """An explainer by name, with parameters of its own."""
    make = explainer_class(name)
    try:
        return make(**parameters)
    except TypeError as error:
        raise ValueError(f"{name}: wrong parameters {sorted(parameters)}: {error}") from error


def register(name: str, make: Callable[..., Explainer]) -> None:
    """Add an explainer of one's own; it can then be benchmarked beside the others."""
    if not callable(make):
        raise TypeError(f"make must be a class of explainers or a function that makes one, got {shortened(make)}")
    if checked_text("name", name) in _EXPLAINERS:
        raise ValueError(f"name: there is an explainer {name!r} already")
    _EXPLAINERS[name] = make
