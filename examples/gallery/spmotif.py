"""SPMotif: a house that goes with no particular base (after the paper's figure 3b).

``python examples/gallery/spmotif.py [FOLDER]`` needs no data: the graphs are generated.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from canvas import figure
from drawings import LEGEND, graph_drawing, graph_places
from methods import compared, load, says, written

from mage.models import pretrained

TITLE = "SPMotif: the house"
HOUSE = 1


def make(folder: Path, methods: Sequence[str] | None = None) -> Path:
    """The first test graph of class house with 20 to 44 nodes that the GCN gets right."""
    dataset, model = load("spmotif", count=600), pretrained("spmotif", "gcn")
    positions = dataset.explained(model)
    position = next(int(i) for i in positions if dataset.labels[i] == HOUSE and 20 <= dataset.num_nodes_each[i] < 45)
    data, truth = dataset[position], dataset.motifs(position)
    place, size = graph_places(data)
    panels = compared(
        model,
        data,
        truth,
        dataset.settings(position),
        lambda groups: graph_drawing(data, place, groups),
        methods=methods,
        dataset=dataset,
        size=size,
    )
    lines = [
        f"The GCN says {says(model, data, dataset.class_names)}. Each method chooses {len(truth[0])} nodes at most. "
        f"Graph {position} of the generated set: the first test graph with a house and 20 to 44 nodes."
    ]
    return written(folder, "spmotif", figure(TITLE, lines, panels, 4, LEGEND))


if __name__ == "__main__":
    print(make(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")))
