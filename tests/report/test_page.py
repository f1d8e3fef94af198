import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import mage
from mage.explanation import Origin
from mage.motifs import Motif
from mage.report import agreement, explanation_page, explanations_page
from mage.report.shell import asset, document, json_block
from tests.helpers.corpora import nitrobenzene
from tests.helpers.demo import demo_of_both_sides
from tests.helpers.explanations import image, made_up, sentence

FRONTEND = Path(__file__).parents[2] / "frontend"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def explanation():
    return demo_of_both_sides(1)


@pytest.fixture(scope="module")
def page(explanation):
    return explanation_page(explanation, "Why grid?", "Because & so.")


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_a_page_is_whole_and_says_what_was_found(explanation, page, tmp_path):
    explanation.save_html(tmp_path / "why.html", title="Why grid?", text="Because & so.")
    assert (tmp_path / "why.html").read_text(encoding="utf-8") == page
    assert page.startswith("<!doctype html>")
    assert "<title>Why grid?</title>" in page
    assert "Because &amp; so." in page
    assert f"{explanation.num_queries:,} runs of the model" in page
    assert len(page) < 2_000_000


def test_readers_without_scripts_see_picture_and_table(explanation, page):
    still = re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]
    assert "<svg" in still
    assert "proven optimal" in still
    assert still.count("<tr>") == 1 + len(explanation.motifs)
    assert "cycle 0, cycle 1, cycle 2, cycle 3, cycle 4" in still
    assert "style=" not in still  # the policy would refuse it


def test_the_policy_allows_what_is_inside_and_nothing_else(page):
    policy = html.unescape(re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)[1])
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for tag in ("script", "style"):
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert rules[f"{tag}-src"] == " ".join(f"'sha256-{code}'" for code in hashes)
    assert not re.findall(r'\s(?:src|href|style|on\w+)="', page.partition("<script>")[0])


def test_hostile_names_stay_text(explanation):
    hostile = replace(
        explanation, names=(HOSTILE, *explanation.names[1:]), class_names=(HOSTILE,) * 2, notes=(HOSTILE,)
    )
    page = explanation_page(hostile, HOSTILE, HOSTILE)
    assert HOSTILE not in page
    assert len(re.findall(r"<script", page)) == 2  # the data and our own
    assert HOSTILE in data_of(page)["nodes"]


def test_the_same_explanation_gives_the_same_bytes(explanation, page):
    assert explanation_page(explanation, "Why grid?", "Because & so.") == page


def test_a_saved_explanation_gives_the_same_page(tmp_path):
    for number, explanation in enumerate((image(3, 2), sentence())):
        explanation.save(tmp_path / f"{number}.mage")
        assert explanation_page(mage.load(tmp_path / f"{number}.mage")) == explanation_page(explanation)


def test_the_page_tells_what_kind_of_thing_it_draws(explanation):
    assert data_of(explanation_page(explanation))["drawing"]["kind"] == "graph"
    assert data_of(explanation_page(image(3, 2)))["drawing"]["kind"] == "image"
    assert data_of(explanation_page(sentence()))["drawing"]["kind"] == "sentence"


def test_numbers_of_the_page_are_those_of_the_explanation():
    explanation = made_up(nx.path_graph(7), exact=False)
    data = data_of(explanation_page(explanation))
    packed = np.frombuffer(base64.b64decode(data["map"]["values"]), dtype="<f4")
    expected = explanation.interactions.matrix[np.triu_indices(7)]
    np.testing.assert_allclose(packed, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(data["first"], explanation.interactions.first_order, rtol=1e-5)
    np.testing.assert_allclose(data["share"], explanation.node_scores, rtol=1e-5, atol=1e-6)
    start = data["solutions"][data["grid"]["cells"][np.ravel_multi_index(data["grid"]["start"], _shape(data["grid"]))]]
    for (players, score, error, *_), motif in zip(start["motifs"], explanation.motifs, strict=True):
        assert tuple(players) == motif.nodes
        assert score == pytest.approx(motif.score, rel=1e-5)
        assert error == pytest.approx(explanation.motif_error(motif), rel=1e-5)


def _shape(grid):
    return len(grid["taus"]), len(grid["counts"]), len(grid["sizes"])


def test_equal_names_are_told_apart():
    explanation = made_up(nx.path_graph(3), names=["a", "b", "a"], max_nodes=2)
    assert data_of(explanation_page(explanation))["nodes"] == ["a ·0", "b", "a ·2"]


def test_regression_and_single_nodes_have_pages():
    lone = made_up(nx.empty_graph(1), max_nodes=1)
    page = explanation_page(replace(lone, target=None, task="regression", prediction=np.array([2.5])))
    assert "The model predicts" in page
    assert "2.5" in page
    assert data_of(page)["map"] is None


def test_of_a_large_graph_the_part_around_the_motifs_is_drawn():
    explanation = made_up(nx.path_graph(5), max_nodes=2)
    path = np.array([np.arange(1999), np.arange(1, 2000)])
    large = replace(
        explanation,
        num_nodes=2000,
        names=tuple(f"n{v}" for v in range(2000)),
        edge_index=path,
        motifs=replace(explanation.motifs, num_nodes=2000),
    )
    page = explanation_page(replace(large, interactions=replace(large.interactions, names=large.names[:5])))
    data = data_of(page)
    assert len(data["nodes"]) == 60
    assert data["players"] == ["n0", "n1", "n2", "n3", "n4"]
    assert "60 of 2,000 nodes" in page


# -- the shell ----------------------------------------------------------------------------------------------------


def test_data_can_open_and_close_no_tag():
    values = {"name": "</script><script>", "number": float("nan"), "list": [float("inf"), 1.5], "line": "\u2028"}
    text = json_block(values)
    assert "<" not in text
    assert json.loads(text) == {"name": "</script><script>", "number": None, "list": [None, 1.5], "line": "\u2028"}


def test_scripts_that_end_early_are_refused():
    with pytest.raises(ValueError, match="cannot be inlined"):
        document("title", "", scripts=["let text = '</SCRIPT>'"])
    with pytest.raises(ValueError, match="cannot be inlined"):
        document("title", "", styles=["</style>"])


def test_a_document_without_scripts_allows_none():
    assert "script-src &#x27;none&#x27;" in document("title", "<p>text</p>")


# -- what is bundled ----------------------------------------------------------------------------------------------


def test_the_script_holds_no_library_of_others():
    assert "contains no library of others" in asset("explanation.js")
    assert len(asset("explanation.js")) < 100_000


# -- words --------------------------------------------------------------------------------------------------------


def test_titles_name_the_class_and_the_node(explanation):
    assert '<h1 id="title">Why grid?</h1>' in explanation_page(explanation)
    of_node = replace(explanation, level="node", target_nodes=(3,), class_names=())
    assert f"Why class 1 for node {explanation.names[3]}?" in explanation_page(of_node)
    of_link = replace(explanation, level="edge", target_nodes=(3, 4))
    assert f"for the link between {explanation.names[3]} and {explanation.names[4]}?" in explanation_page(of_link)


def test_the_true_class_and_what_is_explained_are_named(explanation):
    page = explanation_page(replace(explanation, origin=Origin(label=0, truth=((1, 2),))))
    assert "True class: house ✗" in page
    assert data_of(page)["truth"] == [1, 2]
    other = explanation_page(replace(explanation, target=0))
    assert "Explained: house" in other
    assert '<p class="answer">grid</p>' in other
    assert "Myerson-Taylor" in page


def test_pages_speak_of_what_the_nodes_are():
    page = explanation_page(image(3, 2))
    assert ">All regions<" in page
    assert ">Image and motifs<" in page
    assert data_of(page)["words"]["players"] == "regions"
    assert ">All words<" in explanation_page(sentence())


# -- several explanations -----------------------------------------------------------------------------------------


def test_classes_of_one_graph_share_its_drawing(explanation, tmp_path):
    other = replace(explanation, target=0)
    mage.save_html([explanation, other], tmp_path / "both.html")
    data = data_of((tmp_path / "both.html").read_text(encoding="utf-8"))
    assert [data["name"], data["others"][0]["name"]] == ["grid, 99.9 %", "house, 0.1 %"]
    assert "drawing" not in data["others"][0]
    assert [data["title"], data["others"][0]["title"]] == ["Why grid?", "Why house?"]


def test_two_explanations_stand_side_by_side(explanation):
    page = explanations_page([explanation, explanation], labels=["before", "after"], side_by_side=True)
    assert '<h1 id="title">before and after</h1>' in page
    assert "100 %" in page
    assert page.count('<article class="explanation"') == 2
    ids = re.findall(r' id="([^"]+)"', re.sub("<noscript>.*?</noscript>", "", page, flags=re.DOTALL))
    assert len(ids) == len(set(ids))
    with pytest.raises(ValueError, match="labels must list 2 names"):
        explanations_page([explanation, explanation], labels=["one"])
    with pytest.raises(ValueError, match="at least one"):
        explanations_page([])


def test_agreement_counts_nodes_and_sides(explanation):
    same = agreement(explanation, explanation)
    assert (same.jaccard, same.first, same.second, same.opposed) == (1.0, (), (), ())
    assert same.correlation == pytest.approx(1.0)
    flipped = replace(
        explanation,
        motifs=replace(
            explanation.motifs,
            motifs=tuple(Motif(motif.nodes, -motif.score, motif.names) for motif in explanation.motifs[:1]),
        ),
        consequences=None,
    )
    result = agreement(explanation, flipped)
    assert result.opposed == result.shared == tuple(sorted(explanation.motifs[0].nodes))
    assert set(result.first) == set(explanation.motifs[1].nodes)
    with pytest.raises(ValueError, match="same graph"):
        agreement(explanation, image(2, 2))


@pytest.mark.skipif(not FRONTEND.is_dir(), reason="needs the sources of the script, which are in the repository only")
def test_the_bundle_is_built_from_the_sources():
    digest = hashlib.sha256()
    for file in sorted((FRONTEND / "src").iterdir()):
        digest.update(file.read_bytes())
    assert f"sources: {digest.hexdigest()}" in asset("explanation.js"), "run npm run build in frontend/"


@pytest.mark.skipif(not FRONTEND.is_dir(), reason="needs the sources of the script, which are in the repository only")
def test_the_lock_file_names_no_host():
    assert "://" not in (FRONTEND / "package-lock.json").read_text().replace("https://github.com", "")


def test_columns_of_rounding_are_left_out():
    explanation = made_up(nx.path_graph(6))
    values = explanation.interactions.values.copy()
    values[:6] = 3e-6 * np.abs(values).max()
    noisy = replace(explanation, interactions=replace(explanation.interactions, values=values))
    assert set(data_of(explanation_page(noisy))["first"]) == {0.0}


def test_pages_name_functional_groups_and_shapes(page):
    pytest.importorskip("rdkit")
    bars = data_of(explanation_page(nitrobenzene()))["solutions"][0]["motifs"]
    assert [motif[3:] for motif in bars] == [["nitro"]]
    kinds = {motif[3] for solution in data_of(page)["solutions"] for motif in solution["motifs"] if len(motif) > 3}
    assert "3 × 3 grid" in kinds


def test_a_sentence_has_shorter_lines_for_phones():
    data = data_of(explanation_page(sentence()))
    assert data["narrow"]["box"][2] < data["drawing"]["box"][2]
    assert [label[0] for label in data["narrow"]["labels"]] == [label[0] for label in data["drawing"]["labels"]]
