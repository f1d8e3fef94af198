"""Explanations: what a person keeps."""

from mage.explanation.crop import close_up
from mage.explanation.explanation import Explanation, load

__all__ = ["Explanation", "close_up", "load"]
