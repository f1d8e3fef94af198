"""Screenshots of pages for the documentation: ``python docs/make_screenshots.py`` writes ``docs/images/page-*.png``.

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
    names = {"names": list(item.names)} if item.get("names") is not None else {}
    return mage.explain(network, item, **(settings | names | options))


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


def main() -> None:
    """Make all pictures, or those named on the command line."""
    wanted = sys.argv[1:]
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
