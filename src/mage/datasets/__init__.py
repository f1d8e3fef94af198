"""Datasets with ground-truth motifs: the ten of the paper and three more."""

from mage._core.optional import require

# Before the modules below import them without a word about what to install.
require("torch", "pyg")
require("torch_geometric", "pyg")

from mage.datasets._sources import MissingDataError  # noqa: E402 - after the check above
from mage.datasets._unpickle import DamagedFileError  # noqa: E402
from mage.datasets.dataset import Columns, GraphDataset, Recipe, Split, motifs_of, paper_split  # noqa: E402
from mage.datasets.registry import Card, PaperFigures, card, load, names, where  # noqa: E402

__all__ = [
    "Card",
    "Columns",
    "DamagedFileError",
    "GraphDataset",
    "MissingDataError",
    "PaperFigures",
    "Recipe",
    "Split",
    "card",
    "load",
    "motifs_of",
    "names",
    "paper_split",
    "where",
]
