from dataclasses import replace

import pytest

from mage.demo import demo_explanation


@pytest.fixture(scope="module")
def explanation():
    return demo_explanation(1)


def test_a_page_is_whole_and_says_what_was_found(explanation, tmp_path):
    explanation.save_html(tmp_path / "why.html", title="Why grid?")
    page = (tmp_path / "why.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "Why grid?" in page
    assert "proven optimal" in page
    assert page.count("<tr>") == 1 + len(explanation.motifs)
    assert 'http-equiv="Content-Security-Policy"' in page


def test_hostile_names_stay_text(explanation, tmp_path):
    hostile = replace(explanation, names=tuple("<script>alert(1)</script>" for _ in explanation.names))
    hostile.save_html(tmp_path / "why.html", title="<script>")
    assert "<script" not in (tmp_path / "why.html").read_text()


def test_the_same_explanation_gives_the_same_bytes(explanation, tmp_path):
    for name in ("a", "b"):
        explanation.save_html(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
