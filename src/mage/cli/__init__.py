"""The command line."""

from mage.cli import benchmark, data, explaining, image, report, text
from mage.cli._app import app

__all__ = ["app", "benchmark", "data", "explaining", "image", "main", "report", "text"]


def main() -> None:
    """Entry point of the ``mage`` command."""
    app()
