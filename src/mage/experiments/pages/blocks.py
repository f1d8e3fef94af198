"""A page as a list of blocks, written as Markdown for the documentation or as HTML for an offline page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Heading:
    """A heading of a level, 2 or more."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True)
class Listing:
    """Points, one line each."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class TextTable:
    """A table of texts; the first column names the rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Illustration:
    """A drawing.

    Args:
        name: Name of its file, without an ending.
        svg: The drawing.
        text: What it shows, for people who do not see it too.
    """

    name: str
    svg: str
    text: str


Block: TypeAlias = Heading | Paragraph | Listing | TextTable | Illustration


def markdown(title: str, blocks: Sequence[Block], folder: str) -> str:
    """The page as Markdown.

    Args:
        title: Its heading.
        blocks: What it shows.
        folder: Where the pictures are, as seen from the page.
    """
    return "\n\n".join([f"# {title}", *(_marked_down(block, folder) for block in blocks)]) + "\n"


def _marked_down(block: Block, folder: str) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Listing(lines):
            return "\n".join(f"- {line}" for line in lines)
        case TextTable(header, rows):
            ruled = [header, ("---",) * len(header), *rows]
            return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in ruled)
        case Illustration(name, _, text):
            return f"![{_cell(text)}]({folder}/{name}.svg)"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def sections(blocks: Sequence[Block]) -> str:
    """The page as markup, everything escaped but the pictures."""
    return "\n".join(_marked_up(block) for block in blocks)


def _marked_up(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_inline(text)}</p>"
        case Listing(lines):
            return "<ul>" + "".join(f"<li>{_inline(line)}</li>" for line in lines) + "</ul>"
        case TextTable(header, rows):
            head = "".join(f'<th scope="col">{_inline(text)}</th>' for text in header)
            body = "".join(
                f'<tr><th scope="row">{_inline(line[0])}</th>'
                + "".join(f'<td class="number">{_inline(text)}</td>' for text in line[1:])
                + "</tr>"
                for line in rows
            )
            return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        case Illustration(_, svg, text):
            return f'<figure role="img" aria-label="{html.escape(text)}">{svg}</figure>'


def _inline(text: str) -> str:
    """Escaped text; code between backticks is marked."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))
