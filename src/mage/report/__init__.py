"""Explanations as pages: one self-contained file that opens anywhere."""

from mage.report.agreement import Agreement, agreement
from mage.report.page import explanation_page, explanations_page, save_html
from mage.report.solutions import SolutionGrid, solution_grid

__all__ = [
    "Agreement",
    "SolutionGrid",
    "agreement",
    "explanation_page",
    "explanations_page",
    "save_html",
    "solution_grid",
]
