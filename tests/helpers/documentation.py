"""Pages of the documentation: their blocks of code, and the commands in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]


def page_name(page):
    return page.relative_to(ROOT).as_posix()


def blocks_of(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def command_lines():
    """Each line of a ``console`` block that runs ``mage``, as words without the comment."""
    for page in PAGES:
        for block in blocks_of(page, "console"):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words[:1] == ["mage"]:
                    yield pytest.param(words[1:], id=f"{page_name(page)}: {' '.join(words)}")
