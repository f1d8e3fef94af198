"""The command line."""

import warnings
from importlib import import_module

from mage.cli._app import app, show_warning

__all__ = ["MODULES", "app", "main"]

MODULES = (
    "demo",
    "explaining",
    "text",
    "image",
    "data",
    "benchmark",
    "report",
    "viewing",
)
"""Modules with commands, in the order of ``mage --help``. A module adds its commands to the app when it is imported."""

for _module in MODULES:
    import_module(f"mage.cli.{_module}")


def main() -> None:
    """Entry point of the ``mage`` command."""
    warnings.showwarning = show_warning
    app()
