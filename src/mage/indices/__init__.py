"""Indices: which players act together, and how strongly."""

from mage.indices.api import compute_interactions, interactions
from mage.indices.auto_order import best_interactions
from mage.indices.estimators import (
    ESTIMATORS,
    Estimator,
    NotLocalError,
    TooManyCoalitionsError,
    register_estimator,
)
from mage.indices.families import FAMILIES, IndexFamily, register_index
from mage.indices.measures import Density, Measure, Point
from mage.indices.request import IndexRequest
from mage.indices.result import Interactions, Term

__all__ = [
    "ESTIMATORS",
    "FAMILIES",
    "Density",
    "Estimator",
    "IndexFamily",
    "IndexRequest",
    "Interactions",
    "Measure",
    "NotLocalError",
    "Point",
    "Term",
    "TooManyCoalitionsError",
    "best_interactions",
    "compute_interactions",
    "interactions",
    "register_estimator",
    "register_index",
]
