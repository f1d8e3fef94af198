"""The palette: one for figures and pages."""

import re

import networkx as nx
import pytest

from mage.drawing import AGAINST, FOR, coloured_motifs, side_colour
from mage.drawing.colours import hex_colour, mixed_with_white
from mage.report.shell import asset
from tests.helpers.explanations import made_up


@pytest.mark.parametrize(("name", "colour"), [("for", FOR), ("against", AGAINST)])
def test_figures_have_the_colours_of_pages(name, colour):
    assert re.search(rf"--{name}: (#\w+)", asset("common.css"))[1] == colour


def test_motifs_are_coloured_by_side_and_strength():
    explanation = made_up(nx.cycle_graph(8))
    coloured = coloured_motifs(explanation)
    assert [motif for motif, _, _ in coloured] == list(explanation.motifs)
    assert max(strength for _, _, strength in coloured) == 1
    for motif, colour, strength in coloured:
        assert colour == side_colour(motif.score) == (FOR if motif.sign > 0 else AGAINST)
        assert 0 < strength <= 1


def test_colours_are_mixed_with_white():
    assert mixed_with_white("#000000", 0.0) == (1.0, 1.0, 1.0)
    assert hex_colour(mixed_with_white(FOR, 1.0)) == FOR
    assert hex_colour(mixed_with_white("#ff0000", 0.5)) == "#ff8080"
