"""Types of nodes in drawings."""

import re
from dataclasses import replace
from pathlib import Path

import networkx as nx

from mage.drawing import scene_of, scene_svg
from mage.drawing.colours import TYPE_COLOURS
from mage.explanation import TypedSubject
from mage.report import explanation_page
from tests.helpers.explanations import made_up

TYPES = ("author", "paper", "author", "paper", "venue", "paper")
STYLES = Path(__file__).parents[2] / "src" / "mage" / "report" / "assets" / "drawing.css"


def typed():
    explanation = made_up(nx.path_graph(6), names=[f"{kind} {node}" for node, kind in enumerate(TYPES)])
    return replace(explanation, subject=TypedSubject(TYPES))


def test_nodes_are_coloured_by_type():
    scene = scene_of(typed())
    assert scene.kinds == ("author", "paper", "venue")
    fills = re.findall(r'r="11" fill="(#\w+)"', scene_svg(typed(), scene))
    assert fills == [TYPE_COLOURS[("author", "paper", "venue").index(kind)] for kind in TYPES]
    assert scene.plain()["types"] == [0, 1, 0, 1, 2, 1]
    assert "types" not in scene_of(made_up(nx.path_graph(6))).plain()


def test_figures_and_pages_name_the_types():
    legend = typed().plot().axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["author", "paper", "venue"]
    page = explanation_page(typed())
    assert '"kinds":["author","paper","venue"]' in page.replace(", ", ",").replace(": ", ":")
    assert "paper – " in page or " – paper" in page


def test_the_style_sheet_has_the_same_colours():
    matches = dict(re.findall(r"\.type-(\d) \{ fill: (#\w+); \}", STYLES.read_text()))
    assert [matches[str(number)] for number in range(len(TYPE_COLOURS))] == list(TYPE_COLOURS)
