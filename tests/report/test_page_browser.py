"""Pages as a reader meets them: in Chromium, from disk, without a network."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import mage
from mage.explanation import MoleculeSubject, SentenceSubject
from mage.report import explanation_page, solutions
from tests.helpers.demo import demo_of_both_sides
from tests.helpers.explanations import image, made_up, sentence

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def explanation():
    return demo_of_both_sides(1)


@pytest.fixture(scope="module")
def demo_page(explanation):
    return explanation_page(explanation, "Why?")


@pytest.fixture(scope="module")
def large_page():
    graph = nx.connected_watts_strogatz_graph(300, 4, 0.1, seed=1)
    with pytest.MonkeyPatch.context() as patch:
        # Small motifs are found fast; the page is as large with them.
        patch.setattr(solutions, "_ROUND_SIZES", (1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6))
        return explanation_page(made_up(graph, max_nodes=8, exact=False, node_limit=500))


def centre(view, selector):
    box = view.page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def hover_pair(view, row, column):
    """Point at a cell of the heat map, by its place in the order shown."""
    view.page.locator("#map").scroll_into_view_if_needed()
    cell = view.page.evaluate(
        """([row, column, count]) => {
            const box = document.querySelectorAll("#map canvas")[1].getBoundingClientRect();
            // The map ends one pixel before the canvas does, its margin lies before it.
            const margin = Number(document.querySelector("#map .map-frame").dataset.margin);
            const cell = (box.width - margin - 1) / count;
            return [box.left + margin + (column + 0.5) * cell, box.top + margin + (row + 0.5) * cell];
        }""",
        [row, column, view.page.locator("#table tbody tr").count()],
    )
    view.page.mouse.move(*cell)


def marked_nodes(view):
    return sorted(
        view.page.locator(".node.marked").evaluate_all("nodes => nodes.map(node => Number(node.dataset.node))")
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_all_kinds_open_without_a_complaint(opened, demo_page, scheme):
    for page, kind in (
        (demo_page, "graph"),
        (explanation_page(image(3, 4)), "image"),
        (explanation_page(sentence()), "sentence"),
    ):
        view = opened(page, color_scheme=scheme)
        view.page.wait_for_selector(f"html.ready .drawing-svg.{kind}")
        view.page.mouse.move(*centre(view, "#stage"))
        assert view.complaints == []
        assert view.requests == []


def test_sliders_show_what_the_search_finds(opened, explanation, demo_page):
    view = opened(demo_page)
    data = view.page.evaluate("JSON.parse(document.getElementById('data').textContent).grid")
    generator = np.random.default_rng(0)
    settings = [
        tuple(int(generator.integers(len(data[axis]))) for axis in ("taus", "counts", "sizes")) for _ in range(25)
    ]
    for tau, count, size in [tuple(data["start"]), *settings]:
        view.slide("tau", tau)
        view.slide("count", count)
        view.slide("size", size)
        expected = mage.find_motifs(
            explanation.interactions,
            num_motifs=data["counts"][count],
            max_nodes=data["sizes"][size],
            tau=data["taus"][tau],
            noise_floor=0.1,
        )
        assert expected.optimal
        assert view.motifs() == [sorted(explanation.names[node] for node in motif.nodes) for motif in expected]
        # Nothing is proven of nothing.
        assert ("proven optimal for this setting" in view.texts("#proof")[0]) == (len(expected) > 0)
        sides = view.page.locator(".node.for-side, .node.against-side").count()
        assert sides == len(expected.nodes)
        assert view.page.locator(".motif").count() == len(expected)
    view.page.get_by_text("Back to the first setting").click()
    assert view.motifs() == [sorted(motif.names) for motif in explanation.motifs]


def test_what_was_not_proven_says_so(opened):
    graph = nx.random_regular_graph(4, 60, seed=0)
    view = opened(explanation_page(made_up(graph, max_nodes=20, num_motifs=3, solver="search", node_limit=50)))
    assert "not proven optimal" in view.texts("#proof")[0]
    assert "is possible" in view.texts("#proof")[0]


def test_nodes_pairs_rows_and_motifs_are_linked(opened, explanation, demo_page):
    view = opened(demo_page)
    pairs = explanation.interactions.matrix.copy()
    np.fill_diagonal(pairs, 0)
    # A node: itself, its strongest partners, its row.
    view.page.mouse.move(*centre(view, ".node[data-node='14'] circle"))
    assert marked_nodes(view) == [14]
    partners = view.page.locator(".node.partner").evaluate_all("nodes => nodes.map(node => Number(node.dataset.node))")
    # The grid is symmetric: of equally strong partners any may be shown.
    np.testing.assert_allclose(sorted(np.abs(pairs[14, partners])), np.sort(np.abs(pairs[14]))[-5:], rtol=1e-5)
    assert view.page.locator(".link").count() == 5
    assert view.texts("#table tr.marked td:first-child") == [explanation.names[14]]
    assert explanation.names[14] in view.texts("#readout")[0]
    # A pair of the heat map: both nodes, and their line.
    hover_pair(view, 0, 3)
    assert marked_nodes(view) == [10, 13]
    assert view.page.locator(".link").count() == 1
    value = f"{abs(pairs[10, 13]):.3g}".rstrip("0")
    assert value in view.texts("#readout")[0]
    # A row of the table, a bar.
    view.page.locator("#table tr[data-player='2']").hover()
    assert marked_nodes(view) == [2]
    view.page.locator("#bars .bar").nth(1).hover()
    assert marked_nodes(view) == sorted(explanation.motifs[1].nodes)
    view.page.mouse.move(5, 5)
    assert marked_nodes(view) == []


def test_a_click_keeps_the_mark_and_escape_ends_it(opened, demo_page):
    view = opened(demo_page)
    view.page.locator("#table tr[data-player='2']").click()
    view.page.mouse.move(5, 5)
    assert marked_nodes(view) == [2]
    view.page.keyboard.press("Escape")
    assert marked_nodes(view) == []


def test_nodes_can_be_dragged_and_arranged(opened, demo_page):
    view = opened(demo_page)
    x, y = centre(view, ".node[data-node='3'] circle")
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x + 60, y + 40, steps=4)
    view.page.mouse.up()
    moved = centre(view, ".node[data-node='3'] circle")
    assert np.hypot(moved[0] - x - 60, moved[1] - y - 40) < 12
    view.page.get_by_label("Put all nodes back").click()
    assert np.hypot(*np.subtract(centre(view, ".node[data-node='3'] circle"), (x, y))) < 2


def test_the_layout_is_the_same_every_time(opened, demo_page):
    def places():
        view = opened(demo_page)
        return view.page.locator(".node circle").evaluate_all(
            "all => all.map(c => [c.cx.baseVal.value, c.cy.baseVal.value])"
        )

    assert places() == places()


def test_the_table_sorts_by_any_column(opened, explanation, demo_page):
    view = opened(demo_page)

    def order():
        rows = view.page.locator("#table tbody tr")
        return rows.evaluate_all("rows => rows.map(row => Number(row.dataset.player))")

    assert set(order()[:9]) == set(explanation.motifs[0].nodes)
    view.page.get_by_role("button", name="Myerson value").click()
    assert order() == sorted(range(24), key=lambda node: (-round(explanation.node_scores[node], 5), node))
    assert view.page.locator("th[aria-sort='descending']").count() == 1
    view.page.get_by_role("button", name="Myerson value").click()
    assert view.page.locator("th[aria-sort='ascending']").inner_text().startswith("Myerson value")
    view.page.get_by_role("button", name="Node", exact=True).click()
    names = view.texts("#table td:first-child")
    assert names[0] == "cycle 0"
    assert names == sorted(names)


def test_hostile_names_are_shown_as_text(opened):
    explanation = made_up(nx.cycle_graph(6), names=[HOSTILE, "&amp;", "\u202etxt", "</td>", "{{x}}", "a" * 300])
    view = opened(explanation_page(explanation, HOSTILE, HOSTILE))
    assert HOSTILE in view.texts("#table td.name")
    assert view.texts("h1") == [HOSTILE]
    assert view.page.title() == HOSTILE
    assert view.complaints == []
    assert view.page.locator("script").count() == 2


def test_everything_can_be_done_from_the_keyboard(opened, explanation, demo_page):
    view = opened(demo_page)
    visited = []
    for _ in range(25):
        view.page.keyboard.press("Tab")
        visited.append(
            view.page.evaluate(
                """() => {
                    const { id, tagName, classList } = document.activeElement;
                    return `${id} ${tagName} ${classList}`;
                }"""
            )
        )
    stops = " ".join(visited)
    for stop in ("drawing-svg", "bar for-side", "bar against-side", "tau", "count", "size", "CANVAS", "BUTTON", " TR "):
        assert stop in stops, f"{stop} is not on the way of the tab key: {visited}"
    before = view.motifs()
    view.page.locator("#tau").focus()
    view.page.keyboard.press("End")
    assert view.texts("output")[0] == "1"
    assert view.motifs() != before
    view.page.locator("#bars .bar").first.focus()
    assert len(marked_nodes(view)) == len(view.motifs()[0])
    view.page.locator("#table tbody tr").first.focus()
    view.page.keyboard.press("ArrowDown")
    second = int(view.page.locator("#table tbody tr").nth(1).get_attribute("data-player"))
    assert marked_nodes(view) == [second]
    view.page.keyboard.press("Shift+Tab")
    view.page.locator(".drawing-svg").focus()
    view.page.keyboard.press("ArrowRight")
    assert len(marked_nodes(view)) == 1
    view.page.keyboard.press("Enter")
    view.page.locator("#tau").focus()
    assert len(marked_nodes(view)) == 1
    view.page.keyboard.press("Escape")
    view.page.locator("#map canvas").last.focus()
    view.page.keyboard.press("ArrowRight")
    assert len(marked_nodes(view)) == 2
    assert view.complaints == []


ACTIONS = """async () => {
    let changes = 0;
    const observer = new MutationObserver((records) => { changes += records.length; });
    observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
    const counts = [];
    const step = async (act) => {
        await new Promise(requestAnimationFrame);
        changes = 0;
        act();
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        changes += observer.takeRecords().length;
        counts.push(changes);
    };
    const slider = document.getElementById("size");
    for (const value of [3, 0, 5, 1, 4, 2]) {
        await step(() => { slider.value = value; slider.dispatchEvent(new Event("input")); });
    }
    for (const node of [...document.querySelectorAll(".node")].slice(0, 6)) {
        await step(() => node.dispatchEvent(new PointerEvent("pointerover", { bubbles: true })));
    }
    return counts;
}"""


def test_a_large_graph_costs_little_to_open_and_to_use(opened, large_page):
    """Work is counted, not timed: what a page changes and how often the browser must lay it out again."""
    assert len(large_page) < 2_000_000
    view = opened(large_page)
    view.page.wait_for_selector("html.ready")
    opening = view.work()
    changes = view.page.evaluate(ACTIONS)
    using = view.work()
    # One layout each for opening and for each of the twelve actions would be ideal; an action touches what it must.
    assert opening["LayoutCount"] <= 12
    assert opening["Nodes"] <= 12_000
    assert using["LayoutCount"] - opening["LayoutCount"] <= 4 * len(changes)
    assert max(changes) <= 200, changes
    assert view.complaints == []


def test_groups_are_players_and_bystanders_do_not_play(opened):
    lone = made_up(nx.path_graph(4), max_nodes=2)
    grouped = replace(
        lone,
        players=((0, 1), (2,), (4, 5), (6,)),
        num_nodes=8,
        names=tuple("abcdefgh"),
        edge_index=np.array([[0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7]]),
        motifs=replace(lone.motifs, motifs=(), num_nodes=8),
    )
    view = opened(explanation_page(grouped))
    assert view.page.locator(".node").count() == 8
    assert view.page.locator(".node.idle").count() == 2
    view.page.locator("#table tbody tr[data-player='2']").hover()
    assert marked_nodes(view) == [4, 5]
    assert view.complaints == []


def test_images_mark_their_regions(opened):
    explanation = image(3, 8)
    view = opened(explanation_page(explanation))
    view.page.mouse.move(*centre(view, ".node[data-node='4']"))
    assert marked_nodes(view) == [4]
    boxes = [view.page.locator(f".node[data-node='{node}']").bounding_box() for node in (0, 8)]
    assert boxes[0]["x"] < boxes[1]["x"]
    assert boxes[0]["y"] < boxes[1]["y"]
    assert view.page.locator("image").evaluate("picture => picture.getBoundingClientRect().width") > 100


def test_long_sentences_are_set_in_lines(opened):
    words = [f"word{number}" for number in range(60)]
    view = opened(
        explanation_page(made_up(nx.path_graph(60), names=words, subject=SentenceSubject(tuple(words)), max_nodes=9))
    )
    frame = view.page.locator(".drawing-svg").bounding_box()
    boxes = [box.bounding_box() for box in view.page.locator(".word").all()]
    assert len({round(box["y"]) for box in boxes}) > 3
    assert all(frame["x"] <= box["x"] <= frame["x"] + frame["width"] - box["width"] for box in boxes)
    assert all(frame["y"] <= box["y"] <= frame["y"] + frame["height"] - box["height"] for box in boxes)
    assert view.complaints == []


def test_molecules_are_shown_with_their_motifs(opened):
    pytest.importorskip("rdkit")
    ring = nx.cycle_graph(6)
    ring.add_edge(5, 6)
    explanation = made_up(ring, subject=MoleculeSubject("C1CCCCC1O"), tau=0.0, seed=3)
    view = opened(explanation_page(explanation))
    assert view.page.locator(".drawing-svg.molecule .bonds path").count() > 7
    assert view.texts("#table td.name")[0][0] in "CO"
    # Hatching says "against" without colour, so no style may hide it.
    hatching = view.page.locator(".blob[stroke='url(#hatch)']")
    assert "hatch" in hatching.first.evaluate("shape => getComputedStyle(shape).stroke")
    view.page.mouse.move(*centre(view, ".node[data-node='6'] circle"))
    assert marked_nodes(view) == [6]
    assert view.complaints == []


def test_without_scripts_the_page_is_a_picture_and_a_table(opened, demo_page):
    view = opened(demo_page, java_script_enabled=False)
    assert view.page.locator("noscript svg").is_visible()
    assert "cycle 4" in view.page.locator("noscript table").inner_text()
    assert not view.page.locator("#stage").is_visible()


def test_the_page_prints(opened, demo_page):
    view = opened(demo_page, color_scheme="dark")
    paper = view.page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    view.page.emulate_media(media="print")
    background = view.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert not view.page.locator("#tools").is_visible()
    assert view.page.locator("#table tbody tr").last.is_visible()
