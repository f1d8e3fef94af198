"""Sentences as they are drawn: their words in reading order, and the edges of their tree as arcs above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mage.drawing.scene import WORD_SIZE, Box, Label, Scene
from mage.drawing.type_widths import text_width
from mage.explanation.arguments import checked_explanation
from mage.explanation.subject import SentenceSubject

if TYPE_CHECKING:
    from mage.explanation import Explanation

_HEIGHT = 30.0
_GAP = 8.0
_PADDING = 8.0
_STEP = 18.0  # from arc to arc above it
_BETWEEN = 34.0  # below a line, for badges
_LONGEST_LINE = 900.0
_WRAPPED_LINE = 700.0


def words_of(explanation: Explanation) -> tuple[str, ...]:
    """The words of an explained sentence; of other graphs, the names of the nodes."""
    checked_explanation(explanation)
    subject = explanation.subject
    return tuple(subject.words) if isinstance(subject, SentenceSubject) else tuple(explanation.names)


def sentence_scene(words: Sequence[str], edges: Sequence[tuple[int, int]], longest_line: float | None = None) -> Scene:
    """A sentence in one line, or in several as a book would set them.

    Args:
        words: Its words.
        edges: Pairs of words.
        longest_line: Length of a line; by default one line as long as it can be read on a screen.
    """
    widths = [max(10.0, text_width(word, WORD_SIZE)) + 2 * _PADDING for word in words]
    lines = _lines(widths, longest_line or _LONGEST_LINE, longest_line or _WRAPPED_LINE)
    line_of = {word: line for line, members in enumerate(lines) for word in members}
    is_near = [line_of[i] == line_of[j] for i, j in edges]
    depths = _depths(edges, is_near)
    places = np.zeros((len(words), 2))
    y = top = longest = 0.0
    for line, members in enumerate(lines):
        inside = [depths[at] for at, (i, _) in enumerate(edges) if is_near[at] and line_of[i] == line]
        rise = _HEIGHT / 2 + 3 + _STEP * max(inside, default=0)
        y = y + _HEIGHT / 2 + _BETWEEN + rise if line else 0.0
        top = top if line else -rise - 14
        x = 0.0
        for word in members:
            places[word] = x + widths[word] / 2, y
            x += widths[word] + _GAP
        longest = max(longest, x - _GAP)
    arcs = tuple(_arc(places[i], places[j], depths[at] if is_near[at] else 0) for at, (i, j) in enumerate(edges))
    return Scene(
        kind="sentence",
        box=Box(-20.0, top, longest + 40, y + _HEIGHT / 2 + 34 - top),
        places=places,
        edges=tuple(edges),
        radius=_HEIGHT / 2,
        reach=_HEIGHT / 2,
        labels=tuple(Label(word, 0.0, 0.0, inside=True) for word in words),
        arcs=arcs,
        widths=tuple(widths),
        height=_HEIGHT,
        scale=1.35,
    )


def _arc(first: Sequence[float], second: Sequence[float], depth: int) -> str:
    """The path from word to word: an arc above its line, or a bow from line to line."""
    (x1, y1), (x2, y2) = sorted((tuple(map(float, first)), tuple(map(float, second))), key=lambda at: (at[1], at[0]))
    if not depth:
        start, end = y1 + _HEIGHT / 2, y2 - _HEIGHT / 2
        middle = (start + end) / 2
        return f"M{x1:.1f} {start:.1f}C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {end:.1f}"
    bend = min(14.0, (x2 - x1) / 2)
    foot, top = y1 - _HEIGHT / 2 - 1, y1 - _HEIGHT / 2 - 3 - _STEP * depth
    return (
        f"M{x1:.1f} {foot:.1f}L{x1:.1f} {top + bend:.1f}Q{x1:.1f} {top:.1f} {x1 + bend:.1f} {top:.1f}"
        f"L{x2 - bend:.1f} {top:.1f}Q{x2:.1f} {top:.1f} {x2:.1f} {top + bend:.1f}L{x2:.1f} {foot:.1f}"
    )


def _lines(widths: Sequence[float], longest: float, wrapped: float) -> list[list[int]]:
    """Words in lines: one as long as it stays readable, else several."""
    if sum(widths) + _GAP * len(widths) <= longest:
        return [list(range(len(widths)))]
    lines: list[list[int]] = []
    filled = float("inf")
    for word, width in enumerate(widths):
        if filled + width > wrapped:
            lines.append([])
            filled = 0.0
        lines[-1].append(word)
        filled += width + _GAP
    return lines


def _depths(edges: Sequence[tuple[int, int]], is_near: Sequence[bool]) -> list[int]:
    """A height for each arc, so that arcs over others lie above them: 1 for the lowest."""
    depths = [1] * len(edges)
    short_first = sorted((at for at in range(len(edges)) if is_near[at]), key=lambda at: edges[at][1] - edges[at][0])
    for rank, at in enumerate(short_first):
        start, end = edges[at]
        below = [depths[other] for other in short_first[:rank] if edges[other][0] < end and edges[other][1] > start]
        depths[at] = 1 + max(below, default=0)
    return depths
