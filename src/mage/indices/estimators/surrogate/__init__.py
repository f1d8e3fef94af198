"""The surrogate estimator: few queries, a regressor, an unbiased correction."""

from mage.indices.estimators.surrogate.regressors import REGRESSORS
from mage.indices.estimators.surrogate.rounds import DEFAULT_SURROGATE_BUDGET, least_budget, surrogate_values

__all__ = ["DEFAULT_SURROGATE_BUDGET", "REGRESSORS", "least_budget", "surrogate_values"]
