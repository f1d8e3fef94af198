"""The exact index of games in which players act together only nearby."""

from mage.indices.estimators.exact_local.coalitions import NotLocalError
from mage.indices.estimators.exact_local.estimator import ExactLocal
from mage.indices.estimators.exact_local.reach import exact_local_size

__all__ = ["ExactLocal", "NotLocalError", "exact_local_size"]
