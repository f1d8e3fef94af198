"""MNIST75SP: the super-pixels that make an eight (after a figure of the paper).

``python examples/gallery/digit.py [FOLDER]`` needs MNIST's files in the folder that ``MAGE_DATA`` names or in the
cache, and scikit-image; see ``mage datasets``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from canvas import figure
from drawings import LEGEND, digit_drawing
from methods import METHODS, Skipped, compared, load, says, written

from mage.datasets import load_digits
from mage.image.superpixels import segments
from mage.models import predictions, pretrained

TITLE = "MNIST75SP: what makes an eight"
EIGHT, FIRST_IMAGES = 8, 200
SIDE, SIZE = 226.0, (250.0, 240.0)
# SubgraphX and SAME ask for tens of thousands of graphs with seventy nodes: minutes, not seconds.
SLOW = {"SubgraphX", "SAME", "MAGE, Shapley-Taylor"}


def make(folder: Path, methods: Sequence[str] | None = None) -> Path:
    """The first eight among the first images that the GCN gets right."""
    dataset, model = load("mnist75sp", limit=FIRST_IMAGES), pretrained("mnist75sp", "gcn")
    right = predictions(model, dataset, list(range(FIRST_IMAGES))) == dataset.labels
    eights = [i for i in range(FIRST_IMAGES) if right[i] and dataset.labels[i] == EIGHT]
    if not eights:
        raise Skipped(f"mnist75sp: no eight among the first {FIRST_IMAGES} images is recognised")
    position = eights[0]
    image = load_digits(download=False)[0][position]
    regions = segments(image)
    data, truth = dataset[position], dataset.motifs(position)
    panels = compared(
        model,
        data,
        [sorted(node for motif in truth for node in motif)],
        {**dataset.settings(position), "seed": 0},
        lambda groups: f'<g transform="translate(12 2)">{digit_drawing(image, regions, groups, SIDE)}</g>',
        methods=[title for title in METHODS if title not in SLOW] if methods is None else methods,
        dataset=dataset,
        parameters={"MAGE": {"budget": 20_000}},  # 200 orderings take ten times as many on so dense a graph
        size=SIZE,
    )
    lines = [
        f"The GCN says {says(model, data, dataset.class_names)}. Ground truth: the brightest super-pixels. Each method "
        f"chooses {dataset.settings(position)['max_nodes']} of {data.num_nodes} at most. Image {position}: the first "
        "eight that the GCN gets right."
    ]
    return written(folder, "digit", figure(TITLE, lines, panels, 5, LEGEND))


if __name__ == "__main__":
    try:
        print(make(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")))
    except (Skipped, ImportError) as reason:
        print(f"skipped: {reason}")
