"""Indices: who acts with whom?"""

from mage.indices._families import FAMILIES, IndexFamily
from mage.indices.api import interactions
from mage.indices.exact import TooManyCoalitionsError
from mage.indices.interactions import Interactions, Term
from mage.indices.local import NotLocalError

__all__ = ["FAMILIES", "IndexFamily", "Interactions", "NotLocalError", "Term", "TooManyCoalitionsError", "interactions"]
