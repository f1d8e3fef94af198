"""Screenshots by one command: ``python docs/make_screenshots.py`` (or ``make screenshots``).

It writes the pictures of the documentation, ``docs/images/page-*.png``, and into ``--folder`` (by default
``screenshots-output``) a picture of each kind of explanation in each place where it is shown: page (wide, phone,
1920 pixels, dark), page without scripts, notebook, figure and report. The same object must look the same everywhere.
``sheet-NAME.png`` has all places of one kind side by side.

``--only NAME …`` takes some kinds, ``--images`` only the pictures of the documentation. Explanations are kept in the
folder, so that a second run only draws; delete them to compute them again. Needs Pillow, playwright and Chromium
(``MAGE_CHROMIUM`` names it where it is not on the path). What needs data that is not on this machine is left out, and
the program prints the reason.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from screenshot_cases import CASES

import mage
from mage.cli.demo import TEXT, TITLE
from mage.explanation import Explanation

IMAGES = Path(__file__).parent / "images"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--hide-scrollbars")
WIDTH = 1320
DESKTOP = {"viewport": {"width": WIDTH, "height": 900}}
PLACES: dict[str, dict[str, Any]] = {
    "page": DESKTOP,
    "dark": {**DESKTOP, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "1920": {"viewport": {"width": 1920, "height": 1080}},
    "no-script": {**DESKTOP, "java_script_enabled": False},
    "notebook": DESKTOP,
    "report": DESKTOP,
}
"""Where explanations are shown, each with the settings of the browser."""


@dataclass(frozen=True)
class Picture:
    """A picture of the documentation: what it shows, and where the pointer is."""

    case: str
    title: str
    text: str = ""
    dark: bool = False
    point_at: str = ""


PICTURES = {
    "graph": Picture("graph", TITLE, TEXT),  # the page of ``mage demo``
    "graph-dark": Picture("graph", TITLE, TEXT, dark=True, point_at=".node[data-node='14']"),
    "molecule": Picture("molecule-smiles", "Why benzene ring?", point_at=".node[data-node='3'] circle"),
    "sentence": Picture("sentence", "Why negative?"),
}


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


def explanation_of(case: str, folder: Path) -> Explanation | None:
    """The explanation of a case, from the folder or computed; None, with a line that says why, if it cannot be."""
    path = folder / f"{case}.mage"
    if not path.exists():
        try:
            CASES[case]().save(path)
        except (ImportError, OSError) as error:
            print(f"{case}: left out, {error}")
            return None
    return mage.load(path)


def photograph(browser: Any, page_path: Path, point_at: str = "", address: str = "", **options: Any) -> Image.Image:
    """What a page looks like."""
    context = browser.new_context(offline=True, **options)
    page = context.new_page()
    page.goto(page_path.as_uri() + address)
    page.wait_for_timeout(500)
    if point_at:
        page.locator(point_at).hover()
    shot = page.screenshot(full_page=True)
    context.close()
    return Image.open(io.BytesIO(shot)).convert("RGB")


def write_images(browser: Any, folder: Path, cases: list[str]) -> None:
    """The pictures of the documentation."""
    for name, picture in PICTURES.items():
        if cases and picture.case not in cases:
            continue
        explanation = explanation_of(picture.case, folder)
        if explanation is None:
            continue
        page = folder / f"image-{name}.html"
        explanation.save_html(page, picture.title, picture.text)
        scheme = "dark" if picture.dark else "light"
        shot = photograph(browser, page, picture.point_at, **DESKTOP, color_scheme=scheme, device_scale_factor=1.5)
        # A page has few colours; a palette makes the file a third as large.
        shot.quantize(256).save(IMAGES / f"page-{name}.png", optimize=True)
        print(f"wrote docs/images/page-{name}.png", flush=True)


def write_places(browser: Any, folder: Path, case: str) -> None:
    """One kind of explanation in all places."""
    from mage.experiments.pages import run_page

    explanation = explanation_of(case, folder)
    if explanation is None:
        return
    page, notebook, report, run = (
        folder / f"{case}{end}" for end in (".html", "-notebook.html", "-report.html", "-run")
    )
    explanation.save_html(page)
    notebook.write_text(f"<meta charset=utf-8>{explanation._repr_html_()}", encoding="utf-8")
    run.mkdir(exist_ok=True)
    explanation.save(run / "explanation.mage")
    report.write_text(run_page(run).text, encoding="utf-8")
    shots = {}
    for place, options in PLACES.items():
        path = {"notebook": notebook, "report": report}.get(place, page)
        shots[place] = photograph(browser, path, **options)
    shots["report-details"] = photograph(browser, report, address="#row-1", **DESKTOP)
    for kind in ("png", "pdf"):
        explanation.plot().savefig(folder / f"{case}-plot.{kind}", dpi=90)
    shots["plot"] = Image.open(folder / f"{case}-plot.png").convert("RGB")
    for place, shot in shots.items():
        shot.save(folder / f"{case}-{place}.png")
    sheet(shots).save(folder / f"sheet-{case}.png")
    print(f"wrote {folder}/{case}-*.png and sheet-{case}.png", flush=True)


def sheet(shots: dict[str, Image.Image], height: int = 620, width: int = 2000) -> Image.Image:
    """Pictures side by side, each cut to the upper part and made smaller."""
    tiles = []
    for shot in shots.values():
        part = shot.crop((0, 0, shot.width, min(shot.height, int(1.1 * shot.width))))
        part.thumbnail((width // 3 - 10, height))
        tiles.append(part)
    rows = [tiles[start : start + 3] for start in range(0, len(tiles), 3)]
    whole = Image.new("RGB", (width, sum(max(tile.height for tile in row) + 10 for row in rows)), "grey")
    y = 0
    for row in rows:
        for column, tile in enumerate(row):
            whole.paste(tile, (column * width // 3, y))
        y += max(tile.height for tile in row) + 10
    return whole


def main() -> None:
    """Make all pictures, or those named on the command line."""
    options = argparse.ArgumentParser(description="Screenshots of all kinds of explanations in all places.")
    options.add_argument("--folder", type=Path, default=Path("screenshots-output"), help="where pictures are written")
    options.add_argument(
        "--only", nargs="+", choices=list(CASES), default=[], help="kinds of explanations; all by default"
    )
    options.add_argument("--images", action="store_true", help="only the pictures of the documentation")
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        write_images(browser, arguments.folder, arguments.only)
        for case in () if arguments.images else arguments.only or CASES:
            write_places(browser, arguments.folder, case)


if __name__ == "__main__":
    main()
