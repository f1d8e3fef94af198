"""Estimators: how an index is computed, one module each, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable

from mage._core.importing import load_name
from mage.indices.estimators.exact import TooManyCoalitionsError
from mage.indices.estimators.exact_local import NotLocalError
from mage.indices.estimators.protocol import Estimator

__all__ = [
    "ESTIMATORS",
    "Estimator",
    "NotLocalError",
    "TooManyCoalitionsError",
    "accepted_fields",
    "register_estimator",
]

ESTIMATORS: dict[str, Estimator] = {}
# Module and class of each. A new estimator is such a module and a line here.
_CLASSES = (
    "exact:Exact",
    "exact_local:ExactLocal",
    "permutation:Permutation",
    "multilinear:Multilinear",
    "surrogate:Surrogate",
)


def register_estimator(estimator: Estimator) -> None:
    """Make an estimator known by its name, as a ``method``."""
    if ESTIMATORS.setdefault(estimator.name, estimator) is not estimator:
        raise ValueError(f"name: there is an estimator {estimator.name!r} already")


for _class in _CLASSES:
    register_estimator(load_name(f"mage.indices.estimators.{_class}")())


def accepted_fields(methods: Iterable[str]) -> frozenset[str]:
    """Fields of a request, beyond those that every estimator takes, that one of these takes."""
    return frozenset[str]().union(*(ESTIMATORS[method].fields for method in methods))
