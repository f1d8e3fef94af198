"""Explainers: from a model and a graph to an explanation."""

from mage.explainers.mage import explain, explain_many

__all__ = ["explain", "explain_many"]
