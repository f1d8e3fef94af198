"""A browser for tests of pages: the pages are opened from disk, offline, and every complaint is kept."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


_PATIENCE = 600_000  # milliseconds: only a page that never answers fails, not one on a busy machine


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium; tests that need it are skipped where it or playwright is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    path = os.environ.get("MAGE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("needs Chromium: install it or name it in MAGE_CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS), timeout=_PATIENCE)
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page, and what it complained of or asked the network for."""

    page: Any
    session: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def work(self) -> dict[str, int]:
        """How often the browser computed styles and layouts so far, and how many nodes it holds."""
        metrics = {one["name"]: one["value"] for one in self.session.send("Performance.getMetrics")["metrics"]}
        return {name: int(metrics[name]) for name in ("LayoutCount", "RecalcStyleCount", "Nodes")}

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_text_contents()

    def slide(self, name: str, position: int) -> None:
        """Move a slider to a position, as a hand would."""
        self.page.evaluate(
            """([id, position]) => {
                const slider = document.getElementById(id);
                slider.value = position;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
            }""",
            [name, position],
        )

    def motifs(self) -> list[list[str]]:
        """Names of the nodes of each motif, as its bar says."""
        titles = self.page.locator("#bars .bar").evaluate_all("bars => bars.map(bar => bar.title)")
        return [sorted(title.split(", ")) for title in titles]


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens pages from disk in a browser that has no network."""
    contexts = []

    def open_page(html: str | Path, **options: Any) -> Opened:
        path = html
        if isinstance(html, str):
            path = tmp_path / f"page-{len(contexts)}.html"
            path.write_text(html, encoding="utf-8")
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        context = chromium.new_context(**options)
        contexts.append(context)
        context.set_offline(True)
        context.set_default_timeout(_PATIENCE)
        page = context.new_page()
        view = Opened(page, context.new_cdp_session(page))
        view.session.send("Performance.enable")
        view.page.on("console", lambda line: view.complaints.append(line.text) if line.type != "log" else None)
        view.page.on("pageerror", lambda error: view.complaints.append(str(error)))
        view.page.on("dialog", lambda dialog: (view.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

        def judge(route: Any) -> None:
            if route.request.url == path.as_uri():
                route.continue_()
            else:
                view.requests.append(route.request.url)
                route.abort()

        view.page.route("**/*", judge)
        view.page.goto(path.as_uri())
        return view

    yield open_page
    for context in contexts:
        context.close()
