"""The terminal that commands print to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from mage._core.printing import printable


class SafeConsole(Console):
    """A terminal that names, notes and messages cannot steer, wherever they come from."""

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        """Segments whose text is printable."""
        for segment in super().render(*arguments, **options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
