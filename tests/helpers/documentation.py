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


def inline_commands():
    """Each command ``mage …`` inside a sentence of the documentation, as words; dots stand for what the reader adds."""
    texts = {}
    for page in PAGES:
        for text in re.findall(r"(?<!`)`mage ([^`]+)`(?!`)", page.read_text(encoding="utf-8")):
            texts.setdefault(text, page_name(page))
    for text, name in texts.items():
        words = [word for word in shlex.split(text) if word != "…"]
        if words and "FILE" not in words:
            yield pytest.param(words, id=f"{name}: mage {text}")


def script_lines():
    """Each mention of ``python FOLDER/SCRIPT.py …`` in the documentation: the script, and its options."""
    pattern = r"python ((?:benchmarks|docs|examples|tools)/[\w/]+\.py)([^`\n]*)"
    lines = {match for page in PAGES for match in re.findall(pattern, page.read_text(encoding="utf-8"))}
    for script, rest in sorted(lines):
        yield pytest.param(script, re.findall(r"--[\w-]+", rest), id=f"{script}{rest}")
