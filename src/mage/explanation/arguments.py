"""Arguments that are explanations."""

from __future__ import annotations

from typing import Any

from mage._core.checks import checked_instance
from mage.explanation.explanation import Explanation


def checked_explanation(explanation: Any, name: str = "explanation") -> Explanation:
    """An explanation, or an error that names the argument."""
    return checked_instance(name, explanation, Explanation, "an explanation, as mage.explain returns it")
