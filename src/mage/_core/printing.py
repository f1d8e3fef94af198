"""Text from anywhere, for terminals."""

_JOINERS = "\u200c\u200d"  # invisible, but parts of words in some scripts


def printable(text: str) -> str:
    """A text without characters that could steer a terminal, or that cannot be written at all; lines stay lines."""
    return "".join(c if c.isprintable() or c in _JOINERS or c in "\n\t" else "\ufffd" for c in text)
