"""Indices: who acts with whom?"""

from mage.indices.api import compute_interactions, interactions
from mage.indices.estimators.exact import TooManyCoalitionsError
from mage.indices.estimators.exact_local.coalitions import NotLocalError
from mage.indices.families import FAMILIES, IndexFamily
from mage.indices.request import IndexRequest
from mage.indices.result import Interactions, Term

__all__ = [
    "FAMILIES",
    "IndexFamily",
    "IndexRequest",
    "Interactions",
    "NotLocalError",
    "Term",
    "TooManyCoalitionsError",
    "compute_interactions",
    "interactions",
]
