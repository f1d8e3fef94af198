"""Barabási-Albert graphs with houses, grids and five-cycles joined to them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from mage._core.optional import require
from mage.datasets.columns import Columns
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, PaperFigures, generated
from mage.datasets.shapes import GRID, HOUSE, Edges, Sketch, columns_of_sketches
from mage.datasets.training_plans import NO_ATTENTION, SMALL_NETWORKS, NetworkPlans, TrainingPlan

BASE_SIZE = 20


def networks(training: TrainingPlan, changes: Mapping[str, Mapping[str, Any]] | None = None) -> NetworkPlans:
    """The networks for graphs of this kind."""
    return NetworkPlans(training, changes or {}, arguments=SMALL_NETWORKS, kinds=NO_ATTENTION)


def house_or_other(count: int, other: Edges, generator: np.random.Generator, features: int, value: float) -> Columns:
    """A house (class 0) or another motif (class 1) on a tree of 20 nodes, half of the graphs each.

    This is BA-HouseGrid with the 3 × 3 grid, and the construction of BA-2Motifs with the five-cycle. As in the graphs
    of the MAGE authors, a corner of the motif is joined to the oldest node of the base.
    """
    labels = generator.permutation(np.arange(count) % 2).tolist()
    sketches = [_base(1, generator).attach((HOUSE, other)[label], 0) for label in labels]
    x = np.full((sum(sketch.size for sketch in sketches), features), value, dtype=np.float32)
    return columns_of_sketches(sketches, labels, x)


def motif_logic_info(
    name: str, title: str, class_names: tuple[str, str], label_of_one: int, *, paper: PaperFigures, epochs: int
) -> DatasetInfo:
    """The entry of a set of :func:`house_and_or_grid`."""
    return DatasetInfo(
        name=name,
        title=title,
        class_names=class_names,
        truth="the house and the grid that make up label 1",
        settings=ExplanationSettings("split", "logit", num_motifs=None, label=1),
        build=partial(_build_motif_logic, label_of_one),
        options=("seed", "count"),
        paper=paper,
        networks=networks(TrainingPlan(epochs=epochs)),
    )


def _build_motif_logic(label_of_one: int, _root: DataRoot, *, seed: int = 0, count: int = 10_000) -> Content:
    return generated(house_and_or_grid(count, label_of_one, np.random.default_rng(seed)), seed)


def house_and_or_grid(count: int, label_of_one: int, generator: np.random.Generator) -> Columns:
    """No, one or both motifs on a base in which each node brings one or two edges.

    Half of the graphs have the label 1. With ``label_of_one`` 0 (BA-HouseAndGrid) the label says that both motifs are
    there, with 1 (BA-HouseOrGrid) that at least one is; kinds with the same label are equally frequent. Only what makes
    up label 1 is ground truth: a single house in BA-HouseAndGrid is no reason for label 1. As in the graphs of the MAGE
    authors, corners of the motifs are joined to the oldest node of the base and to the one in the middle of its age.
    """
    kinds: list[tuple[Edges, ...]] = [(), (HOUSE,), (GRID,), (HOUSE, GRID)]
    labels_of_kinds = np.array([0, label_of_one, label_of_one, 1])
    labels = generator.permutation(np.arange(count) % 2)
    sketches = []
    for label in labels:
        sketch = _base(int(generator.integers(1, 3)), generator)
        motifs = kinds[generator.choice(np.flatnonzero(labels_of_kinds == label))]
        for place, motif in enumerate(motifs):
            sketch.attach(motif, place * BASE_SIZE // len(motifs))
        sketches.append(sketch if label == 1 else sketch.without_truth())
    x = np.ones((sum(sketch.size for sketch in sketches), 1), dtype=np.float32)
    return columns_of_sketches(sketches, labels.tolist(), x)


def _base(edges_each: int, generator: np.random.Generator) -> Sketch:
    networkx = require("networkx", "pyg")
    seed = int(generator.integers(2**31))
    return Sketch(BASE_SIZE, networkx.barabasi_albert_graph(BASE_SIZE, edges_each, seed=seed).edges)
