"""SPMotif: a motif that makes the class, on a base that only goes with it."""

from __future__ import annotations

import numpy as np

from mage._core.optional import require
from mage.datasets.columns import Columns
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, PaperFigures, generated
from mage.datasets.shapes import CRANE, FIVE_CYCLE, HOUSE_BY_ROOF, Edges, Sketch, columns_of_sketches
from mage.datasets.training_plans import NetworkPlans, TrainingPlan

MOTIFS: tuple[Edges, ...] = (FIVE_CYCLE, HOUSE_BY_ROOF, CRANE)
FEATURES = 4
_NOISE = 0.05
_BIAS = 0.7

# Sizes of a base by kind: heights of the tree, lengths of the ladder, nodes of the wheel.
_SMALL = (range(3), range(8, 12), range(15, 20))
_SMALL_HIGH_TREES = (range(3, 4), range(8, 12), range(15, 20))
_LARGE = (range(3, 6), range(30, 50), range(60, 80))


def build(_root: DataRoot, *, seed: int = 0, count: int = 18_000) -> Content:
    """Graphs drawn from a seed."""
    return generated(spurious_motifs(count, _BIAS, np.random.default_rng(seed)), seed)


def spurious_motifs(count: int, bias: float, generator: np.random.Generator) -> Columns:
    """Cycles, houses and cranes on trees, ladders and wheels.

    The first half of the graphs has a spurious correlation: cycles come on trees, houses on ladders and cranes on
    wheels with probability ``bias``. The next sixth has none; the last third has none and bases several times larger.
    A motif is joined by its first node (the house by its roof) to a random node of the base. One random edge is added
    for every twenty, not inside the motif.

    Reference: Wu et al., "Discovering invariant rationales for graph neural networks", ICLR 2022. Shapes and sizes are
    those that the MAGE authors used, which reproduce the statistics of their table 4: trees of the first part have
    height 3 under cycles and 0 to 2 otherwise.
    """
    sketches, labels = [], []
    for share, bias_here, large in ((1 / 2, bias, False), (1 / 6, 1 / 3, False), (1 / 3, 1 / 3, True)):
        for label in range(3):
            probabilities = np.full(3, (1 - bias_here) / 2)
            probabilities[label] = bias_here
            sizes = _LARGE if large else _SMALL_HIGH_TREES if label == 0 or bias_here != bias else _SMALL
            for _ in range(round(count * share / 3)):
                kind = int(generator.choice(3, p=probabilities))
                size = int(generator.choice(sizes[kind]))
                base = _base(kind, size, generator)
                sketches.append(
                    base.attach(MOTIFS[label], int(generator.integers(base.base_size))).disturb(_NOISE, generator)
                )
                labels.append(label)
    num_nodes = sum(sketch.size for sketch in sketches)
    return columns_of_sketches(sketches, labels, generator.random((num_nodes, FEATURES), dtype=np.float32))


def _base(kind: int, size: int, generator: np.random.Generator) -> Sketch:
    networkx = require("networkx", "pyg")
    if kind == 0:
        graph = networkx.balanced_tree(int(generator.integers(2, 4)), size)
    elif kind == 1:
        graph = networkx.ladder_graph(size)
    else:
        graph = networkx.wheel_graph(size)
    return Sketch(graph.number_of_nodes(), graph.edges)


INFO = DatasetInfo(
    name="spmotif",
    title="SPMotif",
    class_names=("cycle", "house", "crane"),
    truth="the cycle, the house or the crane",
    settings=ExplanationSettings("split", "logit", below=100),
    build=build,
    options=("seed", "count"),
    paper=PaperFigures(graphs=18_000, nodes=45.98, edges=66.72, gcn=86.00, gin=96.17, gat=50.11),
    networks=NetworkPlans(
        TrainingPlan(epochs=60),
        {"gin": {"epochs": 100, "learning_rate": 1e-2}, "gat": {"epochs": 25}},
        arguments={"gcn": {"normalize": False}, "gin": {"width": 20}},
    ),
)
