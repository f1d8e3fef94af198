import json

import numpy as np
import pytest
from rich.console import Console

import mage
from mage._core.archive import read_archive, write_archive
from mage.cli.demo import demo_explanation
from mage.testing import random_game


@pytest.fixture(scope="module")
def explanation():
    return demo_explanation(1)


def test_save_and_load_round_trip(explanation, tmp_path):
    path = tmp_path / "why.mage"
    explanation.save(path)
    loaded = mage.load(path)
    assert isinstance(loaded, mage.Explanation)
    assert repr(loaded) == repr(explanation)
    assert loaded.motifs == explanation.motifs
    np.testing.assert_array_equal(loaded.edge_mask, explanation.edge_mask)
    np.testing.assert_array_equal(loaded.node_scores, explanation.node_scores)
    assert loaded.extra == explanation.extra
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
    assert "class 1 (probability" in text
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


def put(*path_and_value):
    """A change of one place in the header of a file, or of an array."""
    *path, last, value = path_and_value

    def change(header, arrays):
        place = {**header, "arrays": arrays}
        for step in path:
            place = place[step]
        if not path:
            header[last] = value
        else:
            place[last] = value(place[last]) if callable(value) else value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("motifs", "motifs", 0, 0, 0, 999), "motifs must hold whole numbers"),
        (put("motifs", "motifs", 0, 0, 0, -1), "motifs must hold whole numbers"),
        (put("motifs", "motifs", 0, 0, 0, "a"), "motifs must hold whole numbers"),
        (put("motifs", "motifs", 0, 0, 0, True), "motifs must hold whole numbers"),
        (put("motifs", "motifs", 0, 0, []), "motifs must be lists"),
        (put("motifs", "motifs", 0, 1, "a"), "score"),
        (put("motifs", "motifs", 0, 2, ["a"]), "names of a motif"),
        (put("motifs", "motifs", 7), "iterable"),
        (put("motifs", "num_nodes", 2), "motifs are of 2 nodes"),
        (put("motifs", "bound", "x"), "motifs.bound"),
        (put("motifs", "include", [999]), "motifs.include"),
        (put("num_nodes", 3), "0 … 2"),
        (put("num_nodes", "3"), "num_nodes"),
        (put("names", ["a"]), "names must list"),
        (put("names", 0, 5), "names must list"),
        (put("players", []), "players must list"),
        (put("players", 0, [999]), "players must hold whole numbers"),
        (put("players", 0, []), "players must be lists"),
        (put("target", 99), "target must be a class"),
        (put("target", "x"), "target must be int"),
        (put("target", None), "does not fit the target"),
        (put("level", "foo"), "level must be one of"),
        (put("task", "foo"), "task must be one of"),
        (put("task", "binary"), "does not fit a prediction"),
        (put("output", 3), "output"),
        (put("seconds", "x"), "seconds"),
        (put("extra", [1]), "extra"),
        (put("extra", "edge_scores", [1.0]), "edge_scores"),
        (put("interactions", "baseline", "x"), "baseline"),
        (put("arrays", "prediction", lambda old: old[:0]), "prediction must hold"),
        (put("arrays", "prediction", lambda old: old.astype(str)), "prediction must hold"),
        (put("arrays", "edge_index", lambda old: old + 1000), "edge_index: nodes are"),
        (put("arrays", "edge_index", lambda old: np.zeros(3)), "edge_index must hold"),
        (put("arrays", "edge_index", lambda old: old.astype(float)), "edge_index must hold"),
        (put("arrays", "third", np.zeros(3)), "third"),
    ],
)
def test_files_that_contradict_themselves_are_refused(explanation, tmp_path, change, message):
    path = tmp_path / "why.mage"
    explanation.save(path)
    header, arrays = read_archive(path)
    change(header, arrays)
    write_archive(path, header, arrays)
    with pytest.raises(ValueError, match=message) as caught:
        mage.load(path)
    assert str(caught.value).startswith(f"{path} does not hold a saved explanation: ")
