"""Screenshots of pages for the documentation: ``python docs/make_screenshots.py`` writes ``docs/images/page-*.png``.

``python docs/make_screenshots.py --audit FOLDER`` writes a picture for each kind of explanation and each place where it
is shown: page (wide, phone, 1920 pixels, dark), picture without scripts, notebook and figure. They must look the same.

Needs Pillow, playwright and Chromium (``MAGE_CHROMIUM`` names it where it is not on the path). Pages whose data is not
on this machine are left out, and said so.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PIL import Image

from mage.explanation import Explanation

IMAGES = Path(__file__).parent / "images"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--hide-scrollbars")
WIDTH = 1320


@dataclass(frozen=True)
class Picture:
    """One screenshot: what it shows, and what the reader did before."""

    name: str
    explanation: Callable[[], Explanation]
    title: str
    text: str = ""
    dark: bool = False
    point_at: str = ""


def demo() -> Explanation:
    """The bundled model on the bundled graph."""
    from mage.cli.demo import demo_explanation

    return demo_explanation(1)


def from_dataset(name: str, graph: int | None = None, **options: Any) -> Explanation:
    """A graph of a dataset, explained for the model that ships with the library."""
    import mage
    from mage.cli import _sources

    network, item, settings = _sources.model_and_graph(None, None, None, name, graph)
    return mage.explain(network, item, **(settings | options))


def molecule() -> Explanation:
    """A molecule in which the model looks for benzene rings."""
    found = from_dataset("benzene", graph=29, num_motifs=2, max_nodes=9, tau=0.5)
    return replace(found, class_names=("no benzene ring", "benzene ring"))


def sentence() -> Explanation:
    """A sentence that takes back what it gave."""
    import mage

    return mage.explain_text(
        mage.models.pretrained("graph_sst2", "gcn"),
        "The acting is wonderful, but the script is a dreadful, endless bore.",
        num_motifs=3,
        max_nodes=7,
        tau=0.5,
        class_names=["negative", "positive"],
    )


PICTURES = (
    Picture("graph", demo, "Why does the model say “grid”?", "A grid, and a five-cycle that was added to tempt it."),
    Picture("graph-dark", demo, "Why does the model say “grid”?", dark=True, point_at=".node[data-node='14']"),
    Picture("molecule", molecule, "Is there a benzene ring?", point_at=".node[data-node='3'] circle"),
    Picture("sentence", sentence, "What makes this review negative?"),
)


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    path = os.environ.get("MAGE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def take(browser: Any, picture: Picture, page_path: Path) -> None:
    """Open a page and keep what it looks like."""
    scheme = "dark" if picture.dark else "light"
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 900}, color_scheme=scheme, device_scale_factor=1.5, offline=True
    )
    page = context.new_page()
    page.goto(page_path.as_uri())
    page.wait_for_selector("html.ready")
    if picture.point_at:
        page.locator(picture.point_at).hover()
    shot = page.screenshot(full_page=True)
    context.close()
    # A page has few colours; a palette makes the file a third as large.
    Image.open(io.BytesIO(shot)).quantize(256).save(IMAGES / f"page-{picture.name}.png", optimize=True)


def small_graph(graph: Any, **options: Any) -> Explanation:
    """A plain graph, explained for a network that was not trained."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.nn import GCN, global_mean_pool

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.layers = GCN(4, 16, 2, 2)

        def forward(self, x: Any, edge_index: Any, batch: Any = None) -> Any:
            owner = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
            return global_mean_pool(self.layers(x, edge_index), owner)

    import mage

    pairs = torch.tensor(list(graph.edges())).T
    torch.manual_seed(1)
    data = Data(x=torch.randn(len(graph), 4), edge_index=torch.cat([pairs, pairs.flip(0)], dim=1))
    return mage.explain(Network(), data, tau=0.5, **options)


def five_nodes() -> Explanation:
    """The smallest house."""
    import networkx as nx

    return small_graph(nx.house_graph(), num_motifs=1, max_nodes=2)


def parts() -> Explanation:
    """A graph of several parts."""
    import networkx as nx

    graphs = [nx.cycle_graph(6), nx.path_graph(4), nx.star_graph(4), nx.empty_graph(2)]
    return small_graph(nx.disjoint_union_all(graphs), num_motifs=3, max_nodes=7)


def three_hundred() -> Explanation:
    """As many nodes as a page draws."""
    import networkx as nx

    graph = nx.connected_watts_strogatz_graph(300, 4, 0.1, seed=1)
    return small_graph(graph, num_motifs=2, max_nodes=8, max_players=48, budget=500)


AUDIT: dict[str, Callable[[], Explanation]] = {
    "graph": demo,
    "molecule-smiles": molecule,
    "molecule-atoms": lambda: from_dataset("mutagenic", tau=0.5),
    "sentence": sentence,
    "digit": lambda: from_dataset("mnist75sp", tau=0.5, budget=500),
    "five": five_nodes,
    "parts": parts,
    "three-hundred": three_hundred,
}
"""Kinds of explanations that must look the same wherever they are shown."""

PLACES: dict[str, dict[str, Any]] = {
    "page": {"viewport": {"width": WIDTH, "height": 900}},
    "dark": {"viewport": {"width": WIDTH, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "1920": {"viewport": {"width": 1920, "height": 1080}},
    "no-script": {"viewport": {"width": WIDTH, "height": 900}, "java_script_enabled": False},
}


def audit(folder: Path, wanted: list[str]) -> None:
    """Write all places of all kinds, or of those named."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name, make in AUDIT.items():
            if wanted and name not in wanted:
                continue
            try:
                explanation = make()
            except (FileNotFoundError, ImportError, OSError) as error:
                print(f"{name}: left out, {error}")
                continue
            page, notebook = folder / f"{name}.html", folder / f"{name}-notebook.html"
            explanation.save_html(page)
            notebook.write_text(f"<meta charset=utf-8>{explanation._repr_html_()}", encoding="utf-8")
            explanation.plot().savefig(folder / f"{name}-plot.png", dpi=90)
            for place, options in {**PLACES, "notebook": PLACES["page"]}.items():
                context = browser.new_context(offline=True, **options)
                tab = context.new_page()
                tab.goto((notebook if place == "notebook" else page).as_uri())
                tab.wait_for_timeout(500)
                tab.screenshot(path=folder / f"{name}-{place}.png", full_page=True)
                context.close()
            print(f"wrote {folder}/{name}-*.png", flush=True)


def main() -> None:
    """Make all pictures, or those named on the command line."""
    wanted = sys.argv[1:]
    if wanted[:1] == ["--audit"]:
        audit(Path(wanted[1]), wanted[2:])
        return
    made: dict[Any, Explanation] = {}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for picture in PICTURES:
            if wanted and picture.name not in wanted:
                continue
            try:
                if picture.explanation not in made:
                    made[picture.explanation] = picture.explanation()
            except (FileNotFoundError, ImportError, OSError) as error:
                print(f"page-{picture.name}.png: left out, {error}")
                continue
            path = Path(folder) / f"{picture.name}.html"
            made[picture.explanation].save_html(path, picture.title, picture.text)
            take(browser, picture, path)
            print(f"wrote docs/images/page-{picture.name}.png")


if __name__ == "__main__":
    main()
