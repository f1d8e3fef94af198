"""BA-HouseOrGrid: one or both of two motifs decide the class (after a figure of the paper).

``python examples/gallery/house_or_grid.py [FOLDER]`` needs no data: the graphs are generated.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from canvas import figure
from drawings import LEGEND, graph_drawing, graph_places
from methods import compared, load, says, written

from mage.models import pretrained

TITLE = "BA-HouseOrGrid: a house and a grid"


def make(folder: Path, methods: Sequence[str] | None = None) -> Path:
    """The first test graph with both motifs and fewer than 40 nodes that the GIN gets right."""
    dataset, model = load("ba_house_or_grid", count=600), pretrained("ba_house_or_grid", "gin")
    positions = dataset.explained(model)
    position = next(int(i) for i in positions if len(dataset.motifs(i)) == 2 and dataset.num_nodes_each[i] < 40)
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
        f"The GIN says {says(model, data, dataset.class_names)}. Each method chooses {sum(map(len, truth))} nodes at "
        f"most. Graph {position} of the generated set: the first test graph with both motifs and fewer than 40 nodes."
    ]
    return written(folder, "house-or-grid", figure(TITLE, lines, panels, 4, LEGEND))


if __name__ == "__main__":
    print(make(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")))
