"""Explainers: from a model and a graph to an explanation."""

from mage.explainers.mage import explain, explain_many
from mage.explainers.motif_search import MAGE
from mage.explainers.protocol import Explainer, UnsupportedError
from mage.explainers.registry import get, names, register

__all__ = ["MAGE", "Explainer", "UnsupportedError", "explain", "explain_many", "get", "names", "register"]
