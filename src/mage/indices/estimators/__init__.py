"""Estimators: how an index is computed, one module each, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable

from mage.indices.estimators.exact import Exact, TooManyCoalitionsError
from mage.indices.estimators.exact_local import ExactLocal, NotLocalError
from mage.indices.estimators.multilinear import Multilinear
from mage.indices.estimators.permutation import Permutation
from mage.indices.estimators.protocol import Estimator
from mage.indices.estimators.surrogate import Surrogate

__all__ = [
    "ESTIMATORS",
    "Estimator",
    "NotLocalError",
    "TooManyCoalitionsError",
    "accepted_fields",
    "register_estimator",
]

ESTIMATORS: dict[str, Estimator] = {}


def register_estimator(estimator: Estimator) -> None:
    """Make an estimator known by its name, as a ``method``."""
    if ESTIMATORS.setdefault(estimator.name, estimator) is not estimator:
        raise ValueError(f"name: there is an estimator {estimator.name!r} already")


register_estimator(Exact())
register_estimator(ExactLocal())
register_estimator(Permutation())
register_estimator(Multilinear())
register_estimator(Surrogate())


def accepted_fields(methods: Iterable[str]) -> frozenset[str]:
    """Fields of a request, beyond those that every estimator takes, that one of these takes."""
    return frozenset[str]().union(*(ESTIMATORS[method].fields for method in methods))
