"""Sentences of two minds: phrases for and against a verdict (after figures of the paper).

``python examples/gallery/sentences.py [FOLDER]`` needs the extra ``text`` (parser and encoder) and no data.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from canvas import Panel, figure
from drawings import LEGEND, sentence_drawing
from methods import Skipped, written

import mage
from mage.models import pretrained

TITLE = "GraphSST2: phrases for and against"
CLASSES = ("negative", "positive")
# The first two are after the paper's figures, in words of our own; the others are like them.
SENTENCES = (
    "The script is a mess, yet the young actress deserves every award she wins.",
    "Corny and schmaltzy at times, but a heart-warming story.",
    "A brilliant cast is wasted on a dull plot.",
    "The plot is predictable, but the performances are wonderful.",
)
WIDTH = 620.0


def make(folder: Path, methods: Sequence[str] | None = None) -> Path:
    """What the GCN for GraphSST2 makes of four sentences, τ = 0.5."""
    del methods  # no baseline has a sign
    network = pretrained("graph_sst2", "gcn")
    panels = []
    for sentence in SENTENCES:
        try:
            settings = {"num_motifs": 4, "max_nodes": 0.3, "tau": 0.5, "progress": False}
            why = mage.explain_text(network, sentence, class_names=CLASSES, **settings)
        except ImportError as error:
            raise Skipped(f"sentences: {error}") from error
        body, height = sentence_drawing(why, WIDTH)
        sides = ", ".join(f"{'for' if motif.sign > 0 else 'against'} {motif.score:+.2f}" for motif in why.motifs)
        exact = "exact" if why.interactions.exact else "sampled"
        verdict = f"{CLASSES[why.target]} (probability {why.probabilities[why.target]:.2f})"
        note = f"{sides}; {exact}, {why.num_queries:,} queries, {why.motifs.proof}".replace("-", "−")
        panels.append(Panel(f"The GCN says {verdict}", note, body, WIDTH, height))
    lines = [
        "Words are players on the dependency tree; a motif is a phrase that speaks for the verdict or against it. "
        "τ = 0.5."
    ]
    return written(folder, "sentences", figure(TITLE, lines, panels, 2, LEGEND[1:]))


if __name__ == "__main__":
    try:
        print(make(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")))
    except Skipped as reason:
        print(f"skipped: {reason}")
