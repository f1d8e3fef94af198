"""The exact index of games in which players act together only nearby."""

from mage.indices.estimators.exact_local.coalitions import NotLocalError
from mage.indices.estimators.exact_local.estimator import ExactLocal
from mage.indices.estimators.exact_local.reach import MOST_NEIGHBOURHOODS, exact_local_size

__all__ = ["MOST_NEIGHBOURHOODS", "ExactLocal", "NotLocalError", "exact_local_size"]
