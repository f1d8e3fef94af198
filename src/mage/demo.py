"""A game small enough to read, and the four indices of it side by side."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np

from mage._files import atomic_path
from mage._typing import Floats, Masks
from mage.games import Game
from mage.indices import FAMILIES, Interactions, interactions
from mage.plots import plot_indices, save_figure

_RING = range(6)
_NITRO = (6, 7, 8)
_AMINE = 9
_NAMES = ("C1", "C2", "C3", "C4", "C5", "C6", "N7", "O8", "O9", "N10")
_EDGES = (*((i, (i + 1) % 6) for i in _RING), (0, 6), (6, 7), (6, 8), (3, 9))


def nitroaniline_game() -> Game:
    """A made-up alarm for para-nitroaniline: it rings for a nitro group, an amine and a ring, and it saturates.

    Because it saturates, the nitro group and the amine take from each other even when nothing joins them. Indices that
    do not see the graph report this as an interaction across the molecule; the structure-aware ones let two groups
    interact only through atoms that connect them.
    """

    def alarm(masks: Masks) -> Floats:
        nitro = masks[:, list(_NITRO)].all(axis=1)
        ring = masks[:, list(_RING)].all(axis=1)
        score = 2.0 * nitro + 1.0 * masks[:, _AMINE] + 1.0 * ring - 0.5 * (nitro & masks[:, _AMINE] & ring)
        return np.asarray(np.tanh(score / 2))

    return Game(alarm, len(_NAMES), _EDGES, _NAMES)


def run(folder: Path) -> tuple[list[Interactions], list[Path]]:
    """Compute all four indices of the demo game exactly and write a figure and a page.

    Returns:
        The indices and the files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # A new game for each index, so that each shows what it costs by itself.
    results = [interactions(nitroaniline_game(), name, method="exact") for name in FAMILIES]
    figure = plot_indices(results, title="Who acts with whom in the demo game")
    picture, page = folder / "indices.svg", folder / "index.html"
    save_figure(figure, picture)
    with atomic_path(page) as unfinished:
        unfinished.write_text(_page(results, picture.read_text(encoding="utf-8")), encoding="utf-8")
    return results, [picture, page]


def _page(results: list[Interactions], svg: str) -> str:
    drawing = svg[svg.index("<svg") :]
    rows = []
    for result in results:
        for term in result.top(5):
            players = html.escape(", ".join(result.names[p] for p in term.players))
            rows.append(f"<tr><td>{html.escape(result.index)}</td><td>{players}</td><td>{term.value:+.4f}</td></tr>")
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>mage: four indices of one game</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}}
svg{{width:100%;height:auto}}td,th{{padding:.15rem 1rem .15rem 0;text-align:left}}</style>
<h1>Who acts with whom?</h1>
<p>A made-up alarm for para-nitroaniline rings for a nitro group, an amine and a benzene ring, and it saturates.
Green: acting together raises the alarm. Red, dashed: acting together lowers it. The two upper indices do not see the
bonds; the two lower ones do. All values are exact.</p>
{drawing}
<h2>Strongest terms</h2>
<table><tr><th>index</th><th>players</th><th>value</th></tr>{"".join(rows)}</table>
</html>
"""
