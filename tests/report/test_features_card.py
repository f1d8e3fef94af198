import re
from dataclasses import replace

import networkx as nx

from mage.explanation import MotifFeatures
from mage.report import explanation_page
from mage.report.features_card import features_card
from tests.helpers.explanations import made_up


def with_features(exact=False, count=3):
    explanation = made_up(nx.cycle_graph(8))
    features = MotifFeatures(
        nodes=explanation.motifs[0].nodes,
        columns=tuple(range(count)),
        names=tuple(f"<column {column}>" for column in range(count)),
        values=tuple((-1) ** column * 0.5 / (column + 1) for column in range(count)),
        std_error=(0.0 if exact else 0.01,) * count,
        total=0.1,
        index="myerson-taylor",
        exact=exact,
        method="exact" if exact else "permutation",
        absent="zero",
        num_queries=10,
    )
    return replace(explanation, motif_features=(features,))


def test_values_stand_with_their_errors_strongest_first():
    card = features_card(with_features())
    assert "<column" not in card
    assert re.findall(r"&lt;column (\d)&gt;", card) == ["0", "1", "2"]
    assert "+0.5 ± 0.01" in card
    assert "-0.25 ± 0.01" in card
    assert "motif A: " in card
    assert "Estimated (permutation)" in card


def test_exact_values_have_no_errors_and_long_lists_are_cut():
    card = features_card(with_features(exact=True, count=20))
    assert "±" not in card
    assert "8 more features" in card


def test_the_page_shows_what_was_computed_and_only_that():
    assert features_card(made_up(nx.cycle_graph(8))) == ""
    assert "Which features matter" in explanation_page(with_features())
    assert "Which features matter" not in explanation_page(made_up(nx.cycle_graph(8)))
