"""Typed nodes in words."""

import pytest

from mage.explanation import TypedSubject
from mage.explanation.subject import metapath

TYPES = {0: "author", 1: "paper", 2: "author", 3: "venue", 4: "paper"}


@pytest.mark.parametrize(
    ("nodes", "pairs", "words"),
    [
        ([0], [], "author"),
        ([0, 1, 2], [(0, 1), (1, 2), (1, 0)], "author – paper – author"),
        ([3, 4, 0], [(0, 4), (4, 3)], "author – paper – venue"),
        ([0, 1, 2, 3], [(0, 1), (1, 2), (1, 3)], "paper – (2 × author, venue)"),
        ([0, 1, 2, 4], [(0, 1), (1, 2), (2, 4), (4, 0)], "2 × author, 2 × paper"),
        ([0, 2], [], "2 × author"),
        ([0, 1], [(0, 1), (1, 1)], "author – paper"),
    ],
)
def test_groups_are_named_by_their_types(nodes, pairs, words):
    assert metapath({node: TYPES[node] for node in nodes}, pairs) == words


def test_nodes_are_numbered_type_by_type():
    subject = TypedSubject(("paper", "paper", "author"), ("cites",))
    assert subject.kinds == ("paper", "author")
    assert subject.number("author", 0) == 2
    with pytest.raises(ValueError, match="1 nodes of type 'author'"):
        subject.number("author", 1)
    subject.check(3, 1)
    with pytest.raises(ValueError, match="relations"):
        subject.check(3, 2)
