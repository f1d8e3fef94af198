"""Datasets with ground-truth motifs: the ten of the paper and three more."""

from mage._core.optional import require

# Before the modules below import them without a word about what to install.
require("torch", "pyg")
require("torch_geometric", "pyg")

from mage.datasets.columns import Columns, LazyColumns, concatenate  # noqa: E402 - after the check above
from mage.datasets.dataset import GraphDataset  # noqa: E402
from mage.datasets.dataset_info import DatasetInfo, ExplanationSettings, PaperFigures, Split, paper_split  # noqa: E402
from mage.datasets.locations import MissingDataError, data_folders  # noqa: E402
from mage.datasets.mnist import load_digits  # noqa: E402
from mage.datasets.pickles import DamagedFileError  # noqa: E402
from mage.datasets.registry import info, load, names, where  # noqa: E402
from mage.datasets.training_plans import NetworkPlans, TrainingPlan  # noqa: E402
from mage.datasets.truth import motifs_of  # noqa: E402

__all__ = [
    "Columns",
    "DamagedFileError",
    "DatasetInfo",
    "ExplanationSettings",
    "GraphDataset",
    "LazyColumns",
    "MissingDataError",
    "NetworkPlans",
    "PaperFigures",
    "Split",
    "TrainingPlan",
    "concatenate",
    "data_folders",
    "info",
    "load",
    "load_digits",
    "motifs_of",
    "names",
    "paper_split",
    "where",
]
