"""Balanced binary trees with motifs on random nodes: node-level sets whose two classes are tree and motif."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from mage.datasets.columns import Columns
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, paper_split
from mage.datasets.shapes import Edges, Sketch, columns_of_sketches
from mage.datasets.training_plans import NetworkPlans, TrainingPlan

_HEIGHT, _FEATURES = 8, 10


def tree_info(name: str, title: str, motif: Edges, count: int, share: float, truth: str) -> DatasetInfo:
    """The entry of a set.

    Args:
        name: Name to load it by.
        title: Name for people.
        motif: Edges of the motif.
        count: Number of motifs.
        share: Random edges for each edge there is.
        truth: What the ground-truth motifs are, in words.
    """
    return DatasetInfo(
        name=name,
        title=title,
        class_names=("tree", "motif"),
        truth=truth,
        settings=ExplanationSettings("remove", "logit", num_motifs=1),
        build=partial(_build, motif, count, share),
        options=("seed",),
        networks=NetworkPlans(
            TrainingPlan(epochs=3000, batch_size=1, learning_rate=3e-3, patience=3000),
            readout="none",
            arguments={"gcn": {"width": 64, "normalize": False}, "gin": {"width": 64}},
        ),
        task="node",
    )


def _build(motif: Edges, count: int, share: float, _root: DataRoot, *, seed: int = 0) -> Content:
    columns = tree_columns(motif, count, share, seed)
    return Content(columns, paper_split(len(columns.labels)), f"generated with seed {seed}")


def tree_columns(motif: Edges, count: int, share: float, seed: int) -> Columns:
    """A balanced binary tree of height 8 with motifs on random nodes, and random edges; ``y`` is 1 in motifs.

    Reference: Ying et al., "GNNExplainer", NeurIPS 2019; numbers of motifs and of random edges are those of its code.
    Random edges have an end in the tree at least, so that motifs stay as they are.
    """
    import torch

    generator = np.random.default_rng(seed)
    size = 2 ** (_HEIGHT + 1) - 1
    sketch = Sketch(size, [((child - 1) // 2, child) for child in range(1, size)])
    for node in generator.choice(size, count, replace=False).tolist():
        sketch.attach(motif, node)
    sketch.disturb(share, generator)
    labels = (np.arange(sketch.size) >= size).astype(np.int64)
    x = np.ones((sketch.size, _FEATURES), dtype=np.float32)
    columns = columns_of_sketches([sketch], [0], x)
    return replace(columns, nodes={**columns.nodes, "y": torch.from_numpy(labels)}, graphs={})
