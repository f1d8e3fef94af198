"""What somebody does with a file that was sent to them."""

from __future__ import annotations

import io
from collections.abc import Callable

import mage
from mage.cli._console import SafeConsole


def look(_report: Callable[[], None], path: str, refused: bool) -> str:
    """Load a file and show it everywhere; what went wrong, in words, or nothing."""
    try:
        explanation = mage.load(path)
    except ValueError as error:
        repr(error).encode()
        return "" if refused else f"refused: {error}"
    except OSError as error:
        return "" if refused and path in str(error) else f"{type(error).__name__}: {error}"
    if refused:
        return "it was read"
    terminal = SafeConsole(file=io.StringIO(), force_terminal=True, color_system=None, legacy_windows=False, width=200)
    terminal.print(explanation)
    text = terminal.file.getvalue() + repr(explanation)  # type: ignore[attr-defined]
    page = explanation._repr_html_()
    steering = set("\x1b\x07\u202e") & set(text)
    if steering or "<script>alert" in page:
        return f"it acts on whoever looks at it: {steering}"
    note = explanation.notes[0] if explanation.notes else ""
    return "" if note in repr(explanation) else "its note is not shown as it is"
