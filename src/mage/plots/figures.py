"""Figures that show themselves: in a notebook as a picture, on a screen in a window, else as a file."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from mage._core.optional import require

require("matplotlib", "plot")

from matplotlib.figure import Figure  # noqa: E402 (the extra is named first)

_WITHOUT_WINDOW = frozenset({"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"})


class ExplanationFigure(Figure):
    """A matplotlib figure that a notebook shows without any setting, and whose :meth:`show` works everywhere."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=110, metadata={"Software": None})
        return content.getvalue()

    def show(self, warn: bool = True) -> None:
        """Show the figure: in the notebook, in a window where matplotlib has one, else as a file whose path is printed.

        Args:
            warn: As in matplotlib; not needed here.
        """
        del warn
        shell = _notebook()
        if shell is not None:
            shell.display(self)
        elif not _in_window(self):
            path = Path(tempfile.mkdtemp(prefix="mage-")) / "figure.png"
            self.savefig(path, dpi=110)
            print(f"wrote {path}")


def _notebook() -> Any:
    """IPython's module that displays, where a notebook is running; else None."""
    import sys

    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or not hasattr(running, "kernel"):
        return None
    from IPython import display

    return display


def _in_window(figure: Figure) -> bool:
    """Whether matplotlib could show the figure in a window."""
    from matplotlib import get_backend, pyplot

    if get_backend().lower() in _WITHOUT_WINDOW or "inline" in get_backend():
        return False
    try:
        holder = pyplot.figure()
        manager = holder.canvas.manager
        figure.set_canvas(type(holder.canvas)(figure))
        manager.canvas.figure = figure  # type: ignore[union-attr]
        pyplot.show()
    except Exception:  # no screen: any backend may fail in its own way
        return False
    return True
