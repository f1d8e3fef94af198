"""Pages of saved explanations from the command line."""

import json
import re
import webbrowser
from dataclasses import replace

import networkx as nx
import pytest
from typer.testing import CliRunner

from mage.cli import app
from tests.helpers.explanations import made_up


@pytest.fixture
def saved(tmp_path):
    explanation = replace(made_up(nx.cycle_graph(7)), class_names=("no", "yes"))
    explanation.save(tmp_path / "first.mage")
    replace(made_up(nx.cycle_graph(7), seed=3), target=0, class_names=("no", "yes")).save(tmp_path / "second.mage")
    return tmp_path / "first.mage", tmp_path / "second.mage"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_saved_explanation_becomes_a_page_that_opens(saved, monkeypatch):
    addresses = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    result = run("view", saved[0])
    assert result.exit_code == 0, result.output
    page = saved[0].with_suffix(".html")
    assert f"wrote {page}" in result.output
    assert addresses == [page.as_uri()]
    assert "Why yes?" in page.read_text(encoding="utf-8")


def test_several_explanations_share_a_page(saved, tmp_path):
    result = run("view", *saved, "--page", tmp_path / "both.html", "--json")
    assert json.loads(result.stdout) == {"page": str(tmp_path / "both.html"), "explanations": 2}
    assert '"name":"no' in (tmp_path / "both.html").read_text(encoding="utf-8")


def test_two_explanations_are_compared(saved, tmp_path):
    result = run("compare", *saved, "--page", tmp_path / "both.html")
    assert result.exit_code == 0, result.output
    assert "in motifs of both" in result.output
    assert "side-by-side" in (tmp_path / "both.html").read_text(encoding="utf-8")
    same = json.loads(run("compare", saved[0], saved[0], "--json").stdout)
    assert (same["jaccard"], same["opposed"]) == (1.0, [])


def test_what_cannot_be_shown_is_named(saved, tmp_path):
    missing = run("view", tmp_path / "none.mage")
    assert missing.exit_code == 2
    assert "none.mage does not exist" in missing.output
    (tmp_path / "bad.mage").write_text("nothing")
    assert run("compare", saved[0], tmp_path / "bad.mage").exit_code == 2
    made_up(nx.cycle_graph(5)).save(tmp_path / "small.mage")
    other = run("compare", saved[0], tmp_path / "small.mage")
    assert other.exit_code == 2
    assert "same graph" in other.output


def test_a_comparison_fits_the_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = tuple(f"protein number {node}" for node in range(12))
    for seed in (0, 3):
        replace(made_up(nx.cycle_graph(12), seed=seed), names=names).save(tmp_path / f"{seed}.mage")
    result = run("compare", tmp_path / "0.mage", tmp_path / "3.mage")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 80
    assert re.search(r"\n    \S", result.output), "a list that does not fit continues below, further to the right"
