"""The corpus page: what it counts, and how it behaves in a browser."""

import base64
import json
import re
import zlib
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from mage.experiments.pages import run_page
from mage.explanation import GraphSubject, SentenceSubject
from mage.report.corpus.content import BLOCK, corpus_content, least_graphs
from mage.report.corpus.entries import class_names, read_entries
from mage.report.still_picture import still_picture
from tests.helpers.corpora import aniline, benzene, explained, nitrobenzene, write_molecules

pytest.importorskip("rdkit")
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run_folder = tmp_path_factory.mktemp("run")
    write_molecules(run_folder)
    return run_folder


@pytest.fixture(scope="module")
def page(folder):
    return run_page(folder).text


def content_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])["corpus"]


def rows(view):
    return [int(text) for text in view.texts("#rows td:first-child")]


def test_motifs_and_cores_are_counted_by_class_and_sign(folder):
    entries, skipped = read_entries(sorted(folder.iterdir()))
    assert skipped == []
    content = corpus_content(entries)
    sections = {(section["target"], section["sign"]): section for section in content["sections"]}
    assert list(sections) == [(0, 1), (0, -1), (1, 1)]
    named = [content["patterns"][core["pattern"]] for core in sections[0, 1]["cores"]]
    assert [(pattern["name"], pattern["text"]) for pattern in named[:2]] == [("nitro", "NO₂"), ("amino", "NH₂")]
    nitro, amino = sections[0, 1]["cores"][:2]
    assert (len(nitro["graphs"]), nitro["present"], nitro["mean"]) == (5, 5, 3.0)
    assert (len(amino["graphs"]), amino["present"], amino["mean"]) == (4, 4, 2.0)
    against = sections[0, -1]["cores"][0]
    # All nine molecules have an aromatic C–H, four motifs hold it; so do those of the other class.
    assert (len(against["graphs"]), against["present"]) == (4, 9)
    assert against["elsewhere"] == [{"target": 1, "sign": 1, "count": 3, "total": 3}]
    assert [motif["count"] for motif in sections[0, 1]["motifs"]] == [5, 4]


def test_rows_know_right_from_wrong(folder):
    entries, _ = read_entries(sorted(folder.iterdir()))
    assert [entry.right for entry in entries] == [True] * 5 + [False] + [True] * 6
    assert [entry.number for entry in entries] == list(range(0, 120, 10))
    assert class_names(entries) == ["mutagen", "non-mutagen"]


def test_what_an_explanation_does_not_carry_is_not_made_up(tmp_path):
    bare = nitrobenzene()
    replace(bare, subject=GraphSubject(), origin=None).save(tmp_path / "why.mage")
    entries, _ = read_entries([tmp_path / "why.mage"])
    row = corpus_content(entries)["graphs"][0]
    assert (row["name"], row["label"], row["right"], row.get("f1")) == ("why", None, None, None)
    assert class_names(entries) == ["class 0"]
    replace(bare, subject=GraphSubject(), origin=None).save(tmp_path / "000042-0123456789abcdef.mage")
    entries, _ = read_entries([tmp_path / "000042-0123456789abcdef.mage"])
    assert entries[0].number == 42


def test_classes_of_two_datasets_are_not_confused(tmp_path):
    for name, classes in (("a", ["x", "y"]), ("b", ["y", "x"])):
        nitrobenzene(class_names=classes).save(tmp_path / f"{name}.mage")
    entries, _ = read_entries(sorted(tmp_path.iterdir()))
    assert class_names(entries) == ["class 0"]


def test_agreement_with_the_ground_truth(tmp_path):
    nitrobenzene(truth=((6, 7, 8),)).save(tmp_path / "a.mage")
    nitrobenzene(truth=((6, 7, 8),), motifs=[((6, 0), 1.0)]).save(tmp_path / "b.mage")
    entries, _ = read_entries(sorted(tmp_path.iterdir()))
    assert [row["f1"] for row in corpus_content(entries)["graphs"]] == [1.0, 0.4]


@pytest.mark.parametrize(("total", "least"), [(1, 2), (19, 2), (20, 3), (50, 3), (100, 5), (1000, 50)])
def test_how_many_graphs_make_a_core(total, least):
    assert least_graphs(total) == least


def test_the_same_folder_gives_the_same_bytes(folder, page):
    assert run_page(folder).text == page


def test_damaged_files_are_named_and_left_out(tmp_path, page):
    write_molecules(tmp_path)
    (tmp_path / "000010-0123456789abcdef.mage").write_bytes(b"PK nonsense")
    (tmp_path / "zzz.mage").write_bytes(b"")
    run = run_page(tmp_path)
    assert run.explanations == 11
    assert [name for name, _ in run.skipped] == ["000010-0123456789abcdef.mage", "zzz.mage"]
    assert "2 files could not be read and are left out: 000010-0123456789abcdef.mage" in run.text
    assert str(tmp_path) not in run.text


def test_mixed_folders_are_told(tmp_path):
    write_molecules(tmp_path)
    other = nitrobenzene(dataset="Molecules", model="gcn", position=0, class_names=["mutagen", "non-mutagen"])
    other.save(tmp_path / "other.mage")
    benzene(dataset="Molecules", model="gin", position=110).save(tmp_path / "again.mage")
    text = run_page(tmp_path).text
    assert "mixes 2 sources: Molecules, gcn; Molecules, gin" in text
    assert "1 graph is here more than once" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_without_complaint_or_request(opened, page, scheme):
    view = opened(page, color_scheme=scheme)
    assert view.texts("h1") == ["Molecules, gin: what the model looks at"]
    assert view.texts("#recurring h3")[:2] == ["For mutagen +", "Against mutagen −"]
    assert view.texts("#panel-0 .block:first-child h4 span:first-child") == ["nitro", "amino"]
    assert len(rows(view)) == 12
    view.page.locator("#rows").scroll_into_view_if_needed()
    view.page.locator("#rows svg").first.wait_for()
    assert view.complaints == []
    assert view.requests == []


def test_rows_are_sorted_by_any_column(opened, page):
    view = opened(page)
    queries = view.page.get_by_role("button", name="queries")
    queries.click()
    assert rows(view)[:4] == [50, 60, 70, 80]
    assert view.page.locator("th[aria-sort=descending]").all_text_contents() == ["queries"]
    queries.press("Enter")
    assert rows(view)[:4] == [0, 90, 100, 110]
    view.page.get_by_role("button", name="proof").click()
    assert rows(view)[0] == 90
    assert view.complaints == []


def test_rows_are_filtered_by_class_correctness_score_and_size(opened, page):
    view = opened(page)
    choose = view.page.locator("#filters")
    choose.locator("[name=target]").select_option(label="non-mutagen")
    assert rows(view) == [90, 100, 110]
    choose.get_by_role("button", name="Clear").click()
    choose.locator("[name=right]").select_option(label="wrong")
    assert rows(view) == [50]
    assert view.texts("#count") == ["1 of 12 graphs"]
    choose.locator("[name=right]").select_option(label="right")
    choose.locator("[name=label]").select_option(label="mutagen")
    assert rows(view) == [0, 10, 20, 30, 40, 60, 70, 80]
    choose.locator("[name=score]").fill("2.5")
    assert rows(view) == [0, 10, 20, 30, 40]
    choose.get_by_role("button", name="Clear").click()
    choose.locator("[name=to]").fill("12")
    assert rows(view) == [90, 100, 110]
    choose.get_by_role("button", name="Clear").click()
    choose.locator("[name=text]").fill("AMINO")
    assert rows(view) == [50, 60, 70, 80]
    assert view.complaints == []


def test_a_core_shows_its_graphs_and_its_examples(opened, page):
    view = opened(page)
    view.page.get_by_role("button", name="Show the 4 graphs").first.click()
    assert rows(view) == [50, 60, 70, 80]
    view.page.locator("#only").click()
    assert len(rows(view)) == 12
    view.page.locator(".core").first.get_by_role("link").first.click()
    view.page.wait_for_selector("#details[open]", state="attached")  # fails where it does not open
    assert view.texts("#details h2") == ["Graph 0"]


def test_details_are_reached_and_left_by_keyboard(opened, page):
    view = opened(page)
    view.page.locator("#rows a:not(.thumb)").nth(5).press("Enter")
    details = view.page.locator("#details")
    details.locator("h2", has_text="Graph 50").wait_for()
    text = details.inner_text()
    assert "non-mutagen: the prediction is wrong" in text
    assert re.search(r"for \+\s+\+2\s+amino NH₂\s+N6, H7, H8", text)
    assert re.search(r"against −\s+−0.5\s+C–H\s+C3, H11", text)
    assert "500 runs of the model" in text
    assert "proven optimal" in text
    view.page.keyboard.press("ArrowRight")
    details.locator("h2", has_text="Graph 60").wait_for()
    view.page.keyboard.press("Escape")
    assert details.get_attribute("open") is None
    assert view.complaints == []
    assert view.requests == []


def test_classes_are_tabs(opened, page):
    view = opened(page)
    view.page.get_by_role("tab", name="mutagen (9)", exact=True).press("ArrowRight")
    assert view.page.locator("#panel-0").is_hidden()
    assert view.page.locator("#panel-1 h3").inner_text() == "For non-mutagen +"


def test_all_classes_are_printed(opened, page):
    view = opened(page)
    view.page.emulate_media(media="print")
    assert view.page.locator("#panel-1").is_visible()
    assert view.page.locator("#filters").is_hidden()


def test_hostile_text_stays_text(opened, tmp_path):
    words = [HOSTILE, "<b>bold</b>", "fine"]
    sentence = SentenceSubject(words=tuple(words))
    evil = {"dataset": HOSTILE, "model": HOSTILE, "class_names": [HOSTILE, "<i>"], "position": 1, "label": 1}
    for number in range(2):
        explanation = explained(words, [(0, 1), (1, 2)], [((0, 1), 1.0)], subject=sentence, **evil)
        explanation.save(tmp_path / f"{number}<img src=y>.mage")
    (tmp_path / "<script>alert(2)<").with_suffix(".mage").write_bytes(b"")
    view = opened(run_page(tmp_path, HOSTILE).text)
    view.page.locator("#rows a").first.click()
    view.page.wait_for_timeout(100)
    assert view.page.locator("img, i").count() == 0
    assert view.page.locator("b:not(.method *)").count() == 0
    assert view.complaints == []
    assert view.requests == []
    assert view.texts("h1") == [HOSTILE]
    view.page.locator("#details svg").wait_for()
    assert view.texts("#details .layer-labels text")[:2] == [HOSTILE, "<b>bold</b>"]


def test_sentences_are_read_in_order(opened, tmp_path):
    words = ["not", "a", "bad", "film"]
    sentence = SentenceSubject(words=tuple(words))
    for number in range(3):
        explanation = explained(words, [(0, 2), (1, 3), (2, 3)], [((0, 2), 1.0), ((3,), -0.5)], subject=sentence)
        explanation.save(tmp_path / f"{number}.mage")
    view = opened(run_page(tmp_path).text)
    assert view.texts("#panel-0 .block:first-child h4 span:first-child") == ["not · bad"]
    view.page.locator("#rows").scroll_into_view_if_needed()
    drawing = view.page.locator("#rows svg").first
    drawing.wait_for()
    assert drawing.locator(".layer-labels text").all_text_contents() == words
    places = drawing.locator(".layer-labels text").evaluate_all(
        "texts => texts.map(text => text.getBoundingClientRect().x)"
    )
    assert places == sorted(places)
    assert drawing.locator(".region.for").count() == 2
    assert drawing.locator(".region.against").count() == 1


def test_many_graphs_come_in_pages(opened, tmp_path):
    for number in range(110):
        explanation = explained(["0", "1", "2"], [(0, 1), (1, 2)], [((0, 1), 1.0)], position=number)
        explanation.save(tmp_path / f"{number:03d}.mage")
    view = opened(run_page(tmp_path).text)
    assert view.texts("#page") == ["page 1 of 3"]
    view.page.get_by_role("button", name="page after").click()
    assert rows(view) == list(range(50, 100))
    # Only what was in view is drawn.
    assert view.page.locator("#rows svg").count() < 50
    view.page.locator("#many").select_option(label="all")
    assert len(rows(view)) == 110


def test_regression_has_no_classes(opened, tmp_path):
    for number in range(3):
        explanation = aniline()
        regression = replace(
            explanation, task="regression", target=None, prediction=explanation.prediction[:1] - number
        )
        regression.save(tmp_path / f"{number}.mage")
    view = opened(run_page(tmp_path).text)
    assert view.page.locator("#filters [name=target]").is_hidden()
    assert view.texts("#rows [data-column=probability]") == ["2", "1", "0"]
    assert view.complaints == []


def svg_of(text):
    """A drawing as elements."""
    return ElementTree.fromstring(text)  # noqa: S314 - the page made it just now


def drawings_of(content):
    """The drawings of all graphs, as the page unpacks them."""
    return [svg for block in content["drawings"] for svg in json.loads(zlib.decompress(base64.b64decode(block)))]


def test_large_graphs_are_drawn_around_their_motifs(tmp_path):
    names, pairs = [str(v) for v in range(400)], [(v, v + 1) for v in range(399)]
    near = explained(names[190:211], [(v, v + 1) for v in range(20)], [])
    motifs = explained(names, pairs, [((200, 201), 1.0)])
    players = tuple((v,) for v in range(190, 211))
    replace(motifs, players=players, interactions=near.interactions).save(tmp_path / "long.mage")
    content = content_of(run_page(tmp_path).text)
    assert content["graphs"][0]["drawn"] == 60
    drawing = svg_of(drawings_of(content)[0])
    members = [title.text for title in drawing.iterfind(".//{*}g[@class='node for-side']/{*}title")]
    assert members == ["200", "201"]
    assert len(drawing.findall(".//{*}circle")) == 60
    assert len(drawing.findall(".//{*}line")) == 59


def test_the_report_draws_as_the_page_does(folder):
    entries, _ = read_entries(sorted(folder.iterdir()))
    drawings = drawings_of(corpus_content(entries))
    assert len(drawings) == len(entries)
    for entry, drawing in zip(entries, drawings, strict=True):
        still = still_picture(entry.explanation)
        layers = r'<g class="layer-.*</svg>'
        assert re.search(layers, drawing)[0] == re.search(layers, still)[0]


def test_drawings_are_packed_in_blocks_that_a_browser_unpacks(opened, tmp_path):
    for number in range(BLOCK + 2):
        explained(["0", "1", "2"], [(0, 1), (1, 2)], [((0, 1), 1.0)], position=number).save(
            tmp_path / f"{number:03d}.mage"
        )
    text = run_page(tmp_path).text
    assert len(content_of(text)["drawings"]) == 2
    view = opened(text)
    view.page.locator("#rows tr").last.scroll_into_view_if_needed()
    view.page.locator("#rows tr").last.locator("svg .blob").first.wait_for()
    assert view.complaints == []


def test_a_pattern_of_a_molecule_is_drawn_with_its_bonds(folder):
    entries, _ = read_entries(sorted(folder.iterdir()))
    patterns = {pattern["name"]: pattern for pattern in corpus_content(entries)["patterns"]}
    drawing = svg_of(patterns["nitro"]["drawing"])
    assert "molecule" in drawing.get("class")
    assert len(drawing.findall(".//{*}g[@class='bonds']/{*}path")) > 4


def test_small_scores_keep_their_digits(opened, tmp_path):
    for number in range(2):
        explained(["0", "1"], [(0, 1)], [((0, 1), 0.000344)], queries=12_345).save(tmp_path / f"{number}.mage")
    page = opened(run_page(tmp_path).text)
    assert page.texts("#rows [data-column=strongest]") == ["+0.000344"] * 2
    assert page.texts("#rows [data-column=queries]") == ["12,345"] * 2
