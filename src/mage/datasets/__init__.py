"""Datasets with ground-truth motifs: the ten of the paper and three more."""

from typing import TYPE_CHECKING, Any

from mage._core.optional import require
from mage.datasets.columns import Columns, LazyColumns, concatenate
from mage.datasets.dataset_info import DatasetInfo, ExplanationSettings, PaperFigures, Split, paper_split
from mage.datasets.ground_truth import motifs_of
from mage.datasets.locations import MissingDataError, data_folders
from mage.datasets.mnist import load_digits
from mage.datasets.pickles import DamagedFileError
from mage.datasets.registry import info, load, names, where
from mage.datasets.smiles import FEATURIZERS, smiles_graph
from mage.datasets.training_plans import NetworkPlans, TrainingPlan

if TYPE_CHECKING:
    from mage.datasets.dataset import GraphDataset

__all__ = [
    "FEATURIZERS",
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
    "smiles_graph",
    "where",
]


def __getattr__(name: str) -> Any:
    # The descriptions of datasets need no PyTorch, which takes seconds to import; their graphs do.
    if name == "GraphDataset":
        require("torch_geometric", "pyg")
        from mage.datasets.dataset import GraphDataset

        return GraphDataset
    raise AttributeError(f"module 'mage.datasets' has no attribute {name!r}")
