"""The exact index of games in which players act together only nearby."""

from mage.indices.estimators.exact_local.coalitions import NotLocalError
from mage.indices.estimators.exact_local.estimator import ExactLocal

__all__ = ["ExactLocal", "NotLocalError"]
