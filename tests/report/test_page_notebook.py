import html
import re
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

import mage
from mage.report import explanation_page
from mage.report.still_picture import still_picture
from mage.testing import random_game
from tests.helpers.explanations import made_up

HOSTILE = "<script>alert(1)</script>"


def pictures(text):
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]  # noqa: S314 - our own


def test_explanations_show_picture_and_table():
    explanation = made_up(nx.cycle_graph(8), exact=False, names=[HOSTILE] * 8)
    text = explanation._repr_html_()
    (picture,) = pictures(text)
    assert len([part for part in picture.iter() if part.tag.endswith("circle")]) == 8
    assert "<script" not in text
    assert "±" in text
    assert text.count("<tr>") == 1 + len(explanation.motifs)
    # The page itself is in a frame that may run its scripts and nothing else.
    frame = re.search(r'<iframe srcdoc="([^"]*)" sandbox="([^"]*)"', text)
    assert html.unescape(frame[1]) == explanation_page(explanation)
    assert frame[2].split() == ["allow-scripts", "allow-downloads"]


def test_large_graphs_show_what_is_around_the_motifs():
    explanation = made_up(nx.path_graph(3), max_nodes=1)
    path = np.array([np.arange(999), np.arange(1, 1000)])
    large = replace(
        explanation,
        num_nodes=1000,
        names=tuple(map(str, range(1000))),
        edge_index=path,
        motifs=replace(explanation.motifs, num_nodes=1000),
    )
    (picture,) = pictures(large._repr_html_())
    assert len([part for part in picture.iter() if part.tag.endswith("circle")]) == 60


def test_interactions_show_a_heat_map():
    index = mage.interactions(random_game(6), order=2)
    text = replace(index, names=(HOSTILE, *"bcdef"))._repr_html_()
    assert "<script" not in text
    (picture,) = pictures(text)
    cells = [part for part in picture if part.tag.endswith("rect") and part.find("*") is not None]
    strong = np.abs(index.matrix) > 0.0005 * np.abs(index.matrix).max()
    assert len(cells) == strong.sum()
    assert text.count("<tr>") == 5
    assert "<svg" not in mage.interactions(random_game(5), order=1)._repr_html_()


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_graphs_without_edges_are_drawn(count):
    explanation = made_up(nx.empty_graph(count), max_nodes=1)
    assert not re.search(r"\bnan\b", still_picture(explanation))
