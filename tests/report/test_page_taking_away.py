"""What a reader takes away from a page, and pages of several explanations: in Chromium, from disk."""

import csv
import json
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import pytest
from PIL import Image

from mage.explanation import Origin
from mage.report import explanation_page, explanations_page
from tests.helpers.explanations import made_up

SIDES = (("x", "width"), ("y", "height"))
SMALL = {"num_motifs": 2, "max_nodes": 4}


@pytest.fixture(scope="module")
def explanation():
    graph = nx.disjoint_union(nx.cycle_graph(6), nx.path_graph(3))
    graph.add_edge(0, 6)
    example = made_up(graph, names=[f'node "{node}"' for node in graph], **SMALL)
    return replace(example, class_names=("no", "yes"), origin=Origin(label=1, truth=((0, 1),)), node_notes=("red",) * 9)


@pytest.fixture(scope="module")
def page(explanation):
    return explanation_page(explanation)


def save(view, label, folder):
    """Press a button that saves a file; where the file is now."""
    with view.page.expect_download() as download:
        view.page.get_by_role("button", name=label).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_buttons_save_valid_files(opened, explanation, page, tmp_path):
    view = opened(page, accept_downloads=True)
    drawing = save(view, "Save the drawing as SVG", tmp_path)
    assert drawing.name == "why-yes.svg"
    root = ElementTree.parse(drawing).getroot()  # noqa: S314 - our own
    circles = [part for part in root.iter() if part.tag.endswith("}circle")]
    assert len(circles) == explanation.num_nodes + 2  # two of the ground truth
    assert all("var(" not in value for part in root.iter() for value in part.attrib.values())
    picture = Image.open(save(view, "Save the drawing as PNG", tmp_path))
    assert picture.format == "PNG"
    assert len(picture.convert("RGB").getcolors(1 << 24)) > 10
    with save(view, "Save the table as CSV", tmp_path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["node"] for row in rows] == list(explanation.names)
    assert float(rows[0]["Myerson value"]) == pytest.approx(explanation.node_scores[0], rel=1e-5)
    record = json.loads(save(view, "Save motifs and scores as JSON", tmp_path).read_text(encoding="utf-8"))
    assert [motif["nodes"] for motif in record["motifs"]] == [list(motif.nodes) for motif in explanation.motifs]
    assert (record["target"], record["tau"]) == ("yes", explanation.motifs.tau)
    assert view.complaints == []
    assert [request for request in view.requests if not request.startswith("blob:")] == []


def test_nodes_and_links_are_copied(opened, explanation, page):
    view = opened(page, permissions=["clipboard-read", "clipboard-write"])
    view.page.get_by_role("button", name="Copy the numbers").click()
    view.page.get_by_text("Copied the nodes of the motifs.").wait_for()
    copied = json.loads(view.page.evaluate("navigator.clipboard.readText()"))
    assert copied == [list(motif.nodes) for motif in explanation.motifs]
    view.slide("count", 0)
    view.page.get_by_role("button", name="Copy a link").click()
    view.page.get_by_text("Copied the link.").wait_for()
    assert "#s1=" in view.page.evaluate("navigator.clipboard.readText()")


def test_the_link_restores_the_sliders(opened, page, tmp_path):
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    view = opened(tmp_path / "page.html")
    view.slide("tau", 0)
    view.slide("count", 0)
    view.slide("size", 1)
    motifs, address = view.motifs(), view.page.url
    assert "#s1=0,1,2" in address
    again = opened(tmp_path / "page.html")
    again.page.goto(address)
    again.page.reload()
    assert again.motifs() == motifs
    assert again.texts("output") == ["0", "1", "2"]
    again.page.get_by_text("Back to the first setting").click()
    assert "#" not in again.page.url


def test_the_reader_switches_between_classes(opened, explanation):
    other = replace(made_up(nx.cycle_graph(9), seed=4, **SMALL), target=0, class_names=("no", "yes"))
    view = opened(explanations_page([explanation, other]))
    assert view.texts("h1") == ["Why yes?"]
    assert view.page.locator("#explanation-2").is_hidden()
    view.page.get_by_role("button", name="no, ").click()
    assert view.texts("h1") == ["Why no?"]
    assert view.page.locator("#explanation").is_hidden()
    assert view.page.locator("#stage-2 .node").count() == 9
    bars = view.page.locator("#bars-2 .bar").evaluate_all("bars => bars.map(bar => bar.title)")
    assert bars == [", ".join(other.names[node] for node in motif.nodes) for motif in other.motifs]
    view.slide("count-2", 0)
    assert "show=2" in view.page.url
    assert "s2=" in view.page.url
    view.page.reload()
    assert view.texts("h1") == ["Why no?"]
    assert view.complaints == []


def test_two_explanations_stand_side_by_side(opened, explanation):
    other = replace(explanation, target=0)
    view = opened(explanations_page([explanation, other], labels=["before", "after"], side_by_side=True))
    left, right = (view.page.locator(f"#stage{suffix} svg").bounding_box() for suffix in ("", "-2"))
    assert left["x"] + left["width"] <= right["x"]
    assert abs(left["y"] - right["y"]) < 60
    assert view.page.locator(".agreement").is_visible()
    before = view.page.locator("#bars-2 .bar").count()
    view.slide("count", 0)
    assert view.page.locator("#bars .bar").count() == 1
    assert view.page.locator("#bars-2 .bar").count() == before
    assert view.complaints == []


def test_hover_tells_features_and_rings_the_truth(opened, page):
    view = opened(page)
    assert view.page.locator(".truth-ring").count() == 2 + 1  # one in the legend
    view.page.locator("#table tr[data-player='3']").hover()
    assert "red" in view.texts("#readout")[0]
    assert "alone" not in view.texts("#bars")[0]  # the model was not asked


@pytest.mark.parametrize("width", [360, 1920])
def test_pages_fit_phones_and_wide_screens(opened, page, width):
    view = opened(page, viewport={"width": width, "height": 800}, has_touch=width < 500)
    assert view.page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = view.page.locator("button:visible, input:visible").evaluate_all(
        """all => all.map(one => {
            const { width, height } = one.getBoundingClientRect();
            return [one.textContent || one.id, width, height];
        })"""
    )
    assert [size for size in sizes if min(size[1:]) < 24] == []
    pairs = view.page.locator("#map").bounding_box()
    table = view.page.locator("#table").bounding_box()
    stage = view.page.locator("#stage").bounding_box()
    assert (pairs["x"] > stage["x"] + stage["width"]) == (width > 1500)
    assert width < 500 or table["width"] > 0.9 * width, "the table leaves a part of the width empty"
    hint = view.page.locator("#readout").evaluate("line => line.scrollHeight - line.clientHeight")
    assert hint <= 1, "the hint is clipped"


def test_names_do_not_overlap_on_the_page(opened):
    graph = nx.barabasi_albert_graph(35, 1, seed=5)
    view = opened(explanation_page(made_up(graph, names=[f"node {node}" for node in graph])))
    # Without the halo around letters, which may touch that of others.
    boxes = view.page.locator(".layer-labels text").evaluate_all(
        "all => all.map((one) => { const { x, y, width, height } = one.getBBox(); return { x, y, width, height }; })"
    )
    assert len(boxes) == 35
    assert all(box["width"] > 0 for box in boxes)
    for one, box in enumerate(boxes):
        for other in boxes[:one]:
            x, y = (abs(box[at] + box[size] / 2 - other[at] - other[size] / 2) for at, size in SIDES)
            # Boxes of text are taller than their letters.
            assert x >= (box["width"] + other["width"]) / 2 or y >= 0.8 * (box["height"] + other["height"]) / 2
