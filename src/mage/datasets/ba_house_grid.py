"""BA-HouseGrid: a house or a 3 × 3 grid on a Barabási-Albert tree."""

from __future__ import annotations

import numpy as np

from mage.datasets import barabasi_albert
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, PaperFigures, generated
from mage.datasets.shapes import GRID
from mage.datasets.training_plans import TrainingPlan


def build(_root: DataRoot, *, seed: int = 0, count: int = 10_000) -> Content:
    """Graphs drawn from a seed: class 0 has a house, class 1 a grid."""
    generator = np.random.default_rng(seed)
    return generated(barabasi_albert.house_or_other(count, GRID, generator, features=1, value=1.0), seed)


INFO = DatasetInfo(
    name="ba_house_grid",
    title="BA-HouseGrid",
    class_names=("house", "grid"),
    truth="the house or the grid",
    settings=ExplanationSettings("split", "probability"),
    build=build,
    options=("seed", "count"),
    paper=PaperFigures(graphs=10_000, nodes=26.97, edges=28.95, gcn=100.00, gin=99.90, gat=52.30),
    networks=barabasi_albert.networks(TrainingPlan(epochs=40), {"gcn": {"epochs": 80, "learning_rate": 1e-2}}),
)
