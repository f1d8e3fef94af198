"""Pages of experiments: benchmark results beside the paper's figures, and whole runs."""

from mage.experiments.pages.benchmark import benchmark_page
from mage.experiments.pages.run import RunPage, run_page

__all__ = ["RunPage", "benchmark_page", "run_page"]
