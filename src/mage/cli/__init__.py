"""The command line."""

from mage.cli import benchmark, data, explaining
from mage.cli._app import app

__all__ = ["app", "benchmark", "data", "explaining", "main"]


def main() -> None:
    """Entry point of the ``mage`` command."""
    app()
