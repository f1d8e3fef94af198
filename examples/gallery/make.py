"""All figures of the gallery, and one page with them: ``python examples/gallery/make.py --output gallery-output``.

Figures whose data or libraries are not here are skipped, and the page says why.
"""

from __future__ import annotations

import argparse
import base64
import html
import inspect
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import digit
import five_cycle
import house_or_grid
import molecules
import sentences
import spmotif
from methods import METHODS, Skipped

from mage.report.shell import asset, document

FIGURES: dict[str, Callable[[Path, Sequence[str] | None], Path]] = {
    "mutagenic": molecules.make_mutagenic,
    "benzene": molecules.make_benzene,
    "spmotif": spmotif.make,
    "house-or-grid": house_or_grid.make,
    "five-cycle": five_cycle.make,
    "digit": digit.make,
    "sentences": sentences.make,
}
INTRODUCTION = (
    "What the library makes of the paper's figures: the same datasets, our trained networks, methods side by side. "
    "Which graph is shown follows a rule that is written above each figure. One graph is an anecdote; mage benchmark "
    "prints means over many."
)
STYLE = (
    "main { display: grid; gap: 1.5rem; margin-top: 1.5rem; } img { max-width: 100%; height: auto; background: #fff; }"
)


def make_all(
    folder: Path, only: Sequence[str] = (), methods: Sequence[str] | None = None
) -> tuple[list[Path], list[str]]:
    """Make the figures and the page; the files written, and why figures are missing."""
    paths: list[Path] = []
    missing: list[str] = []
    cards = []
    for name in only or FIGURES:
        start = time.perf_counter()
        words = html.escape(inspect.getdoc(FIGURES[name]) or "")
        try:
            path = FIGURES[name](folder, methods)
        except (Skipped, ImportError) as reason:
            missing.append(f"{name}: {reason}")
            words = html.escape(f"Skipped: {reason}")
            cards.append(f'<section class="card"><h2>{name}</h2><p class="soft">{words}</p></section>')
            print(f"skipped {name}: {reason}", flush=True)
            continue
        paths.append(path)
        picture = base64.b64encode(path.read_bytes()).decode()
        cards.append(f'<section class="card"><img alt="{words}" src="data:image/svg+xml;base64,{picture}"></section>')
        print(f"made {path} in {time.perf_counter() - start:.0f} s", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    body = f'<header><h1>Gallery</h1><p class="lead">{INTRODUCTION}</p></header><main>{"".join(cards)}</main>'
    page.write_text(document("mage: gallery", body, styles=[asset("common.css"), STYLE]), encoding="utf-8")
    return [*paths, page], missing


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("gallery-output"), help="folder to write to")
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=(), help="figures to make; all by default")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="methods to compare; all by default")
    arguments = parser.parse_args()
    paths, missing = make_all(arguments.output, arguments.only, arguments.methods)
    print(f"{len(paths) - 1} figures, {len(missing)} skipped; open {paths[-1]}")


if __name__ == "__main__":
    main()
