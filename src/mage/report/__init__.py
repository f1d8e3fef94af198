"""Explanations as pages: one self-contained file that opens anywhere."""

from mage.report.page import explanation_page

__all__ = ["explanation_page"]
