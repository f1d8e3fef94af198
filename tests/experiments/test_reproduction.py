import itertools
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mage.experiments.all_tables import AllTables, TableCell
from mage.experiments.cells import Cell
from mage.experiments.pages.blocks import Heading, Illustration, Listing, Paragraph, TextTable, markdown, sections
from mage.experiments.pages.plots import frontier_plot
from mage.experiments.pages.ranking import Cost, Place, costs, places, quality, ranks
from mage.experiments.pages.reproduction import TITLE, mark, reason, reproduction, table_cells
from mage.experiments.pages.stored_cells import read_parts, result_files
from mage.experiments.paper import paper_figures
from mage.experiments.spec import Column, Experiment, Method
from mage.metrics import summarise

COLUMNS = tuple(Column("ba_2motifs", model, ("f1", "queries", "cpu_seconds")) for model in ("gcn", "gin"))
METHODS = tuple(Method(name, name.partition("-")[0], title=name) for name in ("gradcam", "same", "mage", "mage-plain"))
SCORES = {"gradcam": (0.9, 1.0), "same": (0.7, 0.6), "mage": (0.8, 0.9), "mage-plain": (1.0, 0.8)}
QUERIES = {"gradcam": 5.0, "same": 40_000.0, "mage": 7000.0, "mage-plain": 200.0}
RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def tables():
    experiment = Experiment("single-motif", "One motif", (1, 6), COLUMNS, METHODS)
    singles = [
        Experiment("single-motif", "One motif", (1, 6), (column,), (method,))
        for column in COLUMNS
        for method in METHODS
    ]
    return AllTables((experiment,), tuple(TableCell(single, 4) for single in singles), 2)


@pytest.fixture
def records():
    return [
        {"dataset": "ba_2motifs", "model": column.model, "method": method.name, "parameters": "{}", "seed": 0}
        | {"graph": graph, "f1": SCORES[method.name][place] + (0.02 if graph % 2 else -0.02)}
        | {"queries": QUERIES[method.name], "cpu_seconds": 0.1, "error": None, "failure": None}
        for place, column in enumerate(COLUMNS)
        for method in METHODS
        for graph in range(4)
    ]


def text_of(blocks):
    return markdown("T", blocks, "images")


def test_the_page_says_first_where_the_plain_call_is_not_first(tables, records):
    blocks = reproduction(records, tables)
    assert isinstance(blocks[0], Paragraph)
    assert "8 of 8 cells are finished (100 %)" in blocks[0].text
    assert isinstance(blocks[1], Listing)
    lines = "\n".join(blocks[1].lines)
    assert "in 1 of 2 cells among the methods that treat the model as a black box" in lines
    assert "Not there: BA-2Motifs GIN, 0.800 ± 0.012 against 0.900 ± 0.012 of mage" in lines
    assert "reaches the paper's figure of MAGE in 1 of 2 cells" in lines
    assert "Below the paper's MAGE: BA-2Motifs GIN, 0.800 ± 0.012 against 0.940" in lines
    assert "gradcam, which uses the inside of the model, is ahead on BA-2Motifs GIN" in lines


def test_tables_have_ours_the_papers_and_a_mark(tables, records):
    (first, *_) = [block for block in reproduction(records, tables) if isinstance(block, TextTable)]
    assert first.header == ("method", "BA-2Motifs, gcn", "BA-2Motifs, gin")
    lines = {row[0]: row[1:] for row in first.rows}
    assert lines["gradcam"] == ("0.900 ± 0.012 ▲ (0.634)", "1.000 ± 0.012 ▲ (0.934)")
    assert lines["same"] == ("0.700 ± 0.012 ▲ (0.630)", "0.600 ± 0.012 ▼ (0.909)")


def test_missing_and_refused_cells_say_why(tables, records):
    others = [record for record in records if record["method"] != "same"]
    failures = [{**record, "f1": None, "error": "it cannot"} for record in records if record["method"] == "same"]
    page = text_of(reproduction([*others, *failures[:4]], tables))
    assert "| same | it cannot (0.630) | – (0.909) |" in page
    assert "ba_2motifs, gin: same 0 of 4" in page
    assert "7 of 8 cells are finished (88 %)" in page


def test_large_differences_have_reasons_or_say_that_there_is_none(tables, records):
    blocks = reproduction(records, tables)
    place = next(i for i, block in enumerate(blocks) if isinstance(block, Paragraph) and "no errors" in block.text)
    lines = blocks[place + 1].lines
    by_method = {line.partition(":")[0]: line for line in lines}
    assert "BA-2Motifs GCN F1 +0.27" in by_method["gradcam"]
    assert "Pope" in by_method["gradcam"]
    assert "BA-2Motifs GIN F1 −0.31" in by_method["same"]
    assert "Rewards of 0" in by_method["same"]


def test_methods_of_the_paper_have_reasons():
    # Table 9 is about other classifiers of images, and has no unit scale.
    methods = {name for table, _, _, name, _ in paper_figures() if table != 9}
    assert "mage" in methods
    assert [name for name in sorted(methods) if "has not been found" in reason(name)] == []
    assert reason("nobody") == "The reason has not been found."


def test_pictures_are_sound_and_both_forms_have_the_same_content(tables, records):
    blocks = reproduction(records, tables)
    pictures = [block for block in blocks if isinstance(block, Illustration)]
    assert {"ranks", "frontier_queries", "frontier_cpu_seconds", "dots_single-motif_1"} <= {p.name for p in pictures}
    for picture in pictures:
        ElementTree.fromstring(picture.svg)  # noqa: S314 (made here)
    page = sections(blocks)
    assert page.count("<svg") == len(pictures)
    assert page.count("<h2>") == sum(isinstance(block, Heading) and block.level == 2 for block in blocks)


def test_markup_of_names_is_escaped():
    page = sections([Paragraph("<script>"), TextTable(("a<b",), (("`x` & y",),)), Listing(("<i>",))])
    assert "<script>" not in page
    assert "<code>x</code> &amp; y" in page


def cell(method, mean, error=0.0, column=COLUMNS[0], metric="f1"):
    values = [mean - error, mean + error]
    return Cell(column, Method(method, "mage"), metric, summarise(values), None, "", 2, 2)


def test_within_one_standard_error_is_first():
    best = cell("a", 0.9, 0.05)
    assert Place(cell("b", 0.9 - best.ours.std_error), best).is_first
    assert not Place(cell("b", 0.89 - best.ours.std_error), best).is_first
    assert Place(best, best).is_first


def test_rivals_alone_are_compared():
    columns = quality([cell("a", 0.5), cell("b", 0.7), cell("c", 0.9)])
    (place,) = places(columns, "a", {"b"})
    assert place.best.method.name == "b"


def test_ranks_share_ties_and_need_complete_columns():
    table = [cell("a", 0.5), cell("b", 0.5), cell("c", 0.9), cell("a", 0.1, column=COLUMNS[1])]
    standing = ranks(quality(table), ["a", "b", "c"])
    assert standing.mean == {"a": 2.5, "b": 2.5, "c": 1.0}
    assert standing.columns == 1
    # Demšar 2006, table 5: q of 3 classifiers is 2.343.
    assert standing.critical == pytest.approx(2.343 * math.sqrt(3 * 4 / 6), abs=2e-3)
    assert ranks(quality(table), ["a", "d"]) is None


def test_the_frontier_is_what_nobody_beats():
    table = [cell("a", 0.9), cell("b", 0.8), cell("c", 0.7)]
    prices = [cell(name, price, metric="queries") for name, price in (("a", 100.0), ("b", 10.0), ("c", 50.0))]
    points = {cost.method: cost for cost in costs([*table, *prices], ["a", "b", "c"], "queries")}
    assert {name: point.on_frontier for name, point in points.items()} == {"a": True, "b": True, "c": False}
    assert points["a"].price == pytest.approx(100)


def test_marks_need_two_standard_errors(tables, records):
    table = table_cells(tables.experiments[0], tables, records)
    figure = next(entry for entry in table if entry.method.name == "same" and entry.metric == "f1")
    assert mark(figure) == " ▲"
    assert mark(Cell(figure.column, figure.method, "queries", figure.ours, 1.0)) == ""


@pytest.mark.skipif(not RESULTS.is_dir(), reason="only in the repository")
def test_the_documentation_is_what_the_results_say():
    records, damaged = read_parts(result_files(RESULTS))
    assert damaged == []
    blocks = reproduction(records)
    folder = Path(__file__).parents[2] / "docs"
    assert (folder / "reproduction.md").read_text() == markdown(TITLE, blocks, "images/reproduction")
    pictures = {block.name: block.svg for block in blocks if isinstance(block, Illustration)}
    images = folder / "images" / "reproduction"
    assert {path.stem: path.read_text() for path in images.glob("*.svg")} == pictures
    size = sum(path.stat().st_size for path in RESULTS.rglob("*.parquet"))
    assert size < 5_000_000
    assert not re.search(r"/(work|home|root)/", (folder / "reproduction.md").read_text())


def test_names_of_methods_do_not_overlap_beside_the_frontier():
    points = [(250, 0.88), (255, 0.89), (260, 0.87), (500, 0.885), (6, 0.75), (5_000, 0.76), (5_000, 0.76)]
    methods = [Cost(f"method {number}", best, price, number < 2) for number, (price, best) in enumerate(points)]
    titles = {cost.method: f"A long name of {cost.method}" for cost in methods}
    drawing = frontier_plot(methods, titles, "queries")
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="start"[^>]*>([^<]+)<', drawing)
    assert sorted(name for _, _, name in labels) == sorted(titles.values())
    boxes = [(float(x), float(y), float(x) + 5 * len(name)) for x, y, name in labels]
    for (start, line, end), (other_start, other_line, other_end) in itertools.combinations(boxes, 2):
        assert abs(line - other_line) >= 11 or end < other_start or other_end < start
