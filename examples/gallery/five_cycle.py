"""A motif that speaks against: a five-cycle in a graph that the model calls a grid (the paper's figure 3c).

``python examples/gallery/five_cycle.py [FOLDER]`` needs no data: model and graph ship with the library.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from canvas import Panel, figure
from drawings import LEGEND, graph_drawing, graph_places, groups_of
from methods import says, written

import mage
from mage.models import demo_graph, load_demo_model

TITLE = "What speaks against “grid”"
SIZE = (410.0, 330.0)


def described(motif: mage.Motif) -> str:
    """Side, score and what kinds of nodes are in a motif, such as 9 of the grid."""
    kinds = Counter(name.split()[0] for name in motif.names)
    nodes = " + ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"{'for' if motif.sign > 0 else 'against'} {motif.score:+.2f}: {nodes}".replace("-", "−")


def make(folder: Path, methods: Sequence[str] | None = None) -> Path:
    """The same scores searched with three weights τ: what speaks for, both, what speaks against."""
    del methods  # no baseline has a sign
    data, model = demo_graph(1), load_demo_model()
    place, size = graph_places(data, SIZE)
    panels = []
    for tau, question in ((1.0, "what speaks for it"), (0.5, "both sides"), (0.0, "what speaks against it")):
        why = mage.explain(
            model, data, num_motifs=2, max_nodes=14, tau=tau, masking="split", names=list(data.names), progress=False
        )
        note = "; ".join(described(motif) for motif in why.motifs)
        body = graph_drawing(data, place, groups_of(why))
        panels.append(Panel(f"τ = {tau:g}: {question}", note, body, *size, framed=tau == 0.5))
    cost = f"{'exact' if why.interactions.exact else 'sampled'}, {why.num_queries:,} queries"
    lines = [
        f"A GIN that tells houses from grids says {says(model, data, ('house', 'grid'))}. The graph has a grid; a "
        f"five-cycle, which a house has and a grid has not, was added. Myerson-Taylor index, {cost}; m = 2, M = 14, "
        f"motifs {why.motifs.proof}."
    ]
    return written(folder, "five-cycle", figure(TITLE, lines, panels, 3, LEGEND[1:]))


if __name__ == "__main__":
    print(make(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")))
