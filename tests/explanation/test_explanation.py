import json

import numpy as np
import pytest
from rich.console import Console

import mage
from mage._core.conversion import same
from mage.testing import random_game
from tests.helpers.corpora import nitrobenzene
from tests.helpers.demo import demo_of_both_sides


@pytest.fixture(scope="module")
def explanation():
    return demo_of_both_sides(1)


def test_save_and_load_round_trip(explanation, tmp_path):
    path = tmp_path / "why.mage"
    explanation.save(path)
    loaded = mage.load(path)
    assert isinstance(loaded, mage.Explanation)
    assert repr(loaded) == repr(explanation)
    assert loaded.motifs == explanation.motifs
    np.testing.assert_array_equal(loaded.edge_mask, explanation.edge_mask)
    np.testing.assert_array_equal(loaded.node_scores, explanation.node_scores)
    assert same(loaded, explanation)
    first = path.read_bytes()
    explanation.save(path)
    assert path.read_bytes() == first


def test_load_tells_interactions_from_explanations(tmp_path, explanation):
    index = mage.interactions(random_game(4), order=2)
    index.save(tmp_path / "index.mage")
    assert isinstance(mage.load(tmp_path / "index.mage"), mage.Interactions)
    with pytest.raises(ValueError, match="does not hold a saved explanation"):
        mage.Explanation.load(tmp_path / "index.mage")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="not written by mage"):
        mage.load(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        mage.load(tmp_path / "absent")
    explanation.save(tmp_path / "cut")
    cut = (tmp_path / "cut").read_bytes()
    (tmp_path / "cut").write_bytes(cut[: len(cut) // 2])
    with pytest.raises(ValueError, match="not written by mage"):
        mage.load(tmp_path / "cut")


def test_edges_are_inside_one_motif(explanation):
    labels = explanation.motifs.labels
    for (i, j), inside in zip(explanation.edge_index.T.tolist(), explanation.edge_mask, strict=True):
        assert bool(inside) == (labels[i] > 0 and labels[i] == labels[j])


def test_words_tables_and_html(explanation):
    text = repr(explanation)
    assert "grid (class 1, probability" in text
    assert "for     +" in text
    assert "against -" in text
    console = Console(record=True, width=120)
    console.print(explanation)
    assert "grid 0" in console.export_text()
    document = json.loads(json.dumps(explanation.to_dict()))
    assert [motif["sign"] for motif in document["motifs"]] == [1, -1]
    assert document["optimal"] is True
    from dataclasses import replace

    hostile = replace(explanation, names=tuple("<script>alert(1)</script>" for _ in explanation.names))
    assert "<script>" not in hostile._repr_html_()


def test_probabilities(explanation):
    chances = explanation.probabilities
    assert chances.sum() == pytest.approx(1)
    assert chances[explanation.target] > 0.9


def test_atoms_of_equal_names_are_told_apart():
    text = repr(nitrobenzene())
    assert "{N6, O7, O8}" in text
