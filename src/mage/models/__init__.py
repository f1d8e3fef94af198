"""Models: the paper's three networks, their training, checkpoints, and trained ones that ship with the library."""

from mage._core.optional import require

# Before the modules below import them without a word about what to install.
require("torch", "pyg")
require("torch_geometric", "pyg")

from mage.datasets import TrainingPlan  # noqa: E402 - after the check above
from mage.models.authors import authors_checkpoint, authors_datasets  # noqa: E402
from mage.models.checkpoints import Checkpoint, CheckpointError, load_checkpoint, save_checkpoint  # noqa: E402
from mage.models.demo import DemoGIN, demo_graph, load_demo_model  # noqa: E402
from mage.models.image_classifiers import ImageClassifier, load_image_classifier  # noqa: E402
from mage.models.networks import GAT, GCN, GIN, GraphNetwork, make_network  # noqa: E402
from mage.models.rules import RuleNetwork, rule_network  # noqa: E402
from mage.models.training import Trained, accuracy, predictions, train  # noqa: E402
from mage.models.zoo import pretrained, pretrained_checkpoint, pretrained_names  # noqa: E402

__all__ = [
    "GAT",
    "GCN",
    "GIN",
    "Checkpoint",
    "CheckpointError",
    "DemoGIN",
    "GraphNetwork",
    "ImageClassifier",
    "RuleNetwork",
    "Trained",
    "TrainingPlan",
    "accuracy",
    "authors_checkpoint",
    "authors_datasets",
    "demo_graph",
    "load_checkpoint",
    "load_demo_model",
    "load_image_classifier",
    "make_network",
    "predictions",
    "pretrained",
    "pretrained_checkpoint",
    "pretrained_names",
    "rule_network",
    "save_checkpoint",
    "train",
]
