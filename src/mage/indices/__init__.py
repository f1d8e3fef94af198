"""Indices: who acts with whom?"""

from mage.indices.api import interactions
from mage.indices.estimators.exact import TooManyCoalitionsError
from mage.indices.estimators.exact_local.coalitions import NotLocalError
from mage.indices.families import FAMILIES, IndexFamily
from mage.indices.result import Interactions, Term

__all__ = ["FAMILIES", "IndexFamily", "Interactions", "NotLocalError", "Term", "TooManyCoalitionsError", "interactions"]
