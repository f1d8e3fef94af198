"""How wide a line of text is in a sans-serif type, without any library that draws: for boxes and labels."""

from __future__ import annotations

import unicodedata

# Thousandths of the type size, for groups of letters that are about as wide in Helvetica, Arial and their like.
_GROUPS = {
    230: "ijl'|",
    290: "ftI.,:;!/\\[]()r -`",
    500: "cksvxyzJ",
    560: 'abdeghnopqu0123456789?L_"#$*',
    620: "FTZ",
    670: "ABEKPSVXY&",
    730: "CDHNRUw",
    780: "GOQ",
    850: "mM%",
    940: "W@",
    600: "+<=>~^{}",
}
_WIDTHS = {letter: width for width, letters in _GROUPS.items() for letter in letters}
_OTHER, _WIDE = 620, 1000
_WIDER = 1.2  # types of other systems are up to this much wider


def text_width(text: str, size: float) -> float:
    """The width of a line, to within some per cent, in the unit of the type size.

    Args:
        text: Any text.
        size: Size of the type.
    """
    return _WIDER * size / 1000 * sum(_letter_width(letter) for letter in text)


def clipped(text: str, length: int) -> str:
    """A text of at most so many letters, the last of which says that more follow."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _letter_width(letter: str) -> int:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if unicodedata.combining(letter):
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER
