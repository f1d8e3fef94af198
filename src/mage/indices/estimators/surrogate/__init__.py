"""The surrogate estimator: few queries, a regressor, an unbiased correction."""

from mage.indices.estimators.surrogate.estimator import Surrogate
from mage.indices.estimators.surrogate.regressors import REGRESSORS

__all__ = ["REGRESSORS", "Surrogate"]
