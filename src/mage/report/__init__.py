"""Explanations as pages: one self-contained file that opens anywhere."""

from mage.report.page import explanation_page
from mage.report.solutions import SolutionGrid, solution_grid

__all__ = ["SolutionGrid", "explanation_page", "solution_grid"]
