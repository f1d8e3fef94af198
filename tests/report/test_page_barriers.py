"""Barriers for readers with disabilities, on all kinds of pages: searched for by axe-core, in Chromium."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

from mage.experiments.pages import run_page
from mage.experiments.pages.benchmark import benchmark_page
from mage.explanation import TypedSubject
from mage.models import demo_graph, load_demo_model
from mage.report import explanation_page, explanations_page
from tests.helpers.corpora import nitrobenzene, write_molecules
from tests.helpers.demo import demo_of_both_sides
from tests.helpers.explanations import image, made_up, sentence

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
TYPES = ("author", "paper", "author", "paper", "venue", "paper")
RECORD = {"dataset": "ba_2motifs", "model": "gcn", "seed": 0, "graph": 3, "position": 0}
FIGURES = {"auc": 0.9, "queries": 5000.0, "seconds": 0.2, "nodes": "[[1]]"}


def typed():
    """Nodes of three types."""
    return replace(made_up(nx.path_graph(6)), subject=TypedSubject(TYPES))


def with_features():
    """A real explanation with all its cards, of a graph of which the ground truth is known."""
    explanation = demo_of_both_sides()
    explanation.features(explanation.motifs[0], load_demo_model(), demo_graph(1))
    return explanation


def two_classes(**options):
    explanation = made_up(nx.cycle_graph(9))
    return explanations_page([explanation, replace(explanation, target=0)], **options)


def report(folder):
    """Many explanations on one page."""
    write_molecules(folder)
    return run_page(folder).text


def results(_folder):
    """Results of experiments beside the paper's."""
    methods = {"mage": 0.7, "mage-unconnected": 0.5, "gradcam": 0.6}
    return benchmark_page([{**RECORD, **FIGURES, "method": name, "f1": value} for name, value in methods.items()])


PAGES = {
    "graph": lambda _: explanation_page(made_up(nx.cycle_graph(9), exact=False)),
    "graph with all cards": lambda _: explanation_page(with_features()),
    "molecule": lambda _: explanation_page(nitrobenzene()),
    "sentence": lambda _: explanation_page(sentence()),
    "image": lambda _: explanation_page(image(3, 4)),
    "typed": lambda _: explanation_page(typed()),
    "large": lambda _: explanation_page(made_up(nx.path_graph(70), max_nodes=3, num_motifs=1)),
    "switch": lambda _: two_classes(),
    "side by side": lambda _: two_classes(side_by_side=True),
    "report": report,
    "results": results,
}


def serious_barriers(page):
    """What axe-core finds in a page, with the first elements."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then(result => result.violations)")
    return [
        (violation["id"], [node["html"][:200] for node in violation["nodes"][:3]])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", PAGES)
def test_pages_have_no_serious_barrier(opened, tmp_path, kind, scheme):
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm ci in frontend/")
    if kind in ("molecule", "report"):
        pytest.importorskip("rdkit")
    view = opened(PAGES[kind](tmp_path), color_scheme=scheme, bypass_csp=True)
    assert serious_barriers(view.page) == []
    if kind == "report":
        view.page.locator("#rows a:not(.thumb)").first.click()
        view.page.locator("#details svg").wait_for()
        assert serious_barriers(view.page) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", ["graph with all cards", "molecule"])
def test_pages_without_scripts_have_no_serious_barrier(opened, tmp_path, kind):
    """The text within ``noscript`` is shown as it is shown where scripts are off; axe itself needs them."""
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm ci in frontend/")
    text = PAGES[kind](tmp_path).replace("<noscript>", "<div>").replace("</noscript>", "</div>")
    view = opened(text, bypass_csp=True)
    assert serious_barriers(view.page) == []
