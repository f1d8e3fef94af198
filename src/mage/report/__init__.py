"""Explanations as pages: one self-contained file that opens anywhere."""

from mage.report.page import explanation_page
from mage.report.run_page import RunPage, run_page
from mage.report.solutions import SolutionGrid, solution_grid

__all__ = ["RunPage", "SolutionGrid", "explanation_page", "run_page", "solution_grid"]
