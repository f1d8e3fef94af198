"""One explanation as one HTML file: no script, no network, everything inlined."""

from __future__ import annotations

import html
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mage.explanation import Explanation

# Nothing may be loaded or run, whatever a name or a title contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
figure{margin:0;background:#fff;border-radius:.5rem}
svg{width:100%;height:auto}
td,th{padding:.15rem 1rem .15rem 0;text-align:left;vertical-align:top}
"""


def explanation_page(explanation: Explanation, title: str = "Why?", text: str = "") -> str:
    """The page of one explanation: prediction, graph with motifs, heat map, scores, and how they were found.

    Args:
        explanation: What to show.
        title: Heading of the page.
        text: A paragraph below it.
    """
    rows = "".join(_row(explanation, rank) for rank in range(len(explanation.motifs)))
    motifs = explanation.motifs
    facts = (
        f"{explanation.how}; {explanation.num_queries:,} runs of the model; motifs {motifs.proof} "
        f"for τ = {motifs.tau:g}, at most {motifs.num_motifs} motifs and {motifs.max_nodes} players."
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{html.escape(title)}</title><style>{_STYLE}</style>
<h1>{html.escape(title)}</h1>
<p>{html.escape(text)}</p>
<p><b>Prediction:</b> {html.escape(explanation.headline)}. Green speaks for it, red (hatched, dashed) against it.</p>
<figure>{_drawing(explanation)}</figure>
<h2>Motifs</h2>
<table><tr><th></th><th>score</th><th>nodes</th></tr>{rows or "<tr><td>none found</td></tr>"}</table>
<p>{html.escape(facts)}</p>
</html>
"""


def _row(explanation: Explanation, rank: int) -> str:
    motif = explanation.motifs[rank]
    error = explanation.error_text(motif)
    names = html.escape(", ".join(explanation.names[v] for v in motif.nodes))
    side = "for" if motif.sign > 0 else "against"
    return f"<tr><td>{side}</td><td>{motif.score:+.4g}{error}</td><td>{names}</td></tr>"


def _drawing(explanation: Explanation) -> str:
    from mage.plots import plot_explanation, save_figure

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        save_figure(plot_explanation(explanation), path)
        svg = path.read_text(encoding="utf-8")
    return svg[svg.index("<svg") :]
